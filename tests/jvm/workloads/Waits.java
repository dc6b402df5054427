import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that do one thing each, by the first word of their names, until all are told to end: running, sleeping,
 * parked, waiting, blocked, reading (a socket), accepting, selecting. Prints "life LEAST MOST NAME" of each, nanoseconds: by
 * what it knows itself, and by who started it and saw its end; each may have waited for a processor in between. And "pace MOST":
 * by how much a thread was late at the most that wanted to run every 10 ms, as the sampler does.
 *
 *     java Waits seconds waiting-threads running-threads
 */
final class Waits {
    private static final Object NOTIFIED = new Object();
    private static final Object ENTERED = new Object();
    private static final CountDownLatch READY = new CountDownLatch(1);
    private static final List<Life> LIVES = new ArrayList<>();
    private static final List<AutoCloseable> ENDS = new ArrayList<>();
    private static final String[] KINDS =
            {"sleeping", "parked", "waiting", "blocked", "reading", "accepting", "selecting"};

    private static volatile boolean mustEnd;
    private static volatile boolean isOver;
    private static long paceNs;
    private static volatile long sink;

    private interface Body {
        void run() throws Exception;
    }

    private static void keepPace() {
        while (!isOver) {
            long begun = System.nanoTime();
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            paceNs = Math.max(paceNs, System.nanoTime() - begun - 10_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        int waiting = Integer.parseInt(args[1]);
        Thread pace = new Thread(Waits::keepPace, "pace");
        pace.start();

        start("sleeping-holder", Waits::hold);
        READY.await();
        for (int i = 0; i < waiting; i++) {
            String kind = KINDS[i % KINDS.length];
            start(kind + "-" + i, bodyOf(kind));
        }
        Thread.sleep(500); // those that run would keep the others from where they are to wait
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            start("running-" + i, Waits::burn);
        }
        Thread.sleep(Integer.parseInt(args[0]) * 1000L);
        end();
        isOver = true;
        pace.join();
        System.out.println("pace " + paceNs);
    }

    private static Body bodyOf(String kind) throws IOException {
        switch (kind) {
            case "sleeping":
                return Waits::sleepUntilEnd;
            case "parked":
                return Waits::park;
            case "waiting":
                return Waits::await;
            case "blocked":
                return Waits::enter;
            case "reading":
                return reading();
            case "accepting":
                return accepting();
            default:
                return selecting();
        }
    }

    private static void sleepUntilEnd() {
        while (!mustEnd) {
            try {
                Thread.sleep(3_600_000);
            } catch (InterruptedException e) {
                // to end
            }
        }
    }

    private static void hold() {
        synchronized (ENTERED) {
            READY.countDown();
            sleepUntilEnd();
        }
    }

    private static void burn() {
        while (!mustEnd) {
            sink++;
        }
    }

    private static void park() {
        while (!mustEnd) {
            LockSupport.park(NOTIFIED);
        }
    }

    private static void await() throws InterruptedException {
        synchronized (NOTIFIED) {
            while (!mustEnd) {
                NOTIFIED.wait();
            }
        }
    }

    private static void enter() {
        synchronized (ENTERED) {
            sink++;
        }
    }

    private static Body reading() throws IOException {
        Socket from;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket to = new Socket(server.getInetAddress(), server.getLocalPort());
            ENDS.add(to);
            from = server.accept();
        }
        return () -> {
            if (from.getInputStream().read() >= 0) {
                throw new IllegalStateException("nobody wrote");
            }
            from.close();
        };
    }

    private static Body accepting() throws IOException {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ENDS.add(server);
        return () -> {
            try {
                server.accept().close();
            } catch (IOException e) {
                if (!mustEnd) {
                    throw e;
                }
            }
        };
    }

    private static Body selecting() throws IOException {
        Pipe pipe = Pipe.open();
        Selector selector = Selector.open();
        pipe.source().configureBlocking(false);
        pipe.source().register(selector, SelectionKey.OP_READ);
        ENDS.add(selector::wakeup);
        return () -> {
            while (!mustEnd) {
                selector.select();
            }
        };
    }

    private static void start(String name, Body body) {
        LIVES.add(new Life(name, body));
    }

    /** A thread and its time. */
    private static final class Life {
        private final String name;
        private final Thread thread;
        private final long startedNs = System.nanoTime();
        private volatile long ownNs;
        private long seenNs;

        private Life(String name, Body body) {
            this.name = name;
            thread = new Thread(null, () -> live(body), name, 256 << 10);
            thread.start();
        }

        private void live(Body body) {
            long beginNs = System.nanoTime();
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(name, e);
            }
            ownNs = System.nanoTime() - beginNs;
        }

        private void join() throws InterruptedException {
            thread.join();
            if (seenNs == 0) {
                seenNs = System.nanoTime() - startedNs;
            }
        }
    }

    /** One kind after the other, and few at a time: what is said of their lives must be true. */
    private static void end() throws Exception {
        mustEnd = true;
        joinAll("running");
        for (Life life : LIVES) {
            if (life.name.startsWith("parked")) {
                LockSupport.unpark(life.thread);
                life.join();
            } else if (life.name.matches("sleeping-\\d+")) {
                life.thread.interrupt();
                life.join();
            }
        }
        for (AutoCloseable end : ENDS) {
            end.close();
        }
        joinAll("reading");
        joinAll("accepting");
        joinAll("selecting");
        synchronized (NOTIFIED) {
            NOTIFIED.notifyAll();
        }
        joinAll("waiting");
        LIVES.get(0).thread.interrupt();
        joinAll("");
        for (Life life : LIVES) {
            System.out.println("life " + life.ownNs + " " + life.seenNs + " " + life.name);
        }
    }

    private static void joinAll(String kind) throws InterruptedException {
        for (Life life : LIVES) {
            if (life.name.startsWith(kind)) {
                life.join();
            }
        }
    }
}
