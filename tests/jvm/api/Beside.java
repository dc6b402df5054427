package probed;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/** A probe that stays, in the same methods as one that comes and goes: not one call of it is lost, and none is counted twice. */
public final class Beside {
    private static final AtomicLong ENTERED = new AtomicLong(), RETURNED = new AtomicLong(), THROWN = new AtomicLong();

    /** Threads that wait in a handler of the one that stays. */
    private static final AtomicLong WAITING = new AtomicLong();

    /** Where those wait that add this number. */
    private static final int WAITS = 4711;

    private static volatile CountDownLatch gate;

    /** Whether those who call all the time are to end. */
    private static volatile boolean isOver;

    /** Calls that came back, and that threw, by what their callers say. */
    private static long returns, exceptions;

    private Beside() {}

    /** Of the handler. */
    public static void entered(int number) {
        ENTERED.incrementAndGet();
        CountDownLatch latch = gate;
        if (number == WAITS && latch != null) {
            WAITING.incrementAndGet();
            try {
                latch.await();
            } catch (InterruptedException unexpected) {
                Probed.tell(unexpected.toString());
            }
            WAITING.decrementAndGet();
        }
    }

    /** Of the handler. */
    public static void returned(int sum, int number) {
        if (sum != number + 5) {
            Probed.tell("returned " + sum + " of " + number);
        }
        RETURNED.incrementAndGet();
    }

    /** Of the handler. */
    public static void thrown(Throwable exception) {
        if (!"below".equals(exception.getMessage())) {
            Probed.tell("thrown " + exception);
        }
        THROWN.incrementAndGet();
    }

    private static synchronized void called(long came, long threw) {
        returns += came;
        exceptions += threw;
    }

    /** Nobody calls: what was called was handled, once each, and is listed so. */
    private static void checkCounts(String when) {
        long came, threw;
        synchronized (Beside.class) {
            came = returns;
            threw = exceptions;
        }
        Probed.checkEqual(ENTERED.get(), came + threw, "entries " + when);
        Probed.checkEqual(RETURNED.get(), came, "returns " + when);
        Probed.checkEqual(THROWN.get(), threw, "exceptions " + when);
        String list = Probed.execute("probe-list");
        Probed.check(list.startsWith("{\"schema\":\"jaywalk.probes/1\",\"probes\":[{\"name\":\"permanent\",") && !list.contains("watch"), list);
        Probed.checkEqual(Probed.listed("entry", "calls"), came + threw, "listed entries " + when);
        Probed.checkEqual(Probed.listed("return", "calls"), came, "listed returns " + when);
        Probed.checkEqual(Probed.listed("throw", "calls"), threw, "listed exceptions " + when);
        Probed.check(Probed.wrong == null, Probed.wrong);
    }

    private static List<Thread> begin(int count, Runnable what) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(what);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    private static void end(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void load() {
        Probed.Target target = new Probed.Target();
        long rounds = 0;
        while (!isOver) {
            Probed.call(target, 10);
            rounds += 10;
        }
        called(rounds, rounds);
    }

    private static void add(int number) {
        Probed.check(new Probed.Target().add(number, 2, "abc") == number + 5, "another result");
        called(1, 0);
    }

    private static void awaitEqual(AtomicLong what, long value) throws InterruptedException {
        while (what.get() != value) {
            Thread.sleep(1);
        }
    }

    /** The other one comes and goes while the methods are called. */
    private static void cycle() throws InterruptedException {
        isOver = false;
        List<Thread> threads = begin(2, Beside::load);
        long before = Probed.HANDLED.get();
        Probed.attach("Watch");
        while (Probed.HANDLED.get() < before + 50) {
            Thread.yield();
        }
        Probed.detach("watch");
        long now = ENTERED.get();
        while (ENTERED.get() < now + 50) { /* of code that was written back, too */
            Thread.yield();
        }
        isOver = true;
        end(threads);
    }

    /** The other one is taken out while threads are in its handler: calls of others go on, and theirs when they have come out. */
    private static void otherBlocks() throws InterruptedException {
        long before = Probed.HANDLED.get();
        Probed.gate = new CountDownLatch(1);
        Probed.attach("Watch");
        List<Thread> threads = begin(3, () -> add(1));
        awaitEqual(Probed.INSIDE, 3);
        String said = Probed.refused("probe-detach,name=watch");
        Probed.check(said.startsWith("quiesced watch except 3 threads"), said);
        Probed.checkEqual(Probed.HANDLED.get(), before + 3, "handled by the other one");
        Probed.call(new Probed.Target(), 100);
        called(100, 100);
        Probed.checkEqual(Probed.HANDLED.get(), before + 3, "handled by the other one, which is on its way out");
        Probed.gate.countDown();
        Probed.gate = null;
        end(threads);
        Probed.detach("watch");
        Probed.checkEqual(Probed.HANDLED.get(), before + 3, "handled by the other one at last");
    }

    /** Threads are in a handler of the one that stays: the other one comes and goes, and nobody waits for those. */
    private static void permanentBlocks() throws InterruptedException {
        gate = new CountDownLatch(1);
        List<Thread> threads = begin(3, () -> add(WAITS));
        awaitEqual(WAITING, 3);
        long before = Probed.HANDLED.get();
        Probed.attach("Watch");
        Probed.call(new Probed.Target(), 100);
        called(100, 100);
        Probed.checkEqual(Probed.HANDLED.get(), before + 400, "handled by the other one");
        String said = Probed.execute("probe-detach,name=watch");
        Probed.check(said.startsWith("detached watch"), said);
        Probed.checkEqual(WAITING.get(), 3, "threads in the handler of the one that stays");
        gate.countDown();
        gate = null;
        end(threads);
        /* Their methods began before the other one came, and have no call of it. */
        Probed.checkEqual(Probed.HANDLED.get(), before + 400, "handled by the other one at last");
    }

    static void run(int count) throws Exception {
        Probed.call(new Probed.Target(), 10);
        Probed.attach("Permanent");
        for (int i = 1; i <= count; i++) {
            Probed.cycle = i;
            cycle();
            checkCounts("in cycle " + i);
        }
        for (int i = 1; i <= 3; i++) {
            otherBlocks();
            checkCounts("where the other one blocks");
            permanentBlocks();
            checkCounts("where the one that stays blocks");
        }
        Probed.detach("permanent");
        long before = ENTERED.get();
        Probed.call(new Probed.Target(), 100);
        Probed.checkEqual(ENTERED.get(), before, "entries after detach");
        Probed.checkEqual(Probed.collected(), 0, "classes and loaders of probes that were not collected");
        System.out.println("beside: " + before + " entries");
    }
}
