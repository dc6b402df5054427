package routed;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.jaywalk.Context;
import io.jaywalk.Jaywalk;
import io.jaywalk.Span;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server that says itself, in the midst of each request, what its thread works for, and takes it back: what comes behind that is the
 * request's again. With "virtual" each request has a virtual thread of its own.
 */
public final class Scopes {
    private static final int REQUESTS = 40;
    private static final long BURN_NS = 3_000_000;

    private static volatile long sink;

    private static Jaywalk jaywalk;

    private Scopes() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void inScope() {
        burn();
    }

    private static void behindScope() {
        burn();
    }

    private static void handle(HttpExchange exchange) throws IOException {
        try (Context context = jaywalk.context(1, 2, 3, 4)) {
            inScope();
        }
        try (Span span = jaywalk.span("part")) {
            behindScope();
        }
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private static ExecutorService threads(String kind) throws Exception {
        return "virtual".equals(kind)
            ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null)
            : Executors.newFixedThreadPool(2);
    }

    public static void main(String[] arguments) throws Exception {
        final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        final ExecutorService threads = threads(arguments[0]);

        jaywalk = Jaywalk.get();
        server.setExecutor(threads);
        server.createContext("/scoped", Scopes::handle);
        server.start();
        for (int i = 0; i < REQUESTS; i++) {
            final URL url = new URL("http", "127.0.0.1", server.getAddress().getPort(), "/scoped/" + i);

            try (InputStream in = ((HttpURLConnection) url.openConnection()).getInputStream()) {
                sink += in.read();
            }
        }
        server.stop(0);
        threads.shutdown();
        System.out.println("ok");
    }
}
