package shop;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;
import javax.servlet.AsyncContext;
import javax.servlet.DispatcherType;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/**
 * An application for containers, and those who ask it: each endpoint burns its time in methods of names of its own. Some forward, some fail, for which
 * there is a page, some are answered by other threads, and some are files. What is asked twice is answered the same.
 */
final class Shop {
    private static final int THREADS = 4;
    private static final long BURN_NS = Long.getLong("burn", 3_000_000);
    private static final String[] PATHS = {"/orders/%d?x=y", "/items", "/forward", "/failing", "/missing", "/async/%d", "/file.txt"};

    private static final Map<String, String> ANSWERS = new ConcurrentSkipListMap<>();
    private static volatile long sink;

    private Shop() {
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

    private static void inItems() {
        burn();
    }

    private static void inForwarded() {
        burn();
    }

    private static void inFailing() {
        burn();
    }

    private static void inErrorOfFailing() {
        burn();
    }

    private static void inErrorOfMissing() {
        burn();
    }

    private static void beforeAsync() {
        burn();
    }

    private static void elsewhere() {
        burn();
    }

    private static void behindAsync() {
        burn();
    }

    static final class Orders extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            inOrders();
            response.setHeader("X-Order", request.getParameter("x"));
            response.getWriter().print("order " + request.getPathInfo());
        }
    }

    static final class Items extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            inItems();
            response.getOutputStream().print("items");
        }
    }

    static final class Forward extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            if (request.getDispatcherType() == DispatcherType.FORWARD) {
                inForwarded();
            } else {
                request.getRequestDispatcher("/forwarded").forward(request, response);
            }
        }
    }

    static final class Failing extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            inFailing();
            response.sendError(503);
        }
    }

    static final class ErrorPage extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            if (response.getStatus() == 404) {
                inErrorOfMissing();
            } else {
                inErrorOfFailing();
            }
            response.getOutputStream().print("sorry");
        }
    }

    static final class Async extends HttpServlet {
        private static final long serialVersionUID = 1;

        private static final ExecutorService WORKERS = Executors.newFixedThreadPool(2, r -> {
            final Thread thread = new Thread(r);

            thread.setDaemon(true);
            return thread;
        });

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                behindAsync();
                response.getWriter().print("later " + request.getPathInfo());
                return;
            }

            final AsyncContext context = request.startAsync();

            WORKERS.execute(() -> {
                elsewhere();
                context.dispatch();
            });
            beforeAsync();
        }
    }

    static final class Watch implements Filter {
        @Override
        public void init(FilterConfig config) {
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
            chain.doFilter(request, response);
        }

        @Override
        public void destroy() {
        }
    }

    private static void ask(int port, String path) throws IOException {
        final HttpURLConnection connection = (HttpURLConnection) new URL("http", "127.0.0.1", port, path).openConnection();
        final CRC32 sum = new CRC32();
        final byte[] bytes = new byte[4096];
        int length = 0;

        try (InputStream in = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            for (int read = 0; in != null && read >= 0; read = in.read(bytes)) {
                sum.update(bytes, 0, read);
                length += read;
            }
        }

        final String answer = connection.getResponseCode() + " " + connection.getContentType() + " " + connection.getHeaderField("ETag") + " "
            + connection.getHeaderField("X-Order") + " " + length + " " + Long.toHexString(sum.getValue());
        final String before = ANSWERS.putIfAbsent(path, answer);

        if (before != null && !before.equals(answer)) {
            throw new IllegalStateException(path + " was answered " + before + ", and then " + answer);
        }
    }

    /** What was asked, and answered. */
    static void tell() {
        ANSWERS.forEach((path, answer) -> System.out.println(path + " " + answer));
    }

    private static void askAll(int port, int rounds, int first) {
        for (int i = 0; i < rounds; i++) {
            for (int j = 0; j < PATHS.length; j++) {
                try {
                    ask(port, String.format(PATHS[(first + j) % PATHS.length], 4711 + i));
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    /** So many rounds of each of some threads, each endpoint once a round. */
    static void serve(int port, int rounds) throws InterruptedException {
        final Thread[] threads = new Thread[THREADS];

        for (int i = 0; i < THREADS; i++) {
            final int first = i;

            threads[i] = new Thread(() -> askAll(port, rounds, first));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
