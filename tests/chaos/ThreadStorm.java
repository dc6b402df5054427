import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Threads that live for a moment, on small stacks, with names that nobody expects, some with a last exception. */
final class ThreadStorm implements Storm {
    // m13: the handler finds room on small stacks, too
    private static final int STACK_BYTES = 192 << 10;
    // m33: names that nobody expects
    private static final int BATCH = 8;
    private static final String[] NAMES = {"", "\"", "'\\", "a\0b", "\ud83d\ude00 astral \ud834\udd1e", "\ud800",
            "\udc00\ud800", "</script><b>", "\033]0;title\007", "%s%n%x", "\u2028\u2029\n\r\t", "a;b,c=d", "\uffff\ufffe",
            filled(5000, 'x'), filled(40000, '\u20ac')};

    private final AtomicLong ended = new AtomicLong();

    private static String filled(int length, char c) {
        char[] text = new char[length];
        Arrays.fill(text, c);
        return new String(text);
    }

    @Override
    public String name() {
        return "threads";
    }

    @Override
    public void run(Run run) throws Exception {
        long begun = 0;
        while (run.goesOn()) {
            List<Thread> batch = new ArrayList<>();
            for (int i = 0; i < BATCH * run.intensity(); i++) {
                String name = NAMES[run.random().nextInt(NAMES.length)];
                String later = NAMES[run.random().nextInt(NAMES.length)];
                int kind = run.random().nextInt(4);
                Thread thread = new Thread(null, () -> live(run, later, kind), name, STACK_BYTES);
                thread.setUncaughtExceptionHandler((who, what) -> {
                    if (!(what instanceof IllegalStateException)) {
                        run.violated("a thread ended with " + what);
                    }
                });
                thread.start();
                batch.add(thread);
            }
            begun += batch.size();
            for (Thread thread : batch) {
                thread.join();
            }
            // m32: threads end under signals
            if (ended.get() != begun) {
                run.violated(begun + " threads begun, " + ended.get() + " came to their end");
            }
            run.did(batch.size());
            run.rest();
        }
    }

    private void live(Run run, String later, int kind) {
        long sum = depth(kind == 0 ? 200 : 5);
        Thread.currentThread().setName(later);
        for (int i = 0; i < 20_000; i++) {
            sum = sum * 31 + i;
        }
        if (!Thread.currentThread().getName().equals(later)) {
            run.violated("a thread's name became another");
        }
        if (kind == 1) {
            run.rest();
        }
        ended.addAndGet(sum == 1 ? 1 : 1);
        if (kind == 2) {
            throw new IllegalStateException("as meant");
        }
    }

    private static long depth(int left) {
        return left == 0 ? 1 : depth(left - 1) + 1;
    }
}
