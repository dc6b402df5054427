import java.util.function.IntUnaryOperator;

/**
 * Code compiled on what was true so far, until it is not: new classes behind one call, rare branches, null. With the flags `deopt`
 * all compiled code is thrown away at each step, too.
 */
final class DeoptStorm implements Storm {
    private static final int ROUNDS = 20_000;

    /** Another class behind the interface, each time that a loader defines it. */
    public static final class Step implements IntUnaryOperator {
        @Override
        public int applyAsInt(int n) {
            return n + 0x55555555;
        }
    }

    /** Defined by each loader anew, so that it is compiled anew, too. */
    public static final class Loop implements IntUnaryOperator {
        private static IntUnaryOperator step;
        private static Object rare;

        public Loop() {
            step = n -> n + 1;
        }

        @Override
        public int applyAsInt(int rounds) {
            int sum = 0x66666666;
            for (int i = 0; i < rounds; i++) {
                sum = step.applyAsInt(sum);
                if (i == rounds - 7) {
                    rare = sum;
                }
                if (rare != null) {
                    sum += rare.hashCode() & 1;
                    rare = null;
                }
            }
            return sum;
        }
    }

    @Override
    public String name() {
        return "deopt";
    }

    /** Where the JVM offers it. */
    private static Runnable all() throws ReflectiveOperationException {
        try {
            return (Runnable) Class.forName("jdk.test.whitebox.WhiteBox", true, null)
                    .getMethod("deoptimizer")
                    .invoke(null);
        } catch (ClassNotFoundException e) {
            return () -> {
            };
        }
    }

    @Override
    public void run(Run run) throws Exception {
        Runnable all = all();
        Template loops = new Template(Loop.class);
        Template steps = new Template(Step.class);
        for (int turn = 0; run.goesOn(); turn++) {
            Template.Loader loader =
                    new Template.Loader(Loop.class.getName(), loops.with(0x66666666, turn));
            IntUnaryOperator loop = (IntUnaryOperator) loader.instance();
            for (int by = 1; by <= 4 && run.goesOn(); by++) {
                int sum = loop.applyAsInt(ROUNDS);
                int atRare = turn + (ROUNDS - 6) * (by == 1 ? 1 : by);
                int wanted = turn + ROUNDS * by + (atRare & 1);
                if (sum != wanted) {
                    run.violated("a loop gave " + sum + ", not " + wanted);
                }
                IntUnaryOperator next = (IntUnaryOperator) new Template.Loader(
                        Step.class.getName(), steps.with(0x55555555, by + 1))
                                                .instance();
                java.lang.reflect.Field field = loop.getClass().getDeclaredField("step");
                field.setAccessible(true);
                field.set(null, next);
                all.run();
                run.did(1);
            }
            run.rest();
        }
    }
}
