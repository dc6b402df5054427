import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Many objects of one class, each waited for by a thread of its own name, so that who waited says for which: "hot" sixty times, "cold-N" once, "gone-N" once, and then that object is garbage. The collector moves what stays meanwhile.
 * With "reentrant" they are locks of java.util.concurrent; with "virtual" who waits is a virtual thread. Each such thread waits in Object.wait first. It says when that is over, and ends once there is a file, or after two minutes.
 */
public class Accounts {
    private static final int HOT_TIMES = 60, COLD = 39, GONE = 50, TURNS_OF_COLLECTOR = 20;

    private static final class Account {
        final ReentrantLock latch = new ReentrantLock();
    }

    private static final Account[] ACCOUNTS = new Account[COLD + 1];
    private static boolean isReentrant, isVirtual;
    private static volatile int turn, done, waits;
    private static volatile Object made;
    private static volatile Path task;

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void want(Account account) {
        if (isReentrant) {
            account.latch.lock();
            account.latch.unlock();
            return;
        }
        synchronized (account) {
            made = account;
        }
        made = null;
    }

    private static void await(Account account) {
        synchronized (account) {
            try {
                account.wait(1);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void victim(Account account, int times) {
        try {
            task = Paths.get("/proc").resolve(Files.readSymbolicLink(Paths.get("/proc/thread-self"))).resolve("stat");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        await(account);
        done = 0;
        for (int i = 0; i < times; i++) {
            while (turn <= i) {
                pause(1);
            }
            want(account);
            done = i + 1;
        }
    }

    /** Whether it stands still in the kernel, too: between what it says of itself and its wait it may be kept from running for long. */
    private static boolean isAsleep() throws IOException {
        String stat = new String(Files.readAllBytes(task), StandardCharsets.ISO_8859_1);

        return stat.charAt(stat.lastIndexOf(')') + 2) == 'S';
    }

    private static void untilItWaits(Thread victim) throws IOException {
        int still = 0;

        while (still < 3) { // three times in a row; a virtual thread is said to wait when it does
            boolean waits = victim.getState() == (isReentrant ? Thread.State.WAITING : Thread.State.BLOCKED);

            Thread.yield();
            still = waits && (isVirtual || isAsleep()) ? still + 1 : 0;
        }
        pause(1);
    }

    private static void hold(Account account, Thread victim, int number) throws IOException {
        if (isReentrant) {
            account.latch.lock();
            turn = number;
            untilItWaits(victim);
            account.latch.unlock();
            return;
        }
        synchronized (account) {
            turn = number;
            untilItWaits(victim);
        }
    }

    private static Thread start(String name, Runnable body) throws Exception {
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

    /** What stays among what is garbage is moved. */
    private static void collect() {
        List<byte[]> junk = new ArrayList<>();

        for (int i = 0; i < 500; i++) {
            junk.add(new byte[500]);
        }
        made = junk;
        made = null;
        System.gc();
    }

    private static void contend(String name, Account account, int times) throws Exception {
        turn = 0;
        done = -1;
        Thread victim = start(name, () -> victim(account, times));
        while (done < 0) {
            pause(1);
        }
        for (int i = 1; i <= times; i++) {
            hold(account, victim, i);
            while (done < i) {
                pause(1);
            }
            if (++waits % TURNS_OF_COLLECTOR == 0) {
                collect();
            }
        }
        victim.join();
    }

    /** FILE [reentrant] [virtual]. */
    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + 120_000_000_000L;

        isReentrant = Arrays.asList(args).contains("reentrant");
        isVirtual = Arrays.asList(args).contains("virtual");
        for (int i = 0; i <= COLD; i++) {
            ACCOUNTS[i] = new Account();
        }
        for (int i = 0; i < GONE; i++) {
            contend("gone-" + i, new Account(), 1);
            if (i < COLD) {
                contend("cold-" + i, ACCOUNTS[i + 1], 1);
            }
            contend("hot", ACCOUNTS[0], i < HOT_TIMES - GONE ? 2 : 1);
        }
        System.out.println("through");
        while (!new File(args[0]).exists() && System.nanoTime() < end) {
            collect();
            pause(20);
        }
        made = ACCOUNTS;
    }
}
