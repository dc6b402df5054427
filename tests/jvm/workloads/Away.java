import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;

/**
 * Virtual threads that are on no carrier while others wait for what they have: "sleeper" sleeps, "reader" waits for a connection, "waiter" is in Object.wait of something else, and
 * "middle" has a lock and waits for that of the sleeper; who waits for them is "for-sleeper", "for-reader", "for-waiter" and "for-middle". Each has a method of its own. That ends once there is a file.
 *
 * With "convoy" six of them take two locks in turn, Red and Blue, and sleep with and without; in useRed they have the red one, and no other. With "latch" these are locks that stand on java.util.concurrent, else
 * monitors. With "unseen" the owners have never waited for anybody; with "first" nobody has ever waited for what they have, either, and the collector moves it meanwhile.
 */
public class Away {
    private static final int PAUSE_MS = 100, CONVOY = 6;

    /** A lock of a class of our own, or its monitor. */
    private static class Latch extends AbstractQueuedSynchronizer {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean tryAcquire(int ignored) {
            if (!compareAndSetState(0, 1)) {
                return false;
            }
            setExclusiveOwnerThread(Thread.currentThread());
            return true;
        }

        @Override
        protected boolean tryRelease(int ignored) {
            setExclusiveOwnerThread(null);
            setState(0);
            return true;
        }
    }

    private static final class Shelf extends Latch {
        private static final long serialVersionUID = 1;
        volatile boolean isHeld;
    }

    private static final class Red extends Latch {
        private static final long serialVersionUID = 1;
    }

    private static final class Blue extends Latch {
        private static final long serialVersionUID = 1;
    }

    private static final Shelf[] KEPT = {new Shelf(), new Shelf(), new Shelf(), new Shelf()};
    private static final Red RED = new Red();
    private static final Blue BLUE = new Blue();
    private static boolean isLatch, isUnseen, isFirst;
    private static File seen;
    private static long end;
    private static volatile boolean areThrough;
    private static volatile int turns;

    private static boolean isOver() {
        return seen.exists() || System.nanoTime() > end;
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void with(Latch latch, Runnable body) {
        if (isLatch) {
            latch.acquire(1);
            try {
                body.run();
            } finally {
                latch.release(1);
            }
            return;
        }
        synchronized (latch) {
            body.run();
        }
    }

    private static void sleeper() {
        KEPT[0].isHeld = true;
        while (!isOver()) {
            pause(PAUSE_MS);
        }
    }

    private static void reader() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            socket.setSoTimeout(PAUSE_MS);
            KEPT[1].isHeld = true;
            while (!isOver()) {
                try {
                    socket.accept().close();
                } catch (SocketTimeoutException e) {
                    continue;
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void waiter() {
        Object something = new Object();

        KEPT[2].isHeld = true;
        synchronized (something) {
            while (!isOver()) {
                try {
                    something.wait(PAUSE_MS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private static void middle() {
        KEPT[3].isHeld = true;
        with(KEPT[0], () -> turns++);
    }

    private static Thread start(boolean isVirtual, String name, Runnable body) throws Exception {
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");

            type.getMethod("name", String.class).invoke(builder, name);
            return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
        }
        Thread thread = new Thread(body, name);
        thread.start();
        return thread;
    }

    private static void untilItWaits(Thread thread) {
        while (thread.getState() != (isLatch ? Thread.State.WAITING : Thread.State.BLOCKED)) {
            pause(1);
        }
    }

    private static void keeper(int number, Runnable body) {
        with(KEPT[number], body);
        while (!areThrough) { // an owner that has ended before it is told may have no name any more
            pause(1);
        }
    }

    /* Whoever has it has waited for it: for the calling thread; or, unseen, somebody else has, so that it is known to be waited for. */
    private static Thread startKeeper(int number, String name, Runnable body) throws Exception {
        Thread[] started = new Thread[1];
        Exception[] failed = new Exception[1];

        if (isFirst) {
            started[0] = start(true, name, () -> keeper(number, body));
            while (!KEPT[number].isHeld) {
                pause(1);
            }
            return started[0];
        }
        with(KEPT[number], () -> {
            try {
                started[0] = isUnseen ? start(false, "before", () -> with(KEPT[number], () -> turns++)) : start(true, name, () -> keeper(number, body));
                untilItWaits(started[0]);
            } catch (Exception e) {
                failed[0] = e;
            }
        });
        if (failed[0] != null) {
            throw failed[0];
        }
        if (isUnseen) {
            started[0].join();
            started[0] = start(true, name, () -> keeper(number, body));
        }
        while (!KEPT[number].isHeld) {
            pause(1);
        }
        return started[0];
    }

    private static void keep() throws Exception {
        String[] names = {"sleeper", "reader", "waiter", "middle"};
        Runnable[] bodies = {Away::sleeper, Away::reader, Away::waiter, Away::middle};
        List<Thread> keepers = new ArrayList<>(), victims = new ArrayList<>();

        for (int i = 0; i < names.length; i++) {
            keepers.add(startKeeper(i, names[i], bodies[i]));
        }
        if (isFirst) {
            pause(PAUSE_MS);
            System.gc();
        }
        for (int i = 0; i < names.length; i++) {
            Shelf kept = KEPT[i];
            victims.add(start(i % 2 == 1, "for-" + names[i], () -> with(kept, () -> turns++)));
        }
        while (isFirst && !isOver()) {
            pause(PAUSE_MS);
            System.gc();
        }
        for (Thread victim : victims) {
            victim.join();
        }
        areThrough = true;
        for (Thread keeper : keepers) {
            keeper.join();
        }
    }

    private static void useRed(int ms) {
        with(RED, () -> pause(ms));
    }

    private static void useBlue(int ms) {
        with(BLUE, () -> pause(ms));
    }

    private static void convoy() throws Exception {
        List<Thread> threads = new ArrayList<>();

        for (int i = 0; i < CONVOY; i++) {
            int number = i;
            threads.add(start(true, "convoy-" + i, () -> {
                for (int turn = number; !isOver(); turn++) {
                    useRed(1 + turn % 13);
                    pause(turn % 3);
                    useBlue(1 + turn % 11);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** FILE [latch] [convoy] [unseen] [first]: two minutes at the most. */
    public static void main(String[] args) throws Exception {
        seen = new File(args[0]);
        isLatch = Arrays.asList(args).contains("latch");
        isUnseen = Arrays.asList(args).contains("unseen");
        isFirst = Arrays.asList(args).contains("first");
        System.out.println("begins");
        end = System.nanoTime() + 120_000_000_000L;
        if (Arrays.asList(args).contains("convoy")) {
            convoy();
        } else {
            keep();
        }
    }
}
