import java.util.ArrayList;
import java.util.List;

/**
 * Locks that are taken a known number of times, by a known number of threads: each line of the output is what the census has to say of a method.
 * With "virtual" the threads of `shared` are virtual ones; with "deep" locks are taken until no stack is left, and are free afterwards, with "deep virtual" by a virtual thread, too.
 */
public class Census {
    private static final int ALONE = 20_000, SHARED = 5_000, THREADS = 4, RECURSION = 7;

    private static final Object ONE = new Object(), OTHER = new Object(), PLACE = new Object();
    private static long sum;
    private static boolean isTold;

    private static void never() {
        synchronized (OTHER) {
            sum++;
        }
    }

    private static void alone() {
        synchronized (ONE) {
            sum++;
        }
    }

    private static void shared() {
        synchronized (OTHER) {
            sum++;
        }
    }

    private synchronized void method() {
        sum++;
    }

    private static synchronized void classMethod() {
        sum++;
    }

    private synchronized int again(int times) {
        return times == 0 ? 0 : again(times - 1) + 1;
    }

    private static void nested() {
        synchronized (ONE) {
            synchronized (OTHER) {
                synchronized (ONE) {
                    sum++;
                }
            }
        }
    }

    private static void failing() {
        synchronized (PLACE) {
            throw new IllegalStateException();
        }
    }

    private synchronized void failingMethod() {
        throw new IllegalStateException();
    }

    private static void await() throws InterruptedException {
        synchronized (PLACE) {
            while (!isTold) {
                PLACE.wait();
            }
        }
    }

    private static void tell() {
        synchronized (PLACE) {
            isTold = true;
            PLACE.notifyAll();
        }
    }

    private static void held() throws InterruptedException {
        synchronized (ONE) {
            Thread.sleep(20);
        }
    }

    private static int deep(int depth) {
        synchronized (OTHER) {
            return deep(depth + 1) + 1;
        }
    }

    private static synchronized int deepMethod(int depth) {
        return deepMethod(depth + 1) + 1;
    }

    private static void expect(String method, long acquisitions, int threads) {
        System.out.println("expect " + method + " " + acquisitions + " " + threads);
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
        List<Thread> all = new ArrayList<>();

        for (int i = 0; i < THREADS; i++) {
            all.add(thread(isVirtual, () -> {
                for (int j = 0; j < SHARED; j++) {
                    shared();
                    classMethod();
                }
            }));
        }
        for (Thread one : all) {
            one.join();
        }
        expect("shared", THREADS * SHARED, isVirtual ? 2 : THREADS);
        expect("classMethod", THREADS * SHARED, isVirtual ? 2 : THREADS);
    }

    private static void overflow() throws Exception {
        for (int i = 0; i < 20; i++) {
            try {
                System.out.println(deep(0));
            } catch (StackOverflowError e) {
                sum++;
            }
            try {
                System.out.println(deepMethod(0));
            } catch (StackOverflowError e) {
                sum++;
            }
        }
        Thread other = thread(false, () -> {
            shared();
            classMethod();
        });
        other.join(20_000);
        System.out.println(other.isAlive() || Thread.holdsLock(OTHER) || Thread.holdsLock(Census.class) ? "held" : "free");
    }

    public static void main(String[] arguments) throws Exception {
        String mode = arguments.length == 0 ? "" : arguments[0];
        Census census = new Census();

        if (mode.equals("deep")) {
            overflow();
            if (arguments.length > 1) {
                thread(true, () -> {
                    try {
                        overflow();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }).join();
            }
            return;
        }
        if (mode.equals("never")) {
            never();
        }
        expect("never", 0, 0);
        for (int i = 0; i < ALONE; i++) {
            alone();
            census.method();
            nested();
        }
        expect("alone", ALONE, 1);
        expect("method", ALONE, 1);
        expect("nested", 3 * ALONE, 1);
        for (int i = 0; i < 100; i++) {
            census.again(RECURSION);
            try {
                failing();
            } catch (IllegalStateException e) {
                sum++;
            }
            try {
                census.failingMethod();
            } catch (IllegalStateException e) {
                sum++;
            }
        }
        expect("again", 100 * (RECURSION + 1), 1);
        expect("failing", 100, 1);
        expect("failingMethod", 100, 1);
        for (int i = 0; i < 5; i++) {
            held();
        }
        expect("held", 5, 1);
        Thread waiter = thread(false, () -> {
            try {
                await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        tell();
        waiter.join();
        expect("await", 1, 1);
        expect("tell", 1, 1);
        together(mode.equals("virtual"));
        System.out.println("ok");
    }
}
