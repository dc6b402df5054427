package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Where a thread is noted while it is inside of a handler, and what it has called. One attach has its own slots.
 *
 * <p>A platform thread owns the slot that it finds by its number, and writes it with plain stores. Virtual threads, which
 * may change carriers inside of a handler, and threads whose slots are taken share others, under the slot's monitor.
 *
 * <p>Everything here may be reached from any method of the program: no call into code that could itself be probed, no allocation
 * but that of arrays.
 */
final class JaywalkSlot {
    /** Slots of an attach that threads own; a power of two. */
    static final int OWNED = 512;

    /** Slots that are shared; a power of two. */
    static final int SHARED = 64;

    /** How many slots, one behind the other, a thread looks at. */
    private static final int NEIGHBOURS = 4;

    /** One of so many calls of a thread is measured, and of those behind the first many one of these; powers of two. */
    private static final int MEASURED_EVERY = 64, MEASURED_LATER_EVERY = 1024;

    /** Calls of a thread whose time is known well enough by the many that were measured: two looks at the clock cost more than all the rest. */
    private static final int MANY = 1 << 16;

    /** Numbers of a handler in {@link #figures}; apart from those of other slots by what is left of a line of the cache, behind and before. */
    static final int CALLS = 0, NESTED = 1, MEASURED_CALLS = 2, MEASURED_NS = 3, FIGURES = 4;

    private static final int PADDING = 8, PADDING_BEFORE = 4;

    /** Class of virtual threads; null where there are none. Set once, before there are handlers. */
    static Class<?> virtualThread;

    final boolean isShared;

    /** Whose it is. Only that thread sets it to itself, and back. */
    Thread owner;

    /** That thread's number; NONE: it is nobody's. */
    long number = JaywalkNumber.NONE;

    /** Owned: `number` while its owner is in no handler; else NONE. So one look says that it is the thread's, and that it is not inside. */
    long outside = JaywalkNumber.NONE;

    /** Shared, or the call is measured: there is more to do when it is left than to say so. */
    boolean isSpecial;

    /** When the call that is measured began; 0: it is not measured. */
    long begunNs;

    /** By handler, {@link #FIGURES} each. */
    final long[] figures;

    /** Shared: the threads that are in handlers. */
    private Thread[] inside;

    private int insideCount;

    /** Keeps what other threads write off the lines of the fields above. */
    long padding0, padding1, padding2, padding3, padding4, padding5, padding6, padding7;

    JaywalkSlot(boolean isShared, int handlers) {
        this.isShared = isShared;
        isSpecial = isShared;
        figures = new long[figuresAt(handlers) + PADDING];
        inside = isShared ? new Thread[4] : null;
    }

    static int figuresAt(int handler) {
        return PADDING_BEFORE + handler * FIGURES;
    }

    /**
     * Before a handler is called. Between the note that the thread is inside and the look at `isAlive` stands no call and no loop,
     * and so no safepoint in compiled code; and behind the note nothing that could fail.
     *
     * @return what to leave by; null: it is not to be called
     */
    @ForceInline
    static JaywalkSlot enter(JaywalkHandler handler) {
        final Thread thread = Thread.currentThread();
        final long number = JaywalkNumber.of(thread);
        final JaywalkSlot slot = handler.owned[(int) number & (OWNED - 1)];

        return slot.outside == number ? enterOwned(slot, handler, number) : enterElsewhere(handler, thread, number);
    }

    @ForceInline
    private static JaywalkSlot enterOwned(JaywalkSlot slot, JaywalkHandler handler, long number) {
        final long[] figures = slot.figures;
        final int at = handler.figuresAt;
        final long calls = figures[at + CALLS];

        if ((calls & (MEASURED_EVERY - 1)) == 0) {
            measure(slot, calls);
        }
        slot.outside = JaywalkNumber.NONE;
        if (!handler.isAlive) {
            slot.isSpecial = false;
            slot.begunNs = 0;
            slot.outside = number;
            return null;
        }
        figures[at + CALLS] = calls + 1;
        return slot;
    }

