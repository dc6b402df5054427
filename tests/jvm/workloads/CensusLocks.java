import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/**
 * Locks of java.util.concurrent that are taken a known number of times: each line of the output is what the census has to say of a method, and of
 * what kind its lock is.
 */
public class CensusLocks {
    private static final int ALONE = 20_000, THREADS = 4, EACH = 3_000;

    private static final ReentrantLock ONE = new ReentrantLock(), OTHER = new ReentrantLock();
    private static final Lock ANY = new ReentrantLock();
    private static final ReentrantReadWriteLock BOTH = new ReentrantReadWriteLock();
    private static final ReadWriteLock UNNAMED = BOTH;
    private static final Lock READ = UNNAMED.readLock();
    private static final StampedLock STAMPED = new StampedLock();

    private static long sum;

    private static void never() {
        ONE.lock();
        try {
            sum++;
        } finally {
            ONE.unlock();
        }
    }

    private static void alone() {
        ONE.lock();
        try {
            sum++;
        } finally {
            ONE.unlock();
        }
    }

    private static void again(int times) {
        ANY.lock();
        try {
            if (times > 1) {
                again(times - 1);
            }
        } finally {
            ANY.unlock();
        }
    }

    private static void failing() {
        ONE.lock();
        try {
            throw new IllegalStateException();
        } finally {
            ONE.unlock();
        }
    }

    private static void tried() {
        if (ONE.tryLock()) {
            try {
                sum++;
            } finally {
                ONE.unlock();
            }
        }
    }

    private static boolean triedFor() throws InterruptedException {
        boolean isTaken = ANY.tryLock(1, TimeUnit.MILLISECONDS);

        if (!isTaken) {
            return false;
        }
        try {
            sum++;
        } finally {
            ANY.unlock();
        }
        return true;
    }

    private static boolean inVain() {
        return ONE.tryLock();
    }

    private static void interruptibly() throws InterruptedException {
        ONE.lockInterruptibly();
        try {
            sum++;
        } finally {
            ONE.unlock();
        }
    }

    private static void interrupted() throws InterruptedException {
        ANY.lockInterruptibly();
        ANY.unlock();
    }

    private static void reading() {
        READ.lock();
        try {
            sum++;
        } finally {
            READ.unlock();
        }
    }

    private static void writing() {
        UNNAMED.writeLock().lock();
        try {
            sum++;
        } finally {
            UNNAMED.writeLock().unlock();
        }
    }

    private static void readingNamed() {
        BOTH.readLock().lock();
        try {
            sum++;
        } finally {
            BOTH.readLock().unlock();
        }
    }

    private static void either(Lock lock) {
        lock.lock();
        try {
            sum++;
        } finally {
            lock.unlock();
        }
    }

    private static void stampedRead() {
        long stamp = STAMPED.readLock();

        try {
            sum++;
        } finally {
            STAMPED.unlockRead(stamp);
        }
    }

    private static void stampedWrite() {
        long stamp = STAMPED.tryWriteLock();

        if (stamp != 0) {
            STAMPED.unlock(stamp);
        }
    }

    private static void stampedInVain() {
        if (STAMPED.tryReadLock() != 0) {
            throw new IllegalStateException();
        }
    }

    /** Given back by another method: it is counted, and not timed. */
    private static void open() {
        ONE.lock();
    }

    private static void close() {
        ONE.unlock();
    }

    /** Where it is given back is not told of, though it might be. */
    private static void openPerhaps(boolean isClosed) {
        ONE.lock();
        if (isClosed) {
            ONE.unlock();
        }
    }

    /** As openPerhaps, of virtual threads; which may end so. */
    private static void openVirtually(boolean isClosed) {
        OTHER.lock();
        if (isClosed) {
            OTHER.unlock();
        }
    }

    private static void closeVirtually() {
        OTHER.unlock();
    }

    private static void shared() {
        ANY.lock();
        try {
            sum++;
        } finally {
            ANY.unlock();
        }
    }

    private static void contended(boolean isFirst) throws InterruptedException {
        ONE.lock();
        try {
            while (isFirst && !ONE.hasQueuedThreads()) {
                Thread.sleep(1);
            }
            Thread.sleep(20);
        } finally {
            ONE.unlock();
        }
    }

    private static void expect(String method, long acquisitions, int threads, String kind) {
        System.out.println("expect " + method + " " + acquisitions + " " + threads + " " + kind);
    }

