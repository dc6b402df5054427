package probed;

import java.util.concurrent.CountDownLatch;

/** Probes are taken out while the class of their handlers is being initialised: by a thread of the program, which called one. */
public final class Births {
    /** What the initialiser does. */
    enum Way {
        /** Waits, and other threads with it. */
        WAITS,
        /** Has its own probe taken out, and waits. */
        ASKS,
        /** Waits, and throws: its class can never be used. */
        FAILS,
    }

    private static volatile Way way;
    private static volatile CountDownLatch gate;

    /** What was answered to the initialiser. */
    private static volatile String answered;

    private Births() {}

    /** The initialiser. */
    public static void begin() {
        if (way == Way.ASKS) {
            answered = Probed.refused("probe-detach,name=unborn");
        }
        try {
            gate.await();
        } catch (InterruptedException unexpected) {
            Probed.tell(unexpected.toString());
        }
        if (way == Way.FAILS) {
            throw new IllegalStateException("as the test wants it");
        }
    }

    private static void checkQuiesced(String said, int threads) {
        Probed.check(said.startsWith("quiesced unborn except " + threads + " threads") && said.contains("static initialiser"), said);
    }

    /** Threads that are in the initialiser, or wait for its end. */
    private static Thread[] call(int count) throws InterruptedException {
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> new Probed.Target().add(1, 2, "abc"));
            threads[i].start();
        }
        while (Probed.listed("entry", "calls") != count) {
            Thread.sleep(10);
        }
        return threads;
    }

    private static void round(Way of) throws Exception {
        Probed.Target target = new Probed.Target();
        long handled = Probed.HANDLED.get();
        way = of;
        answered = null;
        gate = new CountDownLatch(1);
        Probed.cycle++;
        Probed.attach("Unborn");
        Thread[] threads = call(of == Way.ASKS ? 1 : 3);
        while (of == Way.ASKS && answered == null) {
            Thread.sleep(10);
        }
        checkQuiesced(of == Way.ASKS ? answered : Probed.refused("probe-detach,name=unborn"), threads.length);
        checkQuiesced(Probed.refused("probe-detach,name=unborn"), threads.length);
        Probed.call(target, 100); /* who came later would wait for the initialiser */
        Probed.checkEqual(Probed.HANDLED.get(), handled, "handled before the class is there");
        String list = Probed.execute("probe-list");
        Probed.check(list.contains("\"state\":\"draining\""), list);
        gate.countDown();
        Probed.detach("unborn");
        Probed.oldest = Probed.cycle + 1;
        long when = Probed.HANDLED.get();
        Probed.checkEqual(when - handled, of == Way.FAILS ? 0 : threads.length, "handled by those that were inside");
        Probed.call(target, 100);
        for (Thread thread : threads) {
            thread.join();
        }
        Probed.checkEqual(Probed.HANDLED.get(), when, "handled after it was detached");
        Probed.checkEqual(Probed.LATE.get(), 0, "handlers after detach");
    }

    static void run() throws Exception {
        for (Way of : Way.values()) {
            round(of);
            Probed.checkEqual(Probed.collected(), 0, "classes and loaders of probes that were not collected");
        }
        way = Way.WAITS;
        Probed.cycle++;
        Probed.attach("Unborn");
        long handled = Probed.HANDLED.get();
        Probed.call(new Probed.Target(), 10);
        Probed.checkEqual(Probed.HANDLED.get() - handled, 20, "handled by the one that came again");
        Probed.detach("unborn");
    }
}
