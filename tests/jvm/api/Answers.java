import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.jaywalk.Jaywalk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;

/**
 * Many clients at a server of the JDK's own; prints what they were answered, in an order of its own. With a probe they go on asking the same again while that is put
 * in, is there, is taken out, and is gone.
 *
 * <p>Arguments: requests of each client, and a probe's file and name.
 */
public final class Answers {
    private static final int CLIENTS = 6;

    private Answers() {}

    /** What is asked for comes back, or what is wrong with it. */
    static final class Shop {
        void serve(HttpExchange exchange) throws IOException {
            byte[] asked = whole(exchange.getRequestBody());
            String path = exchange.getRequestURI().getPath();
            byte[] body;
            int status = 200;
            try {
                body = answer(path, exchange.getRequestMethod(), asked);
            } catch (IllegalArgumentException e) {
                body = e.toString().getBytes(StandardCharsets.UTF_8);
                status = 404;
            }
            exchange.getResponseHeaders().add("X-Length", Integer.toString(body.length));
            exchange.sendResponseHeaders(status, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        }

        private byte[] answer(String path, String method, byte[] asked) {
            int number = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
            if (number % 7 == 0) {
                throw new IllegalArgumentException("no such thing: " + number);
            }
            StringBuilder text = new StringBuilder(method).append(' ').append(path).append(' ').append(new String(asked, StandardCharsets.UTF_8));
            for (int i = 0; i < number % 100; i++) {
                text.append(i * number).append(i % 2 == 0 ? ' ' : '\n');
            }
            return text.toString().getBytes(StandardCharsets.UTF_8);
        }
    }

    /** One after the other, each with a number of its own. */
    static final class Client {
        private final int port, first;
        private final Map<Integer, String> answers;

        Client(int port, int first, Map<Integer, String> answers) {
            this.port = port;
            this.first = first;
            this.answers = answers;
        }

        void ask(int number) throws IOException {
            HttpURLConnection connection = (HttpURLConnection) new URL("http://127.0.0.1:" + port + "/things/" + (first + number)).openConnection();
            if (number % 3 == 0) {
                connection.setDoOutput(true);
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(("body of " + number).getBytes(StandardCharsets.UTF_8));
                }
            }
            int status = connection.getResponseCode();
            byte[] body = whole(status == 200 ? connection.getInputStream() : connection.getErrorStream());
            CRC32 crc = new CRC32();
            crc.update(body);
            String line = status + " " + connection.getHeaderField("X-Length") + " " + body.length + " " + Long.toHexString(crc.getValue());
            synchronized (answers) {
                String before = answers.put(first + number, line);
                if (before != null && !before.equals(line)) {
                    throw new IllegalStateException(first + number + " was answered " + before + ", and then " + line);
                }
            }
        }
    }

    private static byte[] whole(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] bytes = new byte[4096];
        for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
            out.write(bytes, 0, length);
        }
        return out.toByteArray();
    }

    private static void check(String said, String begin) {
        if (!said.startsWith(begin)) {
            throw new IllegalStateException(said);
        }
    }

    private static void take(String name) throws InterruptedException {
        while (true) {
            try {
                check(Jaywalk.get().execute("probe-detach,name=" + name), "detached");
                return;
            } catch (RuntimeException e) { /* threads that wait in it for a processor are out soon */
                if (!e.getMessage().startsWith("quiesced")) {
                    throw e;
                }
                Thread.sleep(10);
            }
        }
    }

    private static void await(AtomicInteger done, int count, AtomicInteger failed) throws InterruptedException {
        while (done.get() < count && failed.get() == 0) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int requests = Integer.parseInt(arguments[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        ExecutorService serving = Executors.newFixedThreadPool(4);
        Shop shop = new Shop();
        server.setExecutor(serving);
        server.createContext("/things", shop::serve);
        server.start();

        Map<Integer, String> answers = new TreeMap<>();
        AtomicInteger done = new AtomicInteger(), failed = new AtomicInteger();
        boolean[] isOver = {arguments.length == 1};
        Thread[] clients = new Thread[CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            Client client = new Client(server.getAddress().getPort(), i * 100000, answers);
            clients[i] = new Thread(() -> {
                for (int j = 0; j < requests || (!isOver[0] && failed.get() == 0); j++) {
                    try {
                        client.ask(j % requests);
                    } catch (IOException | RuntimeException e) {
                        e.printStackTrace();
                        failed.incrementAndGet();
                        return;
                    }
                    done.incrementAndGet();
                }
            });
            clients[i].start();
        }
        if (arguments.length > 1) {
            await(done, CLIENTS * requests / 3, failed);
            check(Jaywalk.get().execute("probe-attach,probe=" + arguments[1]), "attached");
            await(done, done.get() + CLIENTS * requests / 3, failed);
            take(arguments[2]);
            await(done, done.get() + CLIENTS * requests / 3, failed);
            isOver[0] = true;
        }
        for (Thread client : clients) {
            client.join();
        }
        if (failed.get() != 0) {
            throw new IllegalStateException(failed.get() + " clients failed");
        }
        server.stop(0);
        serving.shutdown();
        for (Map.Entry<Integer, String> answer : answers.entrySet()) {
            System.out.println(answer.getKey() + " " + answer.getValue());
        }
    }
}
