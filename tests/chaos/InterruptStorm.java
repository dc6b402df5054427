import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Each interrupt of the program's ends one wait, whatever it waits in, and nothing else ends one. */
final class InterruptStorm implements Storm {
    private static final int KINDS = 5;

    @Override
    public String name() {
        return "interrupts";
    }

    @Override
    public void run(Run run) throws Exception {
        while (run.goesOn()) {
            int kind = run.random().nextInt(KINDS);
            AtomicInteger woken = new AtomicInteger();
            AtomicInteger sent = new AtomicInteger();
            ReentrantLock lock = new ReentrantLock();
            lock.lock();
            Thread waiter = new Thread(() -> run.guarded(() -> {
                waitIn(run, kind, lock);
                if (sent.get() != 1) {
                    run.violated("wait " + kind + " ended before anybody interrupted it");
                }
                woken.incrementAndGet();
            }), "interrupts-" + kind);
            waiter.start();
            for (int i = run.random().nextInt(4); i > 0; i--) {
                run.rest();
            }
            sent.incrementAndGet();
            waiter.interrupt();
            waiter.join();
            lock.unlock();
            if (woken.get() != 1) {
                run.violated("wait " + kind + ": an interrupt ended nothing");
            }
            run.did(1);
        }
    }

    private static void waitIn(Run run, int kind, ReentrantLock lock) throws Exception {
        Object monitor = new Object();
        try {
            switch (kind) {
            case 0:
                Thread.sleep(120_000);
                break;
            case 1:
                synchronized (monitor) {
                    monitor.wait();
                }
                break;
            case 2:
                new SynchronousQueue<Object>().take();
                break;
            case 3:
                lock.lockInterruptibly();
                break;
            default:
                while (!Thread.interrupted()) {
                    LockSupport.park(monitor);
                }
                return;
            }
            run.violated("wait " + kind + " ended without InterruptedException");
        } catch (InterruptedException expected) {
            if (Thread.currentThread().isInterrupted()) {
                run.violated("wait " + kind + " left the thread interrupted");
            }
        }
    }
}
