import java.util.ArrayList;
import java.util.List;

/**
 * A program that has loaded many classes and goes on working. Prints "loaded", then at its end the
 * longest time in which its busy thread did not get on.
 *
 *     java ManyClasses CLASSES SECONDS
 */
final class ManyClasses {
    private static final class Loader extends ClassLoader {
        Loader() {
            super(ManyClasses.class.getClassLoader());
        }

        Class<?> define(int number) {
            byte[] bytes = ClassBytes.of("C" + number, "m" + number, ClassBytes.lineOf(number));
            return defineClass("C" + number, bytes, 0, bytes.length);
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        List<Object> kept = new ArrayList<>();
        Loader loader = new Loader();
        for (int i = 0; i < count; i++) {
            kept.add(loader.define(i).getDeclaredConstructor().newInstance());
        }
        System.out.println("loaded");

        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9);
        long lastNs = System.nanoTime();
        long longestNs = 0;
        while (lastNs < endNs) {
            long nowNs = System.nanoTime();
            longestNs = Math.max(longestNs, nowNs - lastNs);
            lastNs = nowNs;
        }
        System.out.println("longest pause " + longestNs / 1000 + " us, " + kept.size() + " classes");
    }
}