    private static Thread thread(boolean isVirtual, Runnable body) throws Exception {
        if (!isVirtual) {
            Thread thread = new Thread(body);

            thread.start();
            return thread;
        }
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
    }

    private static void together(boolean isVirtual) throws Exception {
        Thread[] all = new Thread[THREADS];

        for (int i = 0; i < THREADS; i++) {
            all[i] = thread(isVirtual, () -> {
                for (int j = 0; j < EACH; j++) {
                    shared();
                }
            });
        }
        for (Thread one : all) {
            one.join();
        }
        expect("shared", THREADS * EACH, isVirtual ? 2 : THREADS, "ReentrantLock");
    }

    private static void inVainAll() throws Exception {
        ONE.lock();
        long stamp = STAMPED.writeLock();
        Thread other = thread(false, () -> {
            if (inVain()) {
                throw new IllegalStateException();
            }
            stampedInVain();
            Thread.currentThread().interrupt();
            try {
                interrupted();
                throw new IllegalStateException();
            } catch (InterruptedException e) {
                sum++;
            }
        });

        other.join();
        STAMPED.unlockWrite(stamp);
        ONE.unlock();
        expect("inVainAll", 2, 1, "");
        expect("inVain", 0, 0, "ReentrantLock");
        expect("stampedInVain", 0, 0, "StampedLock read");
        expect("interrupted", 0, 0, "ReentrantLock");
    }

    /** Longer than holds are open before the agent looks for their methods, which it does every eight of its turns. */
    private static void untilLookedFor() {
        try {
            if (Profiler.isAsked()) {
                Profiler.awaitRotations(12);
            } else {
                Thread.sleep(12_000);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void virtuallyWithHoldsThatStay() {
        for (int i = 0; i < 10; i++) {
            openVirtually(false);
            closeVirtually();
        }
        untilLookedFor();
        for (int i = 0; i < 10; i++) {
            openVirtually(true);
        }
        openVirtually(false);
        closeVirtually();
    }

    private static void withHoldsThatStay(boolean areVirtual) throws Exception {
        Thread virtual = areVirtual ? thread(true, CensusLocks::virtuallyWithHoldsThatStay) : null;

        for (int i = 0; i < 10; i++) {
            openPerhaps(false);
            close();
        }
        untilLookedFor();
        for (int i = 0; i < 10; i++) {
            alone();
            openPerhaps(true);
        }
        if (areVirtual) {
            virtual.join();
        }
    }

    public static void main(String[] arguments) throws Exception {
        String mode = arguments.length == 0 ? "" : arguments[0];

        if (mode.equals("never")) {
            never();
        }
        if (mode.equals("stays")) {
            withHoldsThatStay(arguments.length > 1);
            System.out.println("ok");
            return;
        }
        expect("never", 0, 0, "ReentrantLock");
        for (int i = 0; i < ALONE; i++) {
            alone();
            tried();
            reading();
            writing();
        }
        expect("alone", ALONE, 1, "ReentrantLock");
        expect("tried", ALONE, 1, "ReentrantLock");
        expect("reading", ALONE, 1, "ReadLock");
        expect("writing", ALONE, 1, "WriteLock");
        for (int i = 0; i < 100; i++) {
            again(8);
            try {
                failing();
            } catch (IllegalStateException e) {
                sum++;
            }
            triedFor();
            interruptibly();
            readingNamed();
            either(ANY);
            either(READ);
            stampedRead();
            stampedWrite();
            open();
            close();
        }
        expect("again", 800, 1, "ReentrantLock");
        expect("failing", 100, 1, "ReentrantLock");
        expect("triedFor", 100, 1, "Lock");
        expect("interruptibly", 100, 1, "ReentrantLock");
        expect("readingNamed", 100, 1, "ReadLock");
        expect("either", 200, 1, "Lock");
        expect("stampedRead", 100, 1, "StampedLock read");
        expect("stampedWrite", 100, 1, "StampedLock write");
        expect("open", 100, 1, "ReentrantLock");
        inVainAll();
        Thread first = thread(false, () -> {
            try {
                contended(true);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        while (!ONE.isLocked()) {
            Thread.sleep(1);
        }
        contended(false);
        first.join();
        expect("contended", 2, 2, "ReentrantLock");
        together(mode.equals("virtual"));
        System.out.println("ok");
    }
}
