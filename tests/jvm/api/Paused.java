package probed;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

/**
 * Has thirty classes, and holds up whoever has them written again in the midst of it, as long as a file is there.
 *
 * <p>Arguments: the file. It is its own agent. A line `running`, and then it waits to be ended.
 */
public final class Paused {
    private static final int PARTS = 30, HELD = 21;
    private static final List<Runnable> ALL = new ArrayList<>();

    private static volatile File held;
    private static int written;

    private Paused() {}

    /** What a probe is put into, once a loader. */
    public static class Part implements Runnable {
        private int count;

        @Override
        public void run() {
            count++;
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Paused.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
            if (!name.equals("probed.Paused$Part")) {
                return super.loadClass(name, isResolved);
            }
            try (InputStream in = Paused.class.getResourceAsStream("/probed/Paused$Part.class")) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                for (int one = in.read(); one >= 0; one = in.read()) {
                    out.write(one);
                }
                return defineClass(name, out.toByteArray(), 0, out.size());
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private static synchronized void hold() {
        if (++written % PARTS != HELD) {
            return;
        }
        while (held.exists()) {
            try {
                Thread.sleep(10);
            } catch (InterruptedException ended) {
                return;
            }
        }
    }

    /** As another agent, which is asked for each class that is written again. */
    public static void premain(String unused, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
                if (redefined != null && "probed/Paused$Part".equals(name)) {
                    hold();
                }
                return null;
            }
        }, true);
    }

    public static void main(String[] arguments) throws Exception {
        held = new File(arguments[0]);
        for (int i = 0; i < PARTS; i++) {
            ALL.add((Runnable) new Loader().loadClass("probed.Paused$Part").getConstructor().newInstance());
        }
        System.out.println("running");
        for (;;) {
            for (Runnable part : ALL) {
                part.run();
            }
            Thread.sleep(10);
        }
    }
}
