import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Virtual threads that park, yield, sleep, are pinned, throw and go deep, by the hundred. */
final class VirtualStorm implements Storm {
    private static final int BATCH = 40;

    private final AtomicLong ended = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    private long underLock;

    @Override
    public String name() {
        return "virtual";
    }

    @Override
    public void run(Run run) throws Exception {
        if (Platform.MAJOR < 21) {
            run.skipped("this JDK has no virtual threads");
            return;
        }
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        long begun = 0;
        while (run.goesOn()) {
            List<Thread> batch = new ArrayList<>();
            for (int i = 0; i < BATCH * run.intensity(); i++) {
                int kind = run.random().nextInt(7);
                batch.add((Thread) start.invoke(null, (Runnable) () -> live(run, kind)));
            }
            begun += batch.size();
            for (Thread thread : batch) {
                LockSupport.unpark(thread);
            }
            for (Thread thread : batch) {
                thread.join();
            }
            // m07: samples of mounted virtual threads
            if (ended.get() != begun) {
                run.violated(begun + " virtual threads begun, " + ended.get() + " came to their end");
            }
            run.did(batch.size());
            run.rest();
        }
        if (underLock != begun) {
            run.violated("a lock let two threads in: " + underLock + " of " + begun);
        }
    }

    private void live(Run run, int kind) {
        if (!run.guarded(() -> act(run, kind))) {
            Thread.yield();
        }
        lock.lock();
        try {
            underLock++;
        } finally {
            lock.unlock();
        }
        ended.incrementAndGet();
    }

    private void act(Run run, int kind) throws Exception {
        switch (kind) {
        case 0:
            LockSupport.parkNanos(300_000);
            break;
        case 1:
            for (int i = 0; i < 50; i++) {
                Thread.yield();
            }
            break;
        case 2:
            long startNs = System.nanoTime();
            Thread.sleep(2);
            if (System.nanoTime() - startNs < 1_000_000) {
                run.violated("a virtual thread slept too little");
            }
            break;
        case 3: // pinned, where the JVM cannot take its stack from a carrier that holds a monitor
            Object monitor = new Object();
            synchronized (monitor) {
                Thread.sleep(1);
                monitor.wait(1);
            }
            break;
        case 4:
            try {
                deep(run, 100, true);
                run.violated("an exception is lost");
            } catch (IllegalStateException expected) {
                Thread.yield();
            }
            break;
        case 5:
            deep(run, 400, false);
            break;
        default:
            long sum = 0;
            for (int i = 0; i < 30_000; i++) {
                sum = sum * 31 + i;
            }
            if (sum == 1) {
                Thread.yield();
            }
            break;
        }
    }

    /** Frames that move to the heap and back. */
    private static int deep(Run run, int left, boolean throwsThere) {
        if (left == 0) {
            Thread.yield();
            if (throwsThere) {
                throw new IllegalStateException("as meant");
            }
            return 0;
        }
        int below = deep(run, left - 1, throwsThere);
        if (below != left - 1) {
            run.violated("a frame came back with another value");
        }
        if (left % 64 == 0) {
            Thread.yield();
        }
        return below + 1;
    }
}
