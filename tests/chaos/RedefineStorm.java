import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Two transformers give one class numbers of theirs, again and again, while other threads call it; a third agent's
 * redefinitions replace another class. Each call sees the effect of all that was done before it.
 */
final class RedefineStorm implements Storm {
    private static volatile boolean hasRun;

    private final AtomicInteger redefined = new AtomicInteger();
    private final AtomicInteger[] transformed = {new AtomicInteger(), new AtomicInteger()};

    /** Replaced by redefinition. */
    static final class Redefined {
        static int number() {
            int sum = 0x33333333;
            for (int i = 0; i < 100; i++) {
                sum += i % 3 - 1;
            }
            return sum + 1; // the loop leaves -1
        }
    }

    /** Goes through both transformers. */
    static final class Transformed {
        static int first() {
            return 0x11111111;
        }

        static int second() {
            return 0x22222222;
        }
    }

    /** Puts its number where the class has this constant. It is asked while other classes are loaded, and must load none itself, or threads wait for each other's. */
    private static final class Numbering implements ClassFileTransformer {
        private final Class<?> wanted;
        private final int constant;
        volatile int number;

        Numbering(Class<?> wanted, int constant) {
            this.wanted = wanted;
            this.constant = constant;
        }

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> type,
                ProtectionDomain domain, byte[] bytes) {
            return type == wanted ? Template.replaced(bytes, constant, number) : null;
        }
    }

    /** Some class was redefined in this JVM. */
    static boolean hasRun() {
        return hasRun;
    }

    @Override
    public String name() {
        return "redefine";
    }

    @Override
    public void run(Run run) throws Exception {
        Instrumentation instrumentation = ChaosAgent.instrumentation;
        if (instrumentation == null) {
            run.skipped("no -javaagent of ChaosAgent");
            return;
        }
        if (Platform.unloadsNothingOnceRedefined() && run.random().nextBoolean()) {
            run.skipped("another seed's turn: this JVM unloads no class once one was redefined");
            return;
        }
        hasRun = true;
        Template template = new Template(Redefined.class);
        Numbering[] numberings = {new Numbering(Transformed.class, 0x11111111), new Numbering(Transformed.class, 0x22222222)};
        for (Numbering numbering : numberings) {
            instrumentation.addTransformer(numbering, true);
        }
        transform(instrumentation, numberings, 1);
        redefine(instrumentation, template, 1);
        run.thread("redefine-callers", () -> {
            while (run.goesOn()) {
                call(run);
                run.did(1);
            }
        });
        for (int number = 2; run.goesOn(); number++) {
            long begunNs = System.nanoTime();
            transform(instrumentation, numberings, number);
            redefine(instrumentation, template, number);
            call(run);
            run.did(1);
            restUntil(run, 2 * System.nanoTime() - begunNs);
        }
    }

    /** As long as it took: both are safepoints, and between them concurrent collectors must get their work done. */
    private static void restUntil(Run run, long ns) {
        do {
            run.rest();
        } while (run.goesOn() && System.nanoTime() - ns < 0);
    }

    private void transform(Instrumentation instrumentation, Numbering[] numberings, int number)
            throws Exception {
        numberings[0].number = number;
        numberings[1].number = number;
        instrumentation.retransformClasses(Transformed.class);
        transformed[0].set(number);
        transformed[1].set(number);
    }

    private void redefine(Instrumentation instrumentation, Template template, int number)
            throws Exception {
        instrumentation.redefineClasses(
                new ClassDefinition(Redefined.class, template.with(0x33333333, number)));
        redefined.set(number);
    }

    private void call(Run run) {
        int least = redefined.get();
        int seen = Redefined.number();
        if (seen < least) {
            run.violated("redefinition " + least + " is lost, " + seen + " is called");
        }
        least = transformed[0].get();
        seen = Transformed.first();
        if (seen < least) {
            run.violated("transformation " + least + " is lost, " + seen + " is called");
        }
        least = transformed[1].get();
        seen = Transformed.second();
        if (seen < least) {
            run.violated("second transformation " + least + " is lost, " + seen + " is called");
        }
    }
}
