import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/** Objects that nobody but a profiler could still hold. */
final class Collected {
    private static final int MAX_PCT = 5;
    private static final int CYCLES = 40;

    private final List<WeakReference<Object>> references = new ArrayList<>();
    private long all;

    synchronized void add(Object object) {
        references.add(new WeakReference<>(object));
        all++;
        if (references.size() % 4096 == 0) {
            forget();
        }
    }

    private void forget() {
        references.removeIf(reference -> reference.get() == null);
    }

    // m22: of all that were thrown away, at most so many percent are held by somebody
    synchronized void check(Run run, String what) throws InterruptedException {
        for (int i = 0; i < CYCLES; i++) {
            System.gc();
            run.did(0);
            forget();
            if (references.size() * 100L <= all * MAX_PCT) {
                return;
            }
            Thread.sleep(100);
        }
        run.violated(references.size() + " of " + all + " " + what + " are still held");
    }
}
