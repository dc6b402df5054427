package traced;

import io.jaywalk.Jaywalk;
import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * Methods that are timed, counted and traced while one file follows another, and by one session after another; calls that begin in one and end in the next.
 *
 * <p>Argument: the folder of the recordings. A line `turns FILES CALLS`: how many files there were of the first session, and how many calls of
 * `tiny`; then `ok`.
 */
public final class Turns {
    private static final int TURNS = 3, BURST = 2000, BEFORE_DUMP = 321;

    private static volatile int sink;

    private Turns() {
    }

    static int tiny(int number) {
        return number + 1;
    }

    static void hold(CountDownLatch end) {
        await(end);
    }

    static void late(CountDownLatch begun, CountDownLatch end) {
        begun.countDown();
        await(end);
    }

    static int other(int number) {
        return number + 2;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void burst(int calls) {
        for (int i = 0; i < calls; i++) {
            sink += tiny(i);
        }
    }

    /** With the one that is being written. */
    private static int filesIn(String folder) {
        int count = 0;

        while (new File(folder, "turn-" + count + ".jfr").exists()) {
            count++;
        }
        return count;
    }

    private static void turns(Jaywalk jaywalk, String folder) throws Exception {
        final CountDownLatch end = new CountDownLatch(1);
        final Thread holder = new Thread(() -> hold(end), "holder");
        long calls = 0;

        jaywalk.execute("start,event=cpu,time=traced.Turns.tiny,time=traced.Turns.hold,count=traced.Turns.tiny,trace=traced.Turns.hold:1ms,loop=1s,file=" + folder + "/turn-%n.jfr");
        holder.start();
        while (filesIn(folder) <= TURNS) {
            burst(BURST);
            calls += BURST;
            Thread.sleep(1);
        }
        jaywalk.execute("probe-list"); // is answered when the last file is open and written to
        end.countDown();
        holder.join();
        jaywalk.execute("stop");
        System.out.println("turns " + filesIn(folder) + " " + calls);
        System.out.println(jaywalk.execute("metrics"));
    }

    private static void dump(Jaywalk jaywalk, String folder) throws Exception {
        jaywalk.execute("start,event=cpu,time=traced.Turns.tiny,count=traced.Turns.tiny,file=" + folder + "/whole.jfr");
        burst(BEFORE_DUMP);
        jaywalk.execute("dump,file=" + folder + "/dump.jfr");
        jaywalk.execute("stop");
    }

    private static void stale(Jaywalk jaywalk, String folder) throws Exception {
        final CountDownLatch begun = new CountDownLatch(1), end = new CountDownLatch(1);
        final Thread thread = new Thread(() -> late(begun, end), "late");

        jaywalk.execute("start,event=cpu,time=traced.Turns.late,file=" + folder + "/late.jfr");
        thread.start();
        begun.await();
        jaywalk.execute("stop");
        jaywalk.execute("start,event=cpu,time=traced.Turns.other,file=" + folder + "/other.jfr");
        end.countDown();
        thread.join();
        sink += other(1) + other(2) + other(3);
        jaywalk.execute("stop");
    }

    public static void main(String[] arguments) throws Exception {
        final Jaywalk jaywalk = Jaywalk.get();

        turns(jaywalk, arguments[0]);
        dump(jaywalk, arguments[0]);
        stale(jaywalk, arguments[0]);
        try {
            jaywalk.execute("start,event=cpu,time=traced.Turns.tiny,file=" + arguments[0] + "/own.jfr");
            jaywalk.execute("probe-detach,name=time");
            System.out.println("a user took out what is of the session");
        } catch (RuntimeException expected) {
            System.out.println(expected.getMessage());
        }
        jaywalk.execute("stop");
        System.out.println("ok");
    }
}
