import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Monitors and locks that many want at once: one has them at a time, no wake-up is lost, every count is exact. */
final class MonitorStorm implements Storm {
    private static final int ROUNDS = 300;

    private final Object monitor = new Object();
    private final ReentrantLock lock = new ReentrantLock();
    private long underMonitor;
    private long underLock;
    private int turn;

    @Override
    public String name() {
        return "monitors";
    }

    @Override
    public void run(Run run) throws Exception {
        run.thread("monitors-parker", () -> parkInTurn(run));
        int workers = 2 + run.intensity();
        CyclicBarrier barrier = new CyclicBarrier(workers);
        AtomicInteger rounds = new AtomicInteger();
        boolean[] isLast = new boolean[1];
        for (int i = 0; i < workers; i++) {
            int worker = i;
            run.thread("monitors-" + i, () -> {
                while (true) {
                    contend(worker, workers);
                    if (barrier.await(55, TimeUnit.SECONDS) == 0) {
                        long wanted = (long) ROUNDS * workers * rounds.incrementAndGet();
                        if (underMonitor != wanted || underLock != wanted) {
                            run.violated("counts " + underMonitor + " and " + underLock + ", not " + wanted);
                        }
                        isLast[0] = !run.goesOn();
                        run.did(1);
                        run.rest();
                    }
                    barrier.await(55, TimeUnit.SECONDS);
                    if (isLast[0]) {
                        return;
                    }
                }
            });
        }
    }

    private void contend(int worker, int workers) throws InterruptedException {
        for (int i = 0; i < ROUNDS; i++) {
            synchronized (monitor) {
                underMonitor++;
            }
            lock.lock();
            try {
                underLock++;
            } finally {
                lock.unlock();
            }
        }
        synchronized (monitor) {
            while (turn % workers != worker) {
                monitor.wait();
            }
            turn++;
            monitor.notifyAll();
        }
    }

    /** Two threads that wake each other by unpark: a permit that is lost is a hang, which the watchdog tells. */
    private static void parkInTurn(Run run) throws Exception {
        AtomicInteger ball = new AtomicInteger();
        Thread here = Thread.currentThread();
        Thread other = run.thread("monitors-partner", () -> {
            while (ball.get() >= 0) {
                while (ball.get() % 2 == 0) {
                    LockSupport.park(ball);
                }
                if (ball.get() >= 0) {
                    ball.incrementAndGet();
                    LockSupport.unpark(here);
                }
            }
        });
        while (run.goesOn()) {
            ball.incrementAndGet();
            LockSupport.unpark(other);
            while (ball.get() % 2 != 0) {
                LockSupport.park(ball);
            }
            run.did(1);
        }
        ball.set(-1);
        LockSupport.unpark(other);
    }
}
