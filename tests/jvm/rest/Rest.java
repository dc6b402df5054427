package rest;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.RequestDispatcher;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.ws.rs.GET;
import javax.ws.rs.NotFoundException;
import javax.ws.rs.POST;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.container.AsyncResponse;
import javax.ws.rs.container.Suspended;
import javax.ws.rs.core.Context;
import javax.ws.rs.core.Response;
import javax.ws.rs.core.UriInfo;
import javax.ws.rs.ext.ExceptionMapper;
import javax.ws.rs.ext.Provider;

/**
 * An application of JAX-RS, and those who ask it: ids in its paths look like names, and each resource burns its time in a method of its own name.
 */
final class Rest {
    private static final int THREADS = 4;
    private static final long BURN_NS = 3_000_000;
    private static final String[] PATHS = {"GET /api/users/%s/items?x=y", "POST /api/users/%s", "GET /api/orders/%s", "GET /api/shops/%s/orders/%s", "GET /api/shops/%s/orders/%s/lines",
        "GET /api/shops/%s/nothing/%s", "GET /api/failing/%s", "GET /api/caught/%s", "GET /api/missing", "GET /forward?to=%s", "GET /page", "GET /api/later/%s", "GET /api/files/%s/a.txt"};
    private static final ExecutorService WORKERS = Executors.newFixedThreadPool(2, r -> {
        final Thread thread = new Thread(r);

        thread.setDaemon(true);
        return thread;
    });

    /** Of all answers; in whatever order they come. */
    private static final AtomicLong ANSWERS = new AtomicLong();

    private static volatile long sink;

    private Rest() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void beforeItems() {
        burn();
    }

    private static void inItems() {
        burn();
    }

    private static void inChanged() {
        burn();
    }

    private static void inOrders() {
        burn();
    }

    private static void inLocator() {
        burn();
    }

    private static void inShopOrder() {
        burn();
    }

    private static void inLines() {
        burn();
    }

    private static void inFailing() {
        burn();
    }

    private static void inErrorOfFailing() {
        burn();
    }

    private static void behindMissing() {
        burn();
    }

    private static void behindNothing() {
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

    private static void inPage() {
        burn();
    }

    private static void beforeLater() {
        burn();
    }

    private static void elsewhere() {
        burn();
    }

    private static void inFiles() {
        burn();
    }

    /** Its expression has spaces, as the specification allows. */
    @Path("/users/{name : [a-z]{2,9}}")
    public static class Users {
        @GET
        @Path("items")
        public String items(@PathParam("name") String name) {
            inItems();
            return name;
        }

        @POST
        public String change(@PathParam("name") String name, String body) {
            inChanged();
            return name + body;
        }
    }

    /** Annotations stand where the resource has them from. */
    @Path("/orders")
    public interface Orders {
        @GET
        @Path("/{orderId}")
        String order(@PathParam("orderId") String id);
    }

    /** Has none itself. */
    public static class OrdersHere implements Orders {
        @Override
        public String order(String id) {
            inOrders();
            return id;
        }
    }

    /** Locators: what they give serves the rest of the path. */
    @Path("/shops/{shop}")
    public static class Shops {
        @Path("/orders")
        public ShopOrders orders(@PathParam("shop") String shop) {
            inLocator();
            return new ShopOrders(shop);
        }

        @Path("/nothing")
        public Object nothing() {
            return null;
        }
    }

    /** Of a locator; and has one. */
    public static class ShopOrders {
        private final String shop;

        ShopOrders(String shop) {
            this.shop = shop;
        }

        @GET
        @Path("{orderId}")
        public String order(@PathParam("orderId") String id) {
            inShopOrder();
            return shop + id;
        }

        @Path("{orderId}/lines")
        public Lines lines(@PathParam("orderId") String id) {
            return new Lines(id);
        }
    }

    /** Of a locator's locator; its method has no path. */
    public static class Lines {
        private final String id;

        Lines(String id) {
            this.id = id;
        }

        @GET
        public String all() {
            inLines();
            return id;
        }
    }

    /** The others. */
    @Path("/")
    public static class Others {
        @GET
        @Path("failing/{why}")
        public String failing(@PathParam("why") String why) {
            inFailing();
            throw new IllegalStateException(why);
        }

        @GET
        @Path("error")
        public Response error(@Context HttpServletRequest request) {
            inErrorOfFailing();
            return Response.status(500).entity("sorry for " + request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI)).build();
        }

        @GET
        @Path("caught/{why}")
        public String caught(@PathParam("why") String why) {
            inCaught();
            throw new IllegalArgumentException(why);
        }

        @GET
        @Path("forwarded/{from}")
        public String forwarded(@PathParam("from") String from) {
            inForwarded();
            return from;
        }

        @GET
        @Path("later/{id}")
        public void later(@PathParam("id") String id, @Suspended AsyncResponse response) {
            beforeLater();
            WORKERS.execute(() -> {
                elsewhere();
                response.resume(id);
            });
        }

        @GET
        @Path("files/{path : .+}")
        public String files(@PathParam("path") String path) {
            inFiles();
            return path;
        }
    }

