package told;

import io.jaywalk.Context;
import io.jaywalk.Jaywalk;

/**
 * Sells while probes tell of it: so often with the probe Told, on this thread and, where there are any, on virtual ones; then without a
 * probe, then with the probe ToldAnew; then while nothing is recorded.
 *
 * <p>Arguments: the folder of compiled probes, how often. A line for each list of probes, and `ok`.
 */
public final class Teller {
    private Teller() {}

    private static Jaywalk jaywalk;
    private static String folder;

    private static void attach(String probe, String name) {
        String said = jaywalk.execute("probe-attach,probe=" + folder + '/' + probe + ".class");
        if (!said.startsWith("attached " + name)) {
            throw new IllegalStateException(said);
        }
    }

    private static void detach(String name) {
        System.out.println(jaywalk.execute("probe-list").trim());
        if (!jaywalk.execute("probe-detach,name=" + name).startsWith("detached " + name)) {
            throw new IllegalStateException("not detached");
        }
    }

    private static void sell(int times) {
        Till till = new Till();
        for (int i = 0; i < times; i++) {
            try {
                till.sell(i % 5, i % 5 == 2 ? null : "customer " + i % 3 + " \u00e4\u20ac\ud83d\ude00");
            } catch (IllegalStateException four) {
                /* As it must. */
            }
        }
    }

    private static void sellOn(boolean isVirtual, int times) throws Exception {
        Thread thread = new Thread(() -> sell(times), "seller");
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            builder = type.getMethod("name", String.class).invoke(builder, "virtual seller");
            thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, (Runnable) () -> sell(times));
        }
        thread.start();
        thread.join();
    }

    /** Who calls, and what for: from a method, from a method handle and by reflection, and as the first of a thread. */
    private static void ask(int times, boolean isVirtual) throws Throwable {
        attach("Asked", "asked");
        Till till = new Till();
        java.util.ArrayDeque<String> names = new java.util.ArrayDeque<>();
        jaywalk.endpoint(9, "GET /till/\u00e4");
        try (Context context = jaywalk.context(0xa1L, 0xb2L, 7, 9)) {
            for (int i = 0; i < times; i++) {
                till.sell(1, "direct");
                names.addFirst("a");
            }
            Till.class.getMethod("sell", int.class, String.class).invoke(till, 2, "reflected");
            java.lang.invoke.MethodHandles.lookup().unreflect(Till.class.getMethod("sell", int.class, String.class)).invoke(till, 3, "handle");
        }
        till.sell(5, "for nothing");
        Runnable inThread = () -> {
            try (Context context = jaywalk.context(0, 0, 8, 10)) {
                till.sell(6, "in a thread");
            }
        };
        Thread thread = isVirtual ? (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, inThread) : new Thread(inThread);
        if (!isVirtual) {
            thread.start();
        }
        thread.join();
        detach("asked");
    }

    /** All of it. */
    public static void main(String[] arguments) throws Throwable {
        int times = Integer.parseInt(arguments[1]);
        folder = arguments[0];
        jaywalk = Jaywalk.get();
        sell(times); /* the class is there before the probe, and compiled */
        attach("Told", "told");
        jaywalk.attribute("tenant").set("acme");
        sell(times);
        jaywalk.attribute("tenant").clear();
        sellOn(arguments[2].equals("virtual"), times);
        detach("told");
        sell(times);
        attach("ToldAnew", "told");
        sell(times);
        detach("told");
        ask(times, arguments[2].equals("virtual"));
        jaywalk.execute("stop");
        attach("Told", "told");
        sell(times);
        detach("told");
        System.out.println("ok");
    }
}
