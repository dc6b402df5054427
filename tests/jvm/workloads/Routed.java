import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Requests to the JDK's own server, whose handlers are lambdas: each path a known number of times, by a method that burns CPU time for it.
 * With an argument it goes on and on with them, and says after the first ones that it serves.
 */
public final class Routed {
    private static final int REQUESTS = 60, THREADS = 2;
    private static final long BURN_NS = 3_000_000, IDLE_NS = 100_000_000;

    private static volatile long sink;

    private Routed() {
    }

    private static void burn(long ns) {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < ns) {
            sink++;
        }
    }

    private static void inOrders(HttpExchange exchange) throws IOException {
        burn(BURN_NS);
        answer(exchange);
    }

    private static void inHealth(HttpExchange exchange) throws IOException {
        burn(BURN_NS);
        answer(exchange);
    }

    private static void outside() {
        burn(IDLE_NS);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private static void get(int port, String path) throws IOException {
        final HttpURLConnection connection = (HttpURLConnection) new URL("http", "127.0.0.1", port, path).openConnection();

        try (InputStream in = connection.getInputStream()) {
            sink += in.read();
        }
    }

    public static void main(String[] arguments) throws Exception {
        final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        final int port = server.getAddress().getPort();

        server.setExecutor(threads);
        server.createContext("/orders", Routed::inOrders);
        server.createContext("/health", Routed::inHealth);
        server.start();
        for (int i = 0; i < REQUESTS || arguments.length != 0; i++) {
            get(port, "/orders/" + (4711 + i) + "/items?page=" + i);
            get(port, "/health");
            if (i == 0 && arguments.length != 0) {
                System.out.println("serves");
            }
        }
        threads.submit(Routed::outside).get();
        server.stop(0);
        threads.shutdown();
        System.out.println("ok");
    }
}
