import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Garbage of every size, references of every strength, objects that fill regions of their own, and System.gc at times. */
final class GarbageStorm implements Storm {
    private static final int HELD = 64;
    private static final int GC_EVERY = 400;

    @Override
    public String name() {
        return "garbage";
    }

    @Override
    public void run(Run run) {
        Random random = run.random();
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        List<PhantomReference<Object>> phantoms = new ArrayList<>();
        ArrayDeque<byte[]> held = new ArrayDeque<>();
        List<SoftReference<byte[]>> soft = new ArrayList<>();
        List<WeakReference<byte[]>> weak = new ArrayList<>();
        for (long turn = 0; run.goesOn(); turn++) {
            boolean isHuge = random.nextInt(50) == 0;
            byte[] some = new byte[isHuge ? 1 << (20 + random.nextInt(2)) : 1 + random.nextInt(32 << 10)];
            for (int i = 0; i < some.length; i += 512) {
                if (some[i] != 0) {
                    run.violated("new memory is not zero");
                }
            }
            some[some.length / 2] = 1;
            held.add(some);
            if (held.size() > HELD * run.intensity()) {
                held.poll();
            }
            soft.add(new SoftReference<>(new byte[4096]));
            weak.add(new WeakReference<>(some));
            phantoms.add(new PhantomReference<>(new Object(), queue));
            while (queue.poll() != null) {
                run.did(1);
            }
            if (soft.size() > 2000) {
                soft.subList(0, 1000).clear();
            }
            if (weak.size() > 1000) {
                weak.clear();
                phantoms.clear();
            }
            if (turn % GC_EVERY == GC_EVERY - 1) {
                System.gc();
            }
            run.did(1);
            run.rest();
        }
    }
}
