import java.util.function.IntUnaryOperator;

/** Classes whose methods are compiled, called for a while and thrown away, so that the code cache is never at rest. */
final class CodeStorm implements Storm {
    private static final int KEPT = 48;
    private static final int CALLS = 60;

    /** Defined by each loader anew, with its own number. */
    public static final class Compiled implements IntUnaryOperator {
        @Override
        public int applyAsInt(int n) {
            int sum = 0x44444444;
            for (int i = 0; i < 40; i++) {
                sum = even(i) ? add(sum, n) : mix(sum, i);
            }
            return sum;
        }

        private static boolean even(int i) {
            return (i & 1) == 0;
        }

        private static int add(int a, int b) {
            return a + b * 17;
        }

        private static int mix(int a, int b) {
            return (a << 5 | a >>> 27) ^ b;
        }
    }

    /** The same, by other code. */
    private static int expected(int number, int n) {
        int sum = number;
        for (int i = 0; i < 40; i += 2) {
            sum += n * 17;
            sum = Integer.rotateLeft(sum, 5) ^ (i + 1);
        }
        return sum;
    }

    @Override
    public String name() {
        return "code";
    }

    @Override
    public void run(Run run) throws Exception {
        Template template = new Template(Compiled.class);
        IntUnaryOperator[] kept = new IntUnaryOperator[KEPT * run.intensity()];
        int[] numbers = new int[kept.length];
        for (int turn = 0; run.goesOn(); turn++) {
            int at = turn % kept.length;
            numbers[at] = turn;
            // m02, m18: compiled code goes while it is walked
            kept[at] = (IntUnaryOperator) new Template.Loader(Compiled.class.getName(),
                    template.with(0x44444444, turn))
                               .instance();
            for (int i = 0; i < kept.length && kept[i] != null; i++) {
                for (int n = 0; n < CALLS; n++) {
                    int result = kept[i].applyAsInt(n);
                    if (result != expected(numbers[i], n)) {
                        run.violated("compiled code gave " + result);
                    }
                }
            }
            run.did(1);
            run.rest();
        }
    }
}
