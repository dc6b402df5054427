/** Exceptions thrown and caught at every depth, by the program and by the JVM; each trace has the frames that it should. */
final class ExceptionStorm implements Storm {
    private static final Object[] THINGS = {null, "text", 1, new int[3]};

    private long entered;
    private long left;

    @Override
    public String name() {
        return "exceptions";
    }

    @Override
    public void run(Run run) {
        int base = new Throwable().getStackTrace().length;
        for (long turn = 0; run.goesOn(); turn++) {
            int depth = 1 + run.random().nextInt(200);
            try {
                throwing(depth);
                run.violated("an exception is lost");
            } catch (IllegalStateException e) {
                StackTraceElement[] trace = e.getStackTrace();
                if (trace.length != base + depth && base + depth < 1024) {
                    run.violated("a trace of " + trace.length + " frames, not " + (base + depth));
                }
                if (!trace[depth - 1].getMethodName().equals("throwing")
                        || !trace[depth].getMethodName().equals("run")) {
                    run.violated("a trace with " + trace[depth]);
                }
            }
            if (entered != left) {
                run.violated("entered " + entered + ", left " + left);
            }
            for (int i = 0; i < 200; i++) {
                implicit(run, (int) (turn + i) % 4);
            }
            run.did(1);
            if (turn % 16 == 0) {
                run.rest();
            }
        }
    }

    private void throwing(int depth) {
        entered++;
        try {
            if (depth == 1) {
                throw new IllegalStateException("as meant");
            }
            throwing(depth - 1);
        } finally {
            left++;
        }
    }

    /** What the JVM throws by itself, from compiled code by way of a signal. */
    private static void implicit(Run run, int kind) {
        Object thing = THINGS[kind];
        try {
            switch (kind) {
            case 0:
                run.violated("no exception, but " + thing.hashCode());
                break;
            case 1:
                run.violated("no exception, but " + (Integer) thing);
                break;
            case 2:
                run.violated("no exception, but " + 7 / ((Integer) thing - 1));
                break;
            default:
                run.violated("no exception, but " + ((int[]) thing)[kind]);
                break;
            }
        } catch (NullPointerException e) {
            checkKind(run, kind, 0);
        } catch (ClassCastException e) {
            checkKind(run, kind, 1);
        } catch (ArithmeticException e) {
            checkKind(run, kind, 2);
        } catch (ArrayIndexOutOfBoundsException e) {
            checkKind(run, kind, 3);
        }
    }

    private static void checkKind(Run run, int kind, int caught) {
        if (kind != caught) {
            run.violated("exception " + caught + " instead of " + kind);
        }
    }
}
