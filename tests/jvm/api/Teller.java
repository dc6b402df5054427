package told;

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

    private static void attach(String probe) {
        String said = jaywalk.execute("probe-attach,probe=" + folder + '/' + probe + ".class");
        if (!said.startsWith("attached told")) {
            throw new IllegalStateException(said);
        }
    }

    private static void detach() {
        System.out.println(jaywalk.execute("probe-list").trim());
        if (!jaywalk.execute("probe-detach,name=told").startsWith("detached told")) {
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

    /** All of it. */
    public static void main(String[] arguments) throws Exception {
        int times = Integer.parseInt(arguments[1]);
        folder = arguments[0];
        jaywalk = Jaywalk.get();
        sell(times); /* the class is there before the probe, and compiled */
        attach("Told");
        jaywalk.attribute("tenant").set("acme");
        sell(times);
        jaywalk.attribute("tenant").clear();
        sellOn(arguments[2].equals("virtual"), times);
        detach();
        sell(times);
        attach("ToldAnew");
        sell(times);
        detach();
        jaywalk.execute("stop");
        attach("Told");
        sell(times);
        detach();
        System.out.println("ok");
    }
}
