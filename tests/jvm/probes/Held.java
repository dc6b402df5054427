package probes;

import io.jaywalk.Jaywalk;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;
import java.io.InputStream;

/** What a probe may have: state, a class beside it, a resource, the API. Without limits of its own. */
@Probe(rules = "include class name=Hot")
public class Held {
    /** Set where the class of the same name is that of the application. */
    public static final boolean IS_OF_APPLICATION = Boolean.getBoolean("probes.application") && Held.class.getClassLoader()
        == ClassLoader.getSystemClassLoader();

    private static Counter counter;

    static {
        counter = new Counter();
    }

    private Held() {}

    /** The handler. */
    @OnEntry
    public static void entered() {
        counter.count++;
    }

    /** For the test: all that it can reach. */
    public static String tell() throws Exception {
        try (InputStream in = Held.class.getResourceAsStream("held.txt")) {
            byte[] text = new byte[100];
            int length = in == null ? 0 : in.read(text);
            return counter.count + " " + new String(text, 0, length, "US-ASCII").trim() + " "
                + (Jaywalk.class.getClassLoader() == Held.class.getClassLoader()) + " " + Other.word();
        }
    }

    private static final class Counter {
        private int count;

        Counter() {}
    }
}

class Other {
    private Other() {}

    static String word() {
        return "other";
    }
}
