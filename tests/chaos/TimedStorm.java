import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.Selector;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Waits with a time-out, in every way there is: never early, never interrupted by nobody, never with EINTR. */
final class TimedStorm implements Storm {
    /** The JVM counts some of these in whole milliseconds. */
    private static final long GRAIN_NS = 1_000_000L;
    private static final int KINDS = 9;

    private interface Wait {
        /** False when it ended otherwise than a wait does whose time is over. */
        boolean forMs(int ms) throws Exception;
    }

    @Override
    public String name() {
        return "timed";
    }

    @Override
    public void run(Run run) throws Exception {
        for (int kind = 0; kind < KINDS; kind++) {
            int number = kind;
            run.thread("timed-" + kind, () -> repeat(run, number));
        }
    }

    private static void repeat(Run run, int kind) throws Exception {
        Wait wait = wait(kind);
        while (run.goesOn()) {
            int ms = 1 + run.random().nextInt(25);
            long startNs = System.nanoTime();
            boolean isRight = wait.forMs(ms);
            long tookNs = System.nanoTime() - startNs;
            // m37: no wait ends by itself, or early
            if (!isRight) {
                run.violated("wait " + kind + " ended by itself");
            }
            if (tookNs < ms * 1_000_000L - GRAIN_NS) {
                run.violated("wait " + kind + " of " + ms + " ms took " + tookNs + " ns");
            }
            run.did(1);
        }
    }

    private static Wait wait(int kind) throws Exception {
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        switch (kind) {
        case 0:
            return ms -> {
                Thread.sleep(ms);
                return true;
            };
        case 1:
            return ms -> {
                synchronized (monitor) {
                    monitor.wait(ms);
                }
                return true;
            };
        case 2:
            return ms -> {
                LockSupport.parkNanos(ms * 1_000_000L);
                return true;
            };
        case 3:
            return ms -> {
                lock.lock();
                try {
                    return condition.awaitNanos(ms * 1_000_000L) <= 0;
                } finally {
                    lock.unlock();
                }
            };
        case 4:
            ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(1);
            return ms -> queue.poll(ms, TimeUnit.MILLISECONDS) == null;
        case 5:
            Selector selector = Selector.open();
            return ms -> selector.select(ms) == 0;
        case 6:
            ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            return ms -> {
                server.setSoTimeout(ms);
                try {
                    server.accept();
                    return false;
                } catch (SocketTimeoutException expected) {
                    return true;
                }
            };
        case 7:
            ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Socket socket = new Socket(listener.getInetAddress(), listener.getLocalPort());
            return ms -> {
                if (listener.isClosed()) { // held by this, or it would be collected with what it has not accepted
                    return false;
                }
                socket.setSoTimeout(ms);
                try {
                    socket.getInputStream().read();
                    return false;
                } catch (SocketTimeoutException expected) {
                    return true;
                }
            };
        default:
            Thread never = new Thread(() -> LockSupport.park(monitor));
            return ms -> {
                if (!never.isAlive()) {
                    never.setDaemon(true);
                    never.start();
                }
                never.join(ms);
                return true;
            };
        }
    }
}