    /** Makes an answer of an exception. */
    @Provider
    public static class Caught implements ExceptionMapper<IllegalArgumentException> {
        @Override
        public Response toResponse(IllegalArgumentException e) {
            behindCaught();
            return Response.status(400).entity("sorry").build();
        }
    }

    /** Answers where nothing was found: below a locator, or at all. */
    @Provider
    public static class Missing implements ExceptionMapper<NotFoundException> {
        @Context
        private UriInfo asked;

        @Override
        public Response toResponse(NotFoundException e) {
            if (asked.getPath().contains("nothing")) {
                behindNothing();
            } else {
                behindMissing();
            }
            return Response.status(404).entity("not found").build();
        }
    }

    /** What a framework is told. */
    public static class Application extends javax.ws.rs.core.Application {
        @Override
        public Set<Class<?>> getClasses() {
            return new HashSet<>(Arrays.asList(Users.class, OrdersHere.class, Shops.class, Others.class, Caught.class, Missing.class));
        }
    }

    /** A servlet of nobody's that hands on to a resource, or does not. */
    static final class Page extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
            final String to = request.getParameter("to");

            if (to != null) {
                request.getRequestDispatcher("/api/forwarded/" + to).forward(request, response);
            } else {
                inPage();
            }
        }
    }

    /** Burns before anybody has matched anything. */
    static final class Watch implements Filter {
        @Override
        public void init(FilterConfig config) {
        }

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
            if (((HttpServletRequest) request).getRequestURI().endsWith("/items")) {
                beforeItems();
            }
            chain.doFilter(request, response);
        }

        @Override
        public void destroy() {
        }
    }

    private static void ask(int port, String method, String path) throws IOException {
        final HttpURLConnection connection = (HttpURLConnection) new URL("http", "127.0.0.1", port, path).openConnection();
        final CRC32 sum = new CRC32();
        final byte[] bytes = new byte[4096];
        int count;

        connection.setRequestMethod(method);
        if (method.equals("POST")) {
            connection.setDoOutput(true);
            connection.getOutputStream().write("new".getBytes(StandardCharsets.US_ASCII));
        }
        sum.update((method + path + connection.getResponseCode()).getBytes(StandardCharsets.US_ASCII));
        try (InputStream in = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            while (in != null && (count = in.read(bytes)) >= 0) {
                sum.update(bytes, 0, count);
            }
        }
        ANSWERS.addAndGet(sum.getValue());
    }

    /** "anna", "bnna" ...: no two of a run are the same. */
    private static String name(int number) {
        return "" + (char) ('a' + number % 26) + (char) ('a' + number / 26 % 26) + "nna";
    }

    private static void askAll(int port, int rounds, int first) {
        for (int i = 0; i < rounds; i++) {
            for (int j = 0; j < PATHS.length; j++) {
                final String[] wanted = PATHS[(first + j) % PATHS.length].split(" ");
                final String name = name(i * THREADS + first);

                try {
                    ask(port, wanted[0], "/shop" + String.format(wanted[1], name, name));
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

    static String answers() {
        return "answers " + ANSWERS.get();
    }
}
