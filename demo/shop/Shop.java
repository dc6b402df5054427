import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.jaywalk.Attribute;
import io.jaywalk.Context;
import io.jaywalk.Jaywalk;
import java.io.FileWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * A small web shop whose endpoints cost what they say: the JDK's own HTTP server, real requests on loopback, and a
 * context for each request. Made to be profiled: what {@code jaywalk endpoints} says of it can be held against
 * what it measured itself.
 *
 * <pre>
 * java -cp CLASSES:jaywalk.jar -agentpath:libjaywalk.so=start,event=cpu,file=shop.jfr Shop [--key=value]...
 *   --threads=200     that serve; --virtual: one virtual thread for each request instead (JDK 21 and later)
 *   --clients=200     connections at the same time, each with one request under way
 *   --requests=500    in all
 *   --scale=1.0       times the CPU time that an endpoint says
 *   --parts=1         threads that share the work of a request, each in a span of its own below the request's
 *   --wait=0          milliseconds that each request waits for a backend, between two halves of its work
 *   --report=FILE     what the application measured: "endpoint NAME REQUESTS CPU_NS"
 *   --clock=CLASS     a LongSupplier that tells the CPU time of the thread of the operating system, in ns;
 *                     without one, virtual threads do work that was measured before
 * </pre>
 *
 * A span says what it is of: endpoint, tenant, part and number of the request are in its id (see {@link #spanId}).
 */
public final class Shop
{
    private static final String[] TENANTS = {"acme", "globex", "initech"};

    /** What can be asked for, and what it costs. */
    enum Endpoint {
        ORDERS("GET /orders/{id}", "GET", "/orders/", 20) {
            @Override void serve(Shop shop, Meter meter) throws InterruptedException { shop.listOrders(milliseconds, meter); }
        },
        SEARCH("GET /search", "GET", "/search", 10) {
            @Override void serve(Shop shop, Meter meter) throws InterruptedException { shop.search(milliseconds, meter); }
        },
        CHECKOUT("POST /checkout", "POST", "/checkout", 40) {
            @Override void serve(Shop shop, Meter meter) throws InterruptedException { shop.checkOut(milliseconds, meter); }
        },
        HEALTH("GET /health", "GET", "/health", 5) {
            @Override void serve(Shop shop, Meter meter) throws InterruptedException { shop.health(milliseconds, meter); }
        };

        final String title;
        final String method;
        final String path;
        final int milliseconds;

        Endpoint(String title, String method, String path, int milliseconds)
        {
            this.title = title;
            this.method = method;
            this.path = path;
            this.milliseconds = milliseconds;
        }

        /** One method of its own for each, so that a stack tells which it is. */
        abstract void serve(Shop shop, Meter meter) throws InterruptedException;
    }

    static volatile long sink;

    private final Jaywalk jaywalk = Jaywalk.get();
    private final Attribute tenant = jaywalk.attribute("tenant");
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLongArray served = new AtomicLongArray(Endpoint.values().length);
    private final AtomicLongArray cpuNs = new AtomicLongArray(Endpoint.values().length);
    private final double scale;
    private final long waitMs;
    private final int parts;
    private final ExecutorService servers;
    private final LongSupplier clock;
    private final boolean isVirtual;
    private final double turnsPerNs;

    private Shop(Map<String, String> options, ExecutorService servers) throws Exception
    {
        this.servers = servers;
        parts = Integer.parseInt(options.getOrDefault("parts", "1"));
        scale = Double.parseDouble(options.getOrDefault("scale", "1"));
        waitMs = Long.parseLong(options.getOrDefault("wait", "0"));
        isVirtual = options.containsKey("virtual");
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        if (options.containsKey("clock"))
            clock = (LongSupplier)Class.forName(options.get("clock")).getDeclaredConstructor().newInstance();
        else
            clock = isVirtual ? null : threads::getCurrentThreadCpuTime;
        turnsPerNs = clock == null ? measureTurns(threads) : 0;
    }

    public static void main(String[] args) throws Exception
    {
        Map<String, String> options = new HashMap<>();
        for (String arg : args) {
            String[] pair = arg.replaceFirst("^--", "").split("=", 2);
            options.put(pair[0], pair.length == 1 ? "" : pair[1]);
        }
        int clients = Integer.parseInt(options.getOrDefault("clients", "200"));
        boolean isVirtual = options.containsKey("virtual");
        ExecutorService servers = isVirtual
            ? virtualThreads()
            : Executors.newFixedThreadPool(Integer.parseInt(options.getOrDefault("threads", "200")));
        Shop shop = new Shop(options, servers);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), clients);
        for (Endpoint endpoint : Endpoint.values())
            server.createContext(endpoint.path, exchange -> shop.answer(exchange, endpoint));
        server.setExecutor(servers);
        server.start();
        try {
            new Load(server.getAddress(), isVirtual ? virtualThreads() : Executors.newFixedThreadPool(clients))
                .run(clients, Integer.parseInt(options.getOrDefault("requests", "500")));
        } finally {
            server.stop(0);
            servers.shutdown();
        }
        if (options.containsKey("report"))
            shop.report(options.get("report"));
    }

    private static ExecutorService virtualThreads() throws ReflectiveOperationException
    {
        return (ExecutorService)Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    /** A request, from the first of its threads to the answer. */
    private void answer(HttpExchange exchange, Endpoint endpoint) throws IOException
    {
        long number = requests.incrementAndGet();
        CountDownLatch others = new CountDownLatch(parts - 1);
        try {
            for (int i = 1; i < parts; i++) {
                int part = i;
                servers.execute(() -> {
                    serve(endpoint, number, part);
                    others.countDown();
                });
            }
            serve(endpoint, number, 0);
            others.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        served.incrementAndGet(endpoint.ordinal());
        byte[] body = (endpoint.title + "\n").getBytes("UTF-8");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    /** One thread's part of a request, in its context. */
    private void serve(Endpoint endpoint, long number, int part)
    {
        long root = spanId(endpoint, number, 0);
        Meter meter = new Meter(clock);
        try (Context context = jaywalk.context(root, ~root, spanId(endpoint, number, part), root)) {
            tenant.set(TENANTS[(int)(number % TENANTS.length)]);
            if (part == 0)
                jaywalk.endpoint(root, endpoint.title, "http.request");
            endpoint.serve(this, meter);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        cpuNs.addAndGet(endpoint.ordinal(), meter.spentNs);
    }

    /** Endpoint + 1 from bit 48 on, the tenant from 40, the part of the request from 32, its number below. */
    static long spanId(Endpoint endpoint, long number, int part)
    {
        return (endpoint.ordinal() + 1L) << 48 | (number % TENANTS.length) << 40 | (long)part << 32 | number;
    }

    private void listOrders(int milliseconds, Meter meter) throws InterruptedException
    {
        work(milliseconds, meter);
    }

    private void search(int milliseconds, Meter meter) throws InterruptedException
    {
        work(milliseconds, meter);
    }

    private void checkOut(int milliseconds, Meter meter) throws InterruptedException
    {
        work(milliseconds, meter);
    }

    private void health(int milliseconds, Meter meter) throws InterruptedException
    {
        work(milliseconds, meter);
    }

    /* Half of it, then the backend, then the other half, perhaps on another carrier. */
    private void work(int milliseconds, Meter meter) throws InterruptedException
    {
        long halfNs = (long)(milliseconds * scale * 1e6 / parts / 2);
        burn(halfNs, meter);
        if (waitMs > 0)
            Thread.sleep(waitMs);
        burn(halfNs, meter);
    }

    private void burn(long ns, Meter meter)
    {
        if (clock == null) {
            compute((long)(ns * turnsPerNs));
            meter.spentNs += ns;
            return;
        }
        meter.start();
        do {
            compute(20000);
        } while (meter.sinceStartNs() < ns);
        meter.stop();
    }

    /**
     * CPU time of a request's work, by the clock of the thread that it has at the moment; it waits for nothing meanwhile. What it does beside
     * may wait, and then a virtual thread has the clock of another carrier, or of one that was others' meanwhile: that is not measured.
     */
    private static final class Meter
    {
        private final LongSupplier clock;
        private long beganNs;
        long spentNs;

        Meter(LongSupplier clock)
        {
            this.clock = clock;
        }

        void start()
        {
            beganNs = clock.getAsLong();
        }

        long sinceStartNs()
        {
            return clock.getAsLong() - beganNs;
        }

        void stop()
        {
            spentNs += sinceStartNs();
        }
    }

    private static void compute(long turns)
    {
        long state = sink | 1;
        for (long i = 0; i < turns; i++) {
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
        }
        sink = state;
    }

    private static double measureTurns(ThreadMXBean threads)
    {
        long turns = 50_000_000;
        compute(turns); /* the compiler has seen it */
        long begin = threads.getCurrentThreadCpuTime();
        compute(turns);
        return (double)turns / (threads.getCurrentThreadCpuTime() - begin);
    }

    private void report(String file) throws IOException
    {
        try (PrintWriter out = new PrintWriter(new FileWriter(file))) {
            for (Endpoint endpoint : Endpoint.values())
                out.printf("endpoint %d %d %s%n", served.get(endpoint.ordinal()), cpuNs.get(endpoint.ordinal()),
                           endpoint.title);
        }
    }
}
