package calls;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ForwardingServerCall;
import io.grpc.ForwardingServerCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A server of gRPC, and those who call it: rounds. Each method burns its time in methods of names of their own; of all kinds that there are, one of which is answered by
 * another thread, and one fails. An interceptor puts something around each call.
 */
public final class Calls {
    private static final int THREADS = 4;
    private static final long BURN_NS = 3_000_000;
    private static final ExecutorService WORKERS = Executors.newFixedThreadPool(2, r -> {
        final Thread thread = new Thread(r);

        thread.setDaemon(true);
        return thread;
    });

    private static volatile long sink;

    private Calls() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void inGet() {
        burn();
    }

    private static void inList() {
        burn();
    }

    private static void beforePut() {
        burn();
    }

    private static void inPut() {
        burn();
    }

    private static void inChat() {
        burn();
    }

    private static void inFail() {
        burn();
    }

    private static void inLater() {
        burn();
    }

    private static void behindLater() {
        burn();
    }

    private static void elsewhere() {
        burn();
    }

    private static final class Texts implements MethodDescriptor.Marshaller<String> {
        @Override
        public InputStream stream(String text) {
            return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            return "parsed";
        }
    }

    private static MethodDescriptor<String, String> method(MethodDescriptor.MethodType type, String name) {
        return MethodDescriptor.newBuilder(new Texts(), new Texts()).setType(type).setFullMethodName("shop.Orders/" + name).build();
    }

    private static final MethodDescriptor<String, String> GET = method(MethodDescriptor.MethodType.UNARY, "Get"), LIST = method(MethodDescriptor.MethodType.SERVER_STREAMING, "List"),
        PUT = method(MethodDescriptor.MethodType.CLIENT_STREAMING, "Put"), CHAT = method(MethodDescriptor.MethodType.BIDI_STREAMING, "Chat"),
        FAIL = method(MethodDescriptor.MethodType.UNARY, "Fail"), LATER = method(MethodDescriptor.MethodType.UNARY, "Later");

    private abstract static class Told implements StreamObserver<String> {
        @Override
        public void onNext(String text) {
        }

        @Override
        public void onError(Throwable e) {
        }

        @Override
        public void onCompleted() {
        }
    }

    private static void answer(StreamObserver<String> to) {
        to.onNext("answer");
        to.onCompleted();
    }

    private static StreamObserver<String> put(StreamObserver<String> to) {
        beforePut();
        return new Told() {
            @Override
            public void onNext(String text) {
                inPut();
            }

            @Override
            public void onCompleted() {
                answer(to);
            }
        };
    }

    private static StreamObserver<String> chat(StreamObserver<String> to) {
        return new Told() {
            @Override
            public void onNext(String text) {
                inChat();
                to.onNext(text);
            }

            @Override
            public void onCompleted() {
                to.onCompleted();
            }
        };
    }

    private static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder("shop.Orders").addMethod(GET, ServerCalls.asyncUnaryCall((String request, StreamObserver<String> to) -> {
            inGet();
            answer(to);
        })).addMethod(LIST, ServerCalls.asyncServerStreamingCall((String request, StreamObserver<String> to) -> {
            for (int i = 0; i < 3; i++) {
                inList();
                to.onNext("item");
            }
            to.onCompleted();
        })).addMethod(PUT, ServerCalls.asyncClientStreamingCall(Calls::put)).addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(Calls::chat))
            .addMethod(FAIL, ServerCalls.asyncUnaryCall((String request, StreamObserver<String> to) -> {
                inFail();
                throw new IllegalStateException("wanted");
            })).addMethod(LATER, ServerCalls.asyncUnaryCall((String request, StreamObserver<String> to) -> {
                WORKERS.execute(() -> {
                    elsewhere();
                    answer(to);
                });
                inLater();
            })).build();
    }

    /** What is around calls and their listeners; the end of a call is told to the latter. */
    private static final class Around implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            final ServerCall.Listener<Q> told = next.startCall(new ForwardingServerCall.SimpleForwardingServerCall<Q, A>(call) {
            }, headers);

            return new ForwardingServerCallListener.SimpleForwardingServerCallListener<Q>(told) {
                @Override
                public void onComplete() {
                    if (call.getMethodDescriptor().getFullMethodName().endsWith("/Later")) {
                        behindLater();
                    }
                    super.onComplete();
                }
            };
        }
    }

    private static void stream(Channel channel, MethodDescriptor<String, String> method) {
        final CountDownLatch done = new CountDownLatch(1);
        final StreamObserver<String> answers = new Told() {
            @Override
            public void onError(Throwable e) {
                done.countDown();
            }

            @Override
            public void onCompleted() {
                done.countDown();
            }
        };
        final ClientCall<String, String> call = channel.newCall(method, CallOptions.DEFAULT);
        final StreamObserver<String> requests = method == PUT ? ClientCalls.asyncClientStreamingCall(call, answers) : ClientCalls.asyncBidiStreamingCall(call, answers);

        for (int i = 0; i < 3; i++) {
            requests.onNext("item");
        }
        requests.onCompleted();
        try {
            done.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void callAll(Channel channel, int rounds) {
        for (int i = 0; i < rounds; i++) {
            ClientCalls.blockingUnaryCall(channel, GET, CallOptions.DEFAULT, "request");
            final Iterator<String> items = ClientCalls.blockingServerStreamingCall(channel, LIST, CallOptions.DEFAULT, "request");
            while (items.hasNext()) {
                sink += items.next().length();
            }
            stream(channel, PUT);
            stream(channel, CHAT);
            try {
                ClientCalls.blockingUnaryCall(channel, FAIL, CallOptions.DEFAULT, "request");
            } catch (StatusRuntimeException e) {
                sink++;
            }
            ClientCalls.blockingUnaryCall(channel, LATER, CallOptions.DEFAULT, "request");
        }
    }

    private static void serve(Channel channel, int rounds) throws InterruptedException {
        final Thread[] threads = new Thread[THREADS];

        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(() -> callAll(channel, rounds));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);

        final ExecutorService pool = Executors.newCachedThreadPool();
        final Server server = builder(InProcessServerBuilder.forName("shop"), pool).build().start();

        serve(server, InProcessChannelBuilder.forName("shop").build(), pool, Integer.parseInt(arguments[0]));
    }

    static ServerBuilder<?> builder(ServerBuilder<?> of, ExecutorService pool) {
        return of.executor(pool).addService(service()).intercept(new Around());
    }

    static void serve(Server server, ManagedChannel channel, ExecutorService pool, int rounds) throws InterruptedException {
        serve(channel, 1);
        System.out.println("serves");
        serve(channel, rounds - 1);
        channel.shutdown();
        server.shutdown();
        server.awaitTermination();
        pool.shutdown(); // what is told of the last calls comes before that
        pool.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println("ok");
        System.exit(0);
    }
}
