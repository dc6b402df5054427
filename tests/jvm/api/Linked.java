package probed;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What becomes of places: such as were not reached, such as were, and such as do nothing. */
public final class Linked {
    /** Of the handler. */
    public static final AtomicLong RETURNED = new AtomicLong();

    /** Numbers of places that there may be. */
    private static final int PLACES = 64;

    private Linked() {}

    /** Is left when the probe has gone. */
    static final class Stays {
        private final CountDownLatch isIn = new CountDownLatch(1), gate = new CountDownLatch(1);

        int stay(int number) {
            isIn.countDown();
            try {
                gate.await();
            } catch (InterruptedException unexpected) {
                Probed.tell(unexpected.toString());
            }
            return number > 0 ? number : 0;
        }
    }

    /** Of this JVM, as the list ends with it. */
    private static long missed() {
        Matcher matcher = Pattern.compile("\"missed\":(\\d+)\\}\\s*$").matcher(Probed.execute("probe-list"));
        Probed.check(matcher.find(), "the list does not end with places that were missed");
        return Long.parseLong(matcher.group(1));
    }

    /** What it says of probes is made anew a few times a second. */
    private static void says(String text) throws InterruptedException {
        String status = Probed.execute("status");
        for (int i = 0; i < 1000 && !status.contains(text); i++) {
            Thread.sleep(50);
            status = Probed.execute("status");
        }
        Probed.check(status.contains(text), "status does not say: " + text + ": " + status);
    }

    /** A thread is in a method of a probe when that goes, and reaches its place afterwards. */
    private static void leaveLate(int places) throws Exception {
        long before = missed();
        Stays stays = new Stays();
        Probed.attach("Returning");
        Thread thread = new Thread(() -> Probed.checkEqual(stays.stay(7), 7, "another result"));
        thread.start();
        stays.isIn.await();
        Probed.checkEqual(Probed.listed("return", "calls"), 0, "returns of a method that is not left");
        says("returned (return): never called yet, from 1 places in 1 methods");
        Probed.detach("returning");
        stays.gate.countDown();
        thread.join();
        Probed.checkEqual(RETURNED.get(), 0, "handled after it was detached");
        Probed.checkEqual(missed(), before + places, "places that were reached too late");
    }

    static void run() throws Exception {
        boolean areStatic = System.getProperty("java.version").startsWith("1.8");
        Probed.call(new Probed.Target(), 10);
        Probed.attach("Watch");
        for (String place : new String[] {"entry", "return", "throw"}) {
            Probed.checkEqual(Probed.listed(place, "linked"), 0, "linked at " + place);
        }
        says("entered (entry): never called yet, from 1 places in 1 methods");
        new Probed.Target().add(1, 2, "abc");
        Probed.checkEqual(Probed.listed("entry", "calls"), 1, "entries");
        Probed.checkEqual(Probed.listed("entry", "linked"), areStatic ? 0 : 1, "linked at entries");
        Probed.checkEqual(Probed.listed("throw", "linked"), 0, "linked at exceptions");
        Probed.checkEqual(missed(), 0, "missed");

        /* Places that are nobody's, or are called otherwise than their handler. */
        Method link = Class.forName("java.lang.JaywalkDispatcher")
            .getMethod("link", MethodHandles.Lookup.class, String.class, MethodType.class, int.class);
        for (int place = 0; place < PLACES; place++) {
            CallSite site = (CallSite) link.invoke(null, MethodHandles.publicLookup(), "probe", MethodType.methodType(void.class), place);
            Probed.check(site.type().equals(MethodType.methodType(void.class)), "a site of another type");
        }
        Probed.checkEqual(missed(), PLACES, "missed");
        for (String place : new String[] {"entry", "return", "throw"}) {
            Probed.checkEqual(Probed.listed(place, "missed"), 1, "missed at " + place);
        }
        Probed.checkEqual(Probed.listed("entry", "linked"), areStatic ? 0 : 1, "linked at entries");
        Probed.checkEqual(Probed.HANDLED.get(), 2, "handled");
        Probed.detach("watch");
        leaveLate(areStatic ? 0 : 1);
        Probed.attach("Watch"); /* what is said by status is said anew */
        says((PLACES + (areStatic ? 0 : 1)) + " places of probes do nothing");
        Probed.detach("watch");
        Probed.check(Probed.wrong == null, Probed.wrong);
    }
}
