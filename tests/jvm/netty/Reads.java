package netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * Servers on Netty, and those who ask them: one whose handlers are given whole requests, one whose are given their parts, and one that knows nothing of HTTP, on the same two event loops. Each
 * handler burns its time in a method of its own name.
 */
public final class Reads {
    private static final int THREADS = 4;
    private static final long BURN_NS = 3_000_000;
    private static final EventLoopGroup LOOPS = new NioEventLoopGroup(2);
    private static final ExecutorService WORKERS = Executors.newFixedThreadPool(2, r -> {
        final Thread thread = new Thread(r);

        thread.setDaemon(true);
        return thread;
    });

    /** Of all answers; in whatever order they come. */
    private static final AtomicLong ANSWERS = new AtomicLong();

    private static volatile long sink;
    private static int whole, parts, lines;

    private Reads() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void inOrders() {
        burn();
    }

    private static void inPosted() {
        burn();
    }

    private static void behindFailing() {
        burn();
    }

    private static void inFirst() {
        burn();
    }

    private static void inSecond() {
        burn();
    }

    private static void beforeAsking() {
        burn();
    }

    private static void inAsked() {
        burn();
    }

    private static void beginOfPut() {
        burn();
    }

    private static void midstOfPut() {
        burn();
    }

    private static void endOfPut() {
        burn();
    }

    private static void beforeLater() {
        burn();
    }

    private static void elsewhere() {
        burn();
    }

