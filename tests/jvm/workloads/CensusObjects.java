import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Objects whose locks are taken a known number of times: each line of the output is what is to be told of a method: how many objects, how often all of them, how many of them by one thread only,
 * how often the busiest and by how many threads, 3 for more. With "virtual" the threads are virtual ones.
 *
 * Objects are told apart by their hash: of two that have the same, which may be, one is expected.
 */
public class CensusObjects {
    private static final int THREADS = 4, EACH = 100, ALL = THREADS * EACH, MANY = 20_000, HOT = 24_000;

    /** Has a lock of each kind. */
    static class Account {
        private final ReentrantLock lock = new ReentrantLock();
        private final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
        private final StampedLock stamped = new StampedLock();
        private long sum;

        void hot() {
            synchronized (this) {
                sum++;
            }
        }

        void own() {
            synchronized (this) {
                sum++;
            }
        }

        synchronized void ownMethod() {
            sum++;
        }

        synchronized int again(int times) {
            return times == 1 ? 0 : again(times - 1);
        }

        static synchronized void ofClass() {
        }

        void latch() {
            lock.lock();
            try {
                sum++;
            } finally {
                lock.unlock();
            }
        }

        void any(Lock which) {
            which.lock();
            which.unlock();
        }

        void tried() {
            if (lock.tryLock()) {
                lock.unlock();
            }
        }

        void triedFor() throws InterruptedException {
            if (lock.tryLock(1, TimeUnit.MILLISECONDS)) {
                lock.unlock();
            }
        }

        void reading() {
            both.readLock().lock();
            both.readLock().unlock();
        }

        void stamped() throws InterruptedException {
            long stamp = stamped.tryWriteLock();
            if (stamp != 0) {
                stamped.unlockWrite(stamp);
            }
            stamp = stamped.tryReadLock(1, TimeUnit.MILLISECONDS);
            if (stamp != 0) {
                stamped.unlockRead(stamp);
            }
        }

        void failing() {
            synchronized (this) {
                throw new IllegalStateException();
            }
        }
    }

    interface Body {
        void run(int thread) throws Exception;
    }

    private static boolean isVirtual;

    private static void pair(Object lock) {
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    private static void many(Object lock) {
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    private static Thread thread(Runnable body) throws Exception {
        if (!isVirtual) {
            Thread thread = new Thread(body);

            thread.start();
            return thread;
        }
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    /** All at the same time, so that none has the hash of one that is gone. */
    private static void together(int count, Body body) throws Exception {
        CountDownLatch begun = new CountDownLatch(count);
        Thread[] all = new Thread[count];

        for (int i = 0; i < count; i++) {
            int number = i;
            all[i] = thread(() -> {
                try {
                    begun.countDown();
                    begun.await();
                    body.run(number);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }
        for (Thread one : all) {
            one.join();
        }
    }

    /** Of a place where each object was used by that thread, or by all where it is below 0. */
    private static void expect(String method, Object[] objects, long acquisitions, int each, long busiest, int threads) {
        Map<Integer, Set<Integer>> seen = new HashMap<>();
        int alone = 0;

        for (int i = 0; i < objects.length; i++) {
            seen.computeIfAbsent(System.identityHashCode(objects[i]), hash -> new HashSet<>()).add(each == 0 ? -1 : i / each);
        }
        for (Set<Integer> of : seen.values()) {
            alone += of.size() == 1 && !of.contains(-1) ? 1 : 0;
        }
        System.out.println("objects " + method + " " + seen.size() + " " + acquisitions + " " + alone + " " + (seen.size() == objects.length ? busiest : 0) + " " + threads);
    }

    private static Account[] accounts() {
        Account[] all = new Account[ALL];

        for (int i = 0; i < ALL; i++) {
            all[i] = new Account();
        }
        return all;
    }

    private static void oneIsHot() throws Exception {
        Account[] all = accounts();

        together(THREADS, thread -> {
            for (int i = 0; i < HOT; i++) {
                all[7].hot();
                if (i < 10 * ALL) {
                    all[i % ALL].hot();
                }
            }
        });
        expect("$Account.hot", all, THREADS * (10L * ALL + HOT), 0, THREADS * (10L + HOT), 3);
    }

    private static void eachOfOneThread() throws Exception {
        Account[] all = accounts();
        Object[] locks = new Object[ALL], reads = new Object[ALL], stamps = new Object[ALL];

        together(THREADS, thread -> {
            for (int i = thread * EACH; i < (thread + 1) * EACH; i++) {
                for (int j = 0; j < 25; j++) {
                    all[i].own();
                    all[i].ownMethod();
                    all[i].again(4);
                    Account.ofClass();
                    all[i].latch();
                    all[i].any(all[i].lock);
                    all[i].tried();
                    all[i].triedFor();
                    all[i].reading();
                    all[i].stamped();
                    try {
                        all[i].failing();
                    } catch (IllegalStateException e) {
                        all[i].sum++;
                    }
                }
            }
        });
        for (int i = 0; i < ALL; i++) {
            locks[i] = all[i].lock;
            reads[i] = all[i].both.readLock();
            stamps[i] = all[i].stamped;
        }
        for (String method : new String[] {"own", "ownMethod", "failing"}) {
            expect("$Account." + method, all, ALL * 25L, EACH, 25, 1);
        }
        expect("$Account.again", all, ALL * 100L, EACH, 100, 1);
        for (String method : new String[] {"latch", "any", "tried", "triedFor"}) {
            expect("$Account." + method, locks, ALL * 25L, EACH, 25, 1);
        }
        expect("$Account.reading", reads, ALL * 25L, EACH, 25, 1);
        expect("$Account.stamped", stamps, ALL * 25L, EACH, 25, 1); // each of two places
    }

    /** What was not taken is not counted. */
    private static void inVain() throws Exception {
        Account one = new Account();

        one.lock.lock();
        together(1, thread -> {
            one.tried();
            one.triedFor();
        });
        one.lock.unlock();
    }

    private static void twoThreads() throws Exception {
        Object[] all = new Object[10];

        for (int i = 0; i < all.length; i++) {
            all[i] = new Object();
        }
        together(2, thread -> {
            for (int i = 0; i < 1000; i++) {
                pair(all[i % all.length]);
            }
        });
        expect(".pair", all, 2000, 0, 200, 2);
    }

    /** More than a thread has rows for at first. */
    private static void manyObjects() throws Exception {
        Object[] all = new Object[MANY];

        for (int i = 0; i < all.length; i++) {
            all[i] = new Object();
        }
        together(2, thread -> {
            for (int i = thread * MANY / 2; i < (thread + 1) * MANY / 2; i++) {
                many(all[i]);
                many(all[i]);
            }
        });
        expect(".many", all, 2 * MANY, MANY / 2, 2, 1);
    }

    public static void main(String[] arguments) throws Exception {
        isVirtual = arguments.length > 0 && arguments[0].equals("virtual");
        inVain();
        oneIsHot();
        eachOfOneThread();
        twoThreads();
        manyObjects();
        System.out.println("ok");
    }
}
