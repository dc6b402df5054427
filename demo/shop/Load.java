import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Clients of the shop: each has a connection of its own and one request under way. */
final class Load
{
    /* What a customer does, in this order and over again. */
    private static final Shop.Endpoint[] VISIT = {
        Shop.Endpoint.SEARCH, Shop.Endpoint.ORDERS, Shop.Endpoint.HEALTH, Shop.Endpoint.SEARCH, Shop.Endpoint.CHECKOUT,
    };

    private final InetSocketAddress server;
    private final ExecutorService threads;
    private final AtomicInteger number = new AtomicInteger();
    private final AtomicReference<IOException> failure = new AtomicReference<>();

    Load(InetSocketAddress server, ExecutorService threads)
    {
        this.server = server;
        this.threads = threads;
    }

    /** Returns when all requests were answered. */
    void run(int clients, int requests) throws IOException, InterruptedException
    {
        CountDownLatch done = new CountDownLatch(clients);
        for (int i = 0; i < clients; i++)
            threads.execute(() -> {
                try {
                    visit(requests);
                } catch (IOException e) {
                    failure.compareAndSet(null, e);
                } finally {
                    done.countDown();
                }
            });
        done.await();
        threads.shutdown();
        if (failure.get() != null)
            throw failure.get();
    }

    private void visit(int requests) throws IOException
    {
        try (Socket socket = new Socket()) {
            socket.connect(server);
            OutputStream out = socket.getOutputStream();
            BufferedReader in =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (int n = number.getAndIncrement(); n < requests; n = number.getAndIncrement())
                ask(out, in, VISIT[n % VISIT.length], n);
        }
    }

    private static void ask(OutputStream out, BufferedReader in, Shop.Endpoint endpoint, int n) throws IOException
    {
        String path = endpoint == Shop.Endpoint.ORDERS ? endpoint.path + n : endpoint.path;
        String head = endpoint.method + " " + path + " HTTP/1.1\r\nHost: shop\r\nContent-Length: 0\r\n\r\n";
        out.write(head.getBytes(StandardCharsets.US_ASCII));
        String line = in.readLine();
        if (line == null || !line.startsWith("HTTP/1.1 200"))
            throw new IOException(endpoint.title + " was answered with " + line);
        int length = 0;
        for (line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine())
            if (line.toLowerCase().startsWith("content-length:"))
                length = Integer.parseInt(line.substring(line.indexOf(':') + 1).trim());
        while (length > 0)
            length -= (int)in.skip(length);
    }
}
