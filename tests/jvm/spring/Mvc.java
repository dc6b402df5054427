package mvc;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.springframework.beans.factory.config.ConstructorArgumentValues;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.stereotype.Controller;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.support.GenericWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;
import org.springframework.web.servlet.mvc.HttpRequestHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * An application of Spring MVC, and those who ask it: ids in its paths look like names, and each handler burns its time in a method of its own name. Nothing is found by
 * scanning, so that an old Spring need not read class files: controllers are registered, and parameters are named.
 */
final class Mvc {
    private static final int THREADS = 4;
    private static final long BURN_NS = 3_000_000;
    private static final String[] PATHS = {"/api/orders/%s/items?x=y", "/api/failing/%s", "/api/caught/%s", "/api/missing", "/api/forward/%s", "/page", "/api/deferred/%s",
        "/api/callable/%s", "/api/files/%s/a.txt"};
    private static final ExecutorService WORKERS = Executors.newFixedThreadPool(2, r -> {
        final Thread thread = new Thread(r);

        thread.setDaemon(true);
        return thread;
    });

    private static volatile long sink;

    private Mvc() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void beforeOrders() {
        burn();
    }

    private static void inOrders() {
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

    private static void inCaught() {
        burn();
    }

    private static void behindCaught() {
        burn();
    }

    private static void inForwarded() {
        burn();
    }

    private static void inIncluded() {
        burn();
    }

    private static void beforeDeferred() {
        burn();
    }

    private static void behindDeferred() {
        burn();
    }

    private static void elsewhere() {
        burn();
    }

    private static void inFiles() {
        burn();
    }

    /** Of each endpoint that has one. */
    @Controller
    public static class Handlers {
        @GetMapping("/orders/{orderId:[a-z]{2,9}}/items")
        @ResponseBody
        public String orders(@PathVariable("orderId") String id) {
            inOrders();
            return id;
        }

        @GetMapping("/failing/{why}")
        @ResponseBody
        public String failing(@PathVariable("why") String why) {
            inFailing();
            throw new IllegalStateException(why);
        }

        @RequestMapping("/error")
        @ResponseBody
        public String error(HttpServletResponse response) {
            if (response.getStatus() == 404) {
                inErrorOfMissing();
            } else {
                inErrorOfFailing();
            }
            return "sorry";
        }

        @GetMapping("/caught/{why}")
        @ResponseBody
        public String caught(@PathVariable("why") String why) {
            inCaught();
            throw new IllegalArgumentException(why);
        }

        @ExceptionHandler(IllegalArgumentException.class)
        @ResponseBody
        public String behind() {
            behindCaught();
            return "sorry";
        }

        @GetMapping("/forward/{to}")
        public String forward(@PathVariable("to") String to) {
            return "forward:/api/forwarded/" + to;
        }

        @GetMapping("/forwarded/{from}")
        @ResponseBody
        public String forwarded(@PathVariable("from") String from) {
            inForwarded();
            return from;
        }

        @GetMapping("/included/{in}")
        @ResponseBody
        public String included(@PathVariable("in") String in) {
            inIncluded();
            return in;
        }

        @GetMapping("/deferred/{id}")
        @ResponseBody
        public DeferredResult<String> deferred(@PathVariable("id") String id) {
            final DeferredResult<String> result = new DeferredResult<>();

            WORKERS.execute(() -> {
                elsewhere();
                result.setResult(id);
            });
            beforeDeferred();
            return result;
        }

        @GetMapping("/callable/{id}")
        @ResponseBody
        public Callable<String> callable(@PathVariable("id") String id) {
            return () -> {
                elsewhere();
                return id;
            };
        }
    }

    /** What is found by its path alone, and whose pattern is known late. */
    public static final class Files implements HttpRequestHandler {
        @Override
        public void handleRequest(HttpServletRequest request, HttpServletResponse response) {
            inFiles();
        }
    }

    /** A page of no framework's that has a part from one. */
    static final class Page extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            request.getRequestDispatcher("/api/included/anna").include(request, response);
        }
    }

    /** Burns before anybody has matched anything; and where a request comes back. */
    static final class Watch implements Filter {
        @Override
        public void init(FilterConfig config) {
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
            final String path = ((HttpServletRequest) request).getRequestURI();

            if (path.contains("/orders/")) {
                beforeOrders();
            }
            if (path.contains("/deferred/") && request.getDispatcherType() == javax.servlet.DispatcherType.ASYNC) {
                behindDeferred();
            }
            chain.doFilter(request, response);
        }

        @Override
        public void destroy() {
        }
    }

    /** For /api/*. */
    static DispatcherServlet servlet() {
        final GenericWebApplicationContext context = new GenericWebApplicationContext();
        final ConstructorArgumentValues none = new ConstructorArgumentValues();
        final RootBeanDefinition files = new RootBeanDefinition(SimpleUrlHandlerMapping.class, none, null);

        files.getPropertyValues().add("urlMap", Collections.singletonMap("/files/**", new Files()));
        context.registerBeanDefinition("files", files);
        context.registerBeanDefinition("handlers", new RootBeanDefinition(Handlers.class));
        context.registerBeanDefinition("mapping", new RootBeanDefinition(RequestMappingHandlerMapping.class));
        context.registerBeanDefinition("adapter", new RootBeanDefinition(RequestMappingHandlerAdapter.class));
        context.registerBeanDefinition("exceptions", new RootBeanDefinition(ExceptionHandlerExceptionResolver.class));
        context.registerBeanDefinition("plain", new RootBeanDefinition(HttpRequestHandlerAdapter.class));
        return new DispatcherServlet(context);
    }

    private static void ask(int port, String path) throws IOException {
        final HttpURLConnection connection = (HttpURLConnection) new URL("http", "127.0.0.1", port, path).openConnection();
        final byte[] bytes = new byte[4096];

        try (InputStream in = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            while (in != null && in.read(bytes) >= 0) {
                sink++;
            }
        }
    }

    /** "anna", "bnna" ...: no two of a run are the same. */
    private static String name(int number) {
        return "" + (char) ('a' + number % 26) + (char) ('a' + number / 26 % 26) + "nna";
    }

    private static void askAll(int port, int rounds, int first) {
        for (int i = 0; i < rounds; i++) {
            for (int j = 0; j < PATHS.length; j++) {
                try {
                    ask(port, "/shop" + String.format(PATHS[(first + j) % PATHS.length], name(i * THREADS + first)));
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
