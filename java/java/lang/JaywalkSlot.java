package java.lang;

/**
 * Where a thread is noted while it is inside of a handler, and what it has called. One attach has its own slots.
 *
 * <p>A platform thread owns the slot that it finds by its identity hash, and writes it with plain stores. Virtual threads, which
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

    /** Numbers of a handler in {@link #figures}; apart from those of other slots by what is left of a line of the cache. */
    static final int CALLS = 0, NESTED = 1, MEASURED_CALLS = 2, MEASURED_NS = 3, FIGURES = 4;

    private static final int PADDING = 8;

    /** Class of virtual threads; null where there are none. Set once, before there are handlers. */
    static Class<?> virtualThread;

    final boolean isShared;

    /** Whose it is. Only that thread sets it to itself, and back. */
    Thread owner;

    /** Owned: its owner is in a handler. */
    boolean isInside;

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
        figures = new long[handlers * FIGURES + PADDING];
        inside = isShared ? new Thread[4] : null;
    }

    /**
     * Before a handler is called. Between the note that the thread is inside and the look at `isAlive` stands no call and no loop,
     * and so no safepoint in compiled code; and behind the note nothing that could fail.
     *
     * @return what to leave by; null: it is not to be called
     */
    static JaywalkSlot enter(JaywalkHandler handler) {
        final Thread thread = Thread.currentThread();
        final JaywalkSlot slot = handler.owned[System.identityHashCode(thread) & (OWNED - 1)];

        return slot.owner == thread ? enterOwned(slot, handler) : enterElsewhere(handler, thread);
    }

    private static JaywalkSlot enterOwned(JaywalkSlot slot, JaywalkHandler handler) {
        final long[] figures = slot.figures;
        final int at = handler.figuresAt;

        if (slot.isInside) {
            figures[at + NESTED]++;
            return null;
        }

        final long calls = figures[at + CALLS];

        if ((calls & (MEASURED_EVERY - 1)) == 0 && (calls < MANY || (calls & (MEASURED_LATER_EVERY - 1)) == 0)) {
            slot.begunNs = System.nanoTime() | 1;
            slot.isSpecial = true;
        }
        slot.isInside = true;
        if (!handler.isAlive) {
            slot.isInside = false;
            slot.isSpecial = false;
            slot.begunNs = 0;
            return null;
        }
        figures[at + CALLS] = calls + 1;
        return slot;
    }

    private static JaywalkSlot enterElsewhere(JaywalkHandler handler, Thread thread) {
        final int hash = System.identityHashCode(thread);

        if (virtualThread == null || !virtualThread.isInstance(thread)) {
            for (int i = 1; i < NEIGHBOURS; i++) {
                final JaywalkSlot slot = handler.owned[hash + i & (OWNED - 1)];

                if (slot.owner == thread) {
                    return enterOwned(slot, handler);
                }
            }
            for (int i = 0; handler.isAlive && i < NEIGHBOURS; i++) {
                final JaywalkSlot slot = handler.owned[hash + i & (OWNED - 1)];

                if (slot.owner == null && slot.isTaken(thread)) {
                    return enterOwned(slot, handler);
                }
            }
        }
        return enterShared(handler.shared[hash & (SHARED - 1)], handler, thread);
    }

    private synchronized boolean isTaken(Thread thread) {
        if (owner != null) {
            return false;
        }
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
        return isShared ? insideCount : isInside ? 1 : 0;
    }

    /** The thread ends, on itself. */
    static void ended(JaywalkSlot[] owned, Thread thread) {
        final int hash = System.identityHashCode(thread);

        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkSlot slot = owned[hash + i & (OWNED - 1)];

            if (slot.owner == thread) {
                slot.giveBack();
                return;
            }
        }
    }

    private synchronized void giveBack() {
        isInside = false;
        isSpecial = false;
        begunNs = 0;
        owner = null;
    }
}