    /** Perhaps this call's time is taken. */
    @DontInline
    private static void measure(JaywalkSlot slot, long calls) {
        if (calls < MANY || (calls & (MEASURED_LATER_EVERY - 1)) == 0) {
            slot.begunNs = System.nanoTime() | 1;
            slot.isSpecial = true;
        }
    }

    /** It owns another one, or none yet, or is inside of this one. */
    @DontInline
    private static JaywalkSlot enterElsewhere(JaywalkHandler handler, Thread thread, long number) {
        if (number > 0 && (virtualThread == null || !virtualThread.isInstance(thread))) {
            for (int i = 0; i < NEIGHBOURS; i++) {
                final JaywalkSlot slot = handler.owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

                if (slot.owner == thread) {
                    return enterOwnedElsewhere(slot, handler, number);
                }
            }
            for (int i = 0; handler.isAlive && i < NEIGHBOURS; i++) {
                final JaywalkSlot slot = handler.owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

                if (slot.owner == null && slot.isTaken(thread, number)) {
                    return enterOwned(slot, handler, number);
                }
            }
        }
        return enterShared(handler.shared[(int) number & (SHARED - 1)], handler, thread);
    }

    private static JaywalkSlot enterOwnedElsewhere(JaywalkSlot slot, JaywalkHandler handler, long number) {
        if (slot.outside != number) {
            slot.figures[handler.figuresAt + NESTED]++;
            return null;
        }
        return enterOwned(slot, handler, number);
    }

    private synchronized boolean isTaken(Thread thread, long number) {
        if (owner != null) {
            return false;
        }
        this.number = number;
        outside = number;
        owner = thread;
        return true;
    }

    private static JaywalkSlot enterShared(JaywalkSlot slot, JaywalkHandler handler, Thread thread) {
        synchronized (slot) {
            for (int i = 0; i < slot.insideCount; i++) {
                if (slot.inside[i] == thread) {
                    slot.figures[handler.figuresAt + NESTED]++;
                    return null;
                }
            }
            if (!handler.isAlive) {
                return null;
            }
            if (slot.insideCount == slot.inside.length) {
                final Thread[] more = new Thread[slot.insideCount * 2];

                for (int i = 0; i < slot.insideCount; i++) {
                    more[i] = slot.inside[i];
                }
                slot.inside = more;
            }
            slot.inside[slot.insideCount++] = thread;
            slot.figures[handler.figuresAt + CALLS]++;
        }
        return slot;
    }

    @DontInline
    static void leaveShared(JaywalkSlot slot) {
        final Thread thread = Thread.currentThread();

        synchronized (slot) {
            for (int i = 0; i < slot.insideCount; i++) {
                if (slot.inside[i] == thread) {
                    slot.inside[i] = slot.inside[--slot.insideCount];
                    slot.inside[slot.insideCount] = null;
                    return;
                }
            }
        }
    }

    /** The handler came back from a call that may be measured. Whoever leaves it takes that back, also where this fails. */
    @DontInline
    static void measured(JaywalkSlot slot, JaywalkHandler handler) {
        final long begunNs = slot.begunNs;

        if (begunNs == 0) {
            return;
        }
        slot.figures[handler.figuresAt + MEASURED_NS] += System.nanoTime() - begunNs;
        slot.figures[handler.figuresAt + MEASURED_CALLS]++;
    }

    /** How many threads are inside. */
    synchronized int insideCount() {
        return isShared ? insideCount : owner != null && outside != number ? 1 : 0;
    }

    /** The thread ends, on itself. */
    static void ended(JaywalkSlot[] owned, Thread thread) {
        final long number = JaywalkNumber.of(thread);

        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkSlot slot = owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

            if (slot.owner == thread) {
                slot.giveBack();
                return;
            }
        }
    }

    private synchronized void giveBack() {
        isSpecial = false;
        begunNs = 0;
        outside = number = JaywalkNumber.NONE;
        owner = null;
    }
}