    private static void answer(Channel to, HttpResponseStatus status, String text) {
        final FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));

        response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
        to.writeAndFlush(response);
    }

    /** Is given whole requests. */
    private static final class Whole extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            final String uri = request.uri();

            if (uri.startsWith("/asks")) {
                beforeAsking();
                askAnother(context.channel());
                return;
            }
            if (uri.startsWith("/failing")) {
                throw new IllegalStateException(uri);
            }
            if (uri.startsWith("/first")) {
                inFirst();
            } else if (uri.startsWith("/second")) {
                inSecond();
            } else if (request.method().equals(HttpMethod.POST)) {
                inPosted();
            } else {
                inOrders();
            }
            answer(context.channel(), HttpResponseStatus.OK, uri + request.content().toString(StandardCharsets.US_ASCII));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            behindFailing();
            answer(context.channel(), HttpResponseStatus.INTERNAL_SERVER_ERROR, String.valueOf(cause.getMessage()));
        }
    }

    /** What another server answers is no request. */
    private static final class Answered extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final Channel asker;

        Answered(Channel asker) {
            this.asker = asker;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            elsewhere();
            answer(asker, HttpResponseStatus.OK, response.content().toString(StandardCharsets.US_ASCII));
            context.close();
        }
    }

    private static void askAnother(Channel asker) {
        final ChannelFuture connected = new Bootstrap().group(LOOPS).channel(NioSocketChannel.class).handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(65536), new Answered(asker));
            }
        }).connect("127.0.0.1", parts);

        connected.addListener((ChannelFutureListener) future -> future.channel().writeAndFlush(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/asked")));
    }

    /** Is given requests in parts. */
    private static final class Parts extends ChannelInboundHandlerAdapter {
        private HttpRequest request;
        private StringBuilder body;

        @Override
        public void channelRead(ChannelHandlerContext context, Object read) {
            if (read instanceof HttpRequest) {
                request = (HttpRequest) read;
                body = new StringBuilder();
                if (request.method().equals(HttpMethod.PUT)) {
                    beginOfPut();
                }
            }
            if (read instanceof HttpContent) {
                body.append(((HttpContent) read).content().toString(StandardCharsets.US_ASCII));
                if (request.method().equals(HttpMethod.PUT) && !(read instanceof LastHttpContent)) {
                    midstOfPut();
                }
            }
            if (read instanceof LastHttpContent) {
                end(context.channel());
            }
            ReferenceCountUtil.release(read);
        }

        private void end(Channel channel) {
            final String text = request.uri() + body;

            if (request.uri().startsWith("/later")) {
                beforeLater();
                WORKERS.execute(() -> {
                    elsewhere();
                    answer(channel, HttpResponseStatus.OK, text);
                });
                return;
            }
            if (request.method().equals(HttpMethod.PUT)) {
                endOfPut();
            } else {
                inAsked();
            }
            answer(channel, HttpResponseStatus.OK, text);
        }
    }

    /** Of another protocol. */
    private static final class Lines extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object read) {
            elsewhere();
            context.write(read);
            context.writeAndFlush(Unpooled.copiedBuffer("\n", StandardCharsets.US_ASCII));
        }
    }

    private static int listen(ChannelInitializer<Channel> of) {
        final Channel channel = new ServerBootstrap().group(LOOPS).channel(NioServerSocketChannel.class).childHandler(of).bind("127.0.0.1", 0).syncUninterruptibly().channel();

        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    private static void listenToAll() {
        whole = listen(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Whole());
            }
        });
        parts = listen(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new HttpRequestDecoder(), new HttpResponseEncoder(), new Parts());
            }
        });
        lines = listen(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new LineBasedFrameDecoder(1024), new Lines());
            }
        });
    }

    /** One who asks, and keeps the connections. */
    private static final class Asker implements AutoCloseable {
        private final Socket toWhole = new Socket("127.0.0.1", whole), toParts = new Socket("127.0.0.1", parts), toLines = new Socket("127.0.0.1", lines);

        Asker() throws IOException {
            toWhole.setTcpNoDelay(true);
            toParts.setTcpNoDelay(true);
        }

        private static void send(Socket to, String... pieces) throws IOException, InterruptedException {
            for (int i = 0; i < pieces.length; i++) {
                if (i != 0) {
                    Thread.sleep(2); // they may come by themselves
                }
                to.getOutputStream().write(pieces[i].getBytes(StandardCharsets.US_ASCII));
                to.getOutputStream().flush();
            }
        }

        private static String line(InputStream in) throws IOException {
            final ByteArrayOutputStream line = new ByteArrayOutputStream();
            int one;

            while ((one = in.read()) != '\n') {
                if (one < 0) {
                    throw new IOException("it ended");
                }
                line.write(one);
            }
            return line.toString("US-ASCII").trim();
        }

        private static void answered(Socket by) throws IOException {
            final InputStream in = by.getInputStream();
            final CRC32 sum = new CRC32();
            String line = line(in);
            int length = 0;

            sum.update(line.getBytes(StandardCharsets.US_ASCII));
            while (!(line = line(in)).isEmpty()) {
                if (line.startsWith("content-length: ")) {
                    length = Integer.parseInt(line.substring(16));
                }
            }
            for (int i = 0; i < length; i++) {
                sum.update(in.read());
            }
            ANSWERS.addAndGet(sum.getValue());
        }

        private static String get(String path) {
            return "GET " + path + " HTTP/1.1\r\nHost: shop\r\n\r\n";
        }

        void ask(int what, int number) throws IOException, InterruptedException {
            switch (what) {
            case 0:
                send(toWhole, get("/orders/" + number + "/items?x=y"));
                answered(toWhole);
                break;
            case 1:
                send(toWhole, "POST /orders/" + number + " HTTP/1.1\r\nHost: shop\r\nContent-Length: 8\r\n\r\nhalf", "half");
                answered(toWhole);
                break;
            case 2:
                send(toWhole, get("/failing"));
                answered(toWhole);
                break;
            case 3:
                send(toWhole, get("/first/" + number) + get("/second/" + number));
                answered(toWhole);
                answered(toWhole);
                break;
            case 4:
                send(toWhole, get("/asks"));
                answered(toWhole);
                break;
            case 5:
                send(toParts, "PUT /blobs/" + number + " HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "2\r\nde\r\n", "0\r\n\r\n");
                answered(toParts);
                break;
            case 6:
                send(toParts, get("/later/" + number));
                answered(toParts);
                break;
            default:
                send(toLines, number + "\n");
                ANSWERS.addAndGet(line(toLines.getInputStream()).hashCode());
            }
        }

        @Override
        public void close() throws IOException {
            toWhole.close();
            toParts.close();
            toLines.close();
        }
    }

    private static void askAll(int rounds, int first) {
        try (Asker asker = new Asker()) {
            for (int i = 0; i < rounds; i++) {
                for (int j = 0; j < 8; j++) {
                    asker.ask((first + j) % 8, 1000 + i * THREADS + first);
                }
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** So many rounds of each of some threads, each endpoint once a round. */
    private static void serve(int rounds) throws InterruptedException {
        final Thread[] threads = new Thread[THREADS];

        for (int i = 0; i < THREADS; i++) {
            final int first = i;

            threads[i] = new Thread(() -> askAll(rounds, first));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] arguments) throws Exception {
        listenToAll();
        serve(1);
        System.out.println("serves");
        serve(Integer.parseInt(arguments[0]) - 1);
        System.out.println("answers " + ANSWERS.get());
        System.out.println("ok");
        System.exit(0); // its event loops stay
    }
}
