import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.Selector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait in every way there is, each checking what its wait gave and how long it took, while
 * the profiler's signals come: those of its timers, and more that are sent as if they were. A line of
 * counts for each way: calls, ended with EINTR, with another error, early.
 *
 *     java Interrupted MS EVERY_US CALLS SENT      for so long, and until there were so many calls and so many signals of its own
 */
public final class Interrupted {
    private static final int WAIT_MS = 15;
    private static final int THREADS_OF_EACH = 4;
    private static final String[] OF_JAVA = {"Thread.sleep", "Object.wait", "LockSupport.parkNanos",
            "Socket.setSoTimeout", "ServerSocket.setSoTimeout", "Selector.select"};

    private static native int kinds();

    private static native String name(int kind);

    private static native void register();

    private static native void begin(long forMs, long leastCalls, long leastSent);

    private static native boolean isOver();

    private static native void count();

    private static native void run(int kind, int ms, long[] out);

    private static native long send(int everyMicros);

    private Interrupted() {
    }

    /** One wait; true when it ended as a wait does whose time is over. */
    private interface Wait {
        boolean call() throws Exception;
    }

    private static Wait javaWait(int kind) throws IOException {
        switch (kind) {
        case 0:
            return () -> {
                Thread.sleep(WAIT_MS);
                return true;
            };
        case 1:
            final Object monitor = new Object();
            return () -> {
                synchronized (monitor) {
                    monitor.wait(WAIT_MS);
                }
                return true;
            };
        case 2:
            return () -> {
                LockSupport.parkNanos(WAIT_MS * 1_000_000L);
                return true;
            };
        case 3:
            final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            final Socket socket = new Socket(listener.getInetAddress(), listener.getLocalPort());
            socket.setSoTimeout(WAIT_MS);
            return () -> {
                try {
                    // The listener is held by this, or it would be collected with the connection that it has not accepted.
                    return !listener.isClosed() && socket.getInputStream().read() == 77;
                } catch (SocketTimeoutException expected) {
                    return true;
                }
            };
        case 4:
            final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            server.setSoTimeout(WAIT_MS);
            return () -> {
                try {
                    server.accept().close();
                    return false;
                } catch (SocketTimeoutException expected) {
                    return true;
                }
            };
        default:
            final Selector selector = Selector.open();
            return () -> selector.select(WAIT_MS) == 0;
        }
    }

    private static void runJava(int kind, long[] out) {
        try {
            final Wait wait = javaWait(kind);
            while (!isOver()) {
                final long startNanos = System.nanoTime();
                final boolean isGood = wait.call();
                final long tookNanos = System.nanoTime() - startNanos;
                count();
                out[0]++;
                out[2] += isGood ? 0 : 1;
                // The JVM counts some of these in whole milliseconds.
                out[3] += tookNanos < (WAIT_MS - 1) * 1_000_000L ? 1 : 0;
            }
        } catch (Exception e) {
            out[2]++;
            e.printStackTrace();
        }
    }

    public static void main(String[] args) throws Exception {
        System.loadLibrary("interrupted");
        begin(Long.parseLong(args[0]), Long.parseLong(args[2]), Long.parseLong(args[3]));
        final int everyMicros = Integer.parseInt(args[1]);
        final int all = kinds() + OF_JAVA.length;
        final long[][] counts = new long[all * THREADS_OF_EACH][4];
        final CountDownLatch done = new CountDownLatch(counts.length);
        for (int i = 0; i < counts.length; i++) {
            final int kind = i / THREADS_OF_EACH;
            final long[] out = counts[i];
            final Thread thread = new Thread(() -> {
                register();
                if (kind < kinds()) {
                    run(kind, WAIT_MS, out);
                } else {
                    runJava(kind - kinds(), out);
                }
                done.countDown();
                // A thread that is gone leaves its number to another.
                while (true) {
                    LockSupport.park(out);
                }
            }, "waits-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        final long[] sent = new long[1];
        final Thread sender = new Thread(() -> sent[0] = send(everyMicros), "sends");
        sender.start();
        // Uses processor time, so that timers expire, and their signals show what they carry.
        long sink = 0;
        while (!isOver()) {
            for (int i = 0; i < 100_000; i++) {
                sink = sink * 31 + i;
            }
            Thread.sleep(1);
        }
        sender.join();
        done.await();
        for (int kind = 0; kind < all; kind++) {
            final long[] sum = new long[4];
            for (int i = 0; i < THREADS_OF_EACH; i++) {
                for (int n = 0; n < 4; n++) {
                    sum[n] += counts[kind * THREADS_OF_EACH + i][n];
                }
            }
            System.out.println("wait " + sum[0] + " " + sum[1] + " " + sum[2] + " " + sum[3] + " "
                    + (kind < kinds() ? name(kind) : OF_JAVA[kind - kinds()]));
        }
        System.out.println("sent " + sent[0] + (sink == 1 ? " " : ""));
    }
}
