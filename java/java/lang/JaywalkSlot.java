package java.lang;

import jdk.internal.vm.annotation.DontInline;

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

    /** One of so many calls of a thread is measured, and of those behind the first many one of these. */
    private static final int MEASURED_EVERY = 64, MEASURED_LATER_EVERY = 1024;

    /** Calls of a thread whose time is known well enough by the many that were measured: two looks at the clock cost more than all the rest. */
    private static final int MANY = 1 << 16;

    /** Words of a slot. The first is its owner's number while that one is in no handler, else NONE: so one look says that it is the thread's, and that it is not inside. */
    private static final int OUTSIDE = 0, HEAD = 2;

    /** Of each handler, behind these: its calls, which of them is the next one whose time is taken, and what is told beside. */
    private static final int CALLS = 0, NEXT = 1, NESTED = 2, MEASURED_CALLS = 3, MEASURED_NS = 4, WORDS = 5;

    /** Calls, and those behind NEXT. */
    static final int FIGURES = 4;

    /** Behind them all: other slots are on other lines of the cache. */
    private static final int PADDING = 8;

    /** Class of virtual threads; null where there are none. Set once, before there are handlers. */
    static Class<?> virtualThread;

    final boolean isShared;

    /** Whose it is. Only that thread sets it to itself, and back. */
    Thread owner;

    /** That thread's number; NONE: it is nobody's. */
    long number = JaywalkNumber.NONE;

    /** When the call that is measured began; 0: it is not measured. */
    long begunNs;

    final long[] words;
    final int at;

    /** Shared: the threads that are in handlers. */
    private Thread[] inside;

    private int insideCount;

    /** Keeps what other threads write off the lines of the fields above. */
    long padding0, padding1, padding2, padding3, padding4, padding5, padding6, padding7;

    JaywalkSlot(boolean isShared, long[] words, int at) {
        this.isShared = isShared;
        this.words = words;
        this.at = at;
        words[at + OUTSIDE] = JaywalkNumber.NONE;
        inside = isShared ? new Thread[4] : null;
    }

    /** Words of a slot with that many handlers: whole lines of the cache, and what parts them from other ones. */
    static int stride(int handlers) {
        return HEAD + handlers * WORDS + 2 * PADDING - 1 & -PADDING;
    }

    static int callsAt(int handler) {
        return HEAD + handler * WORDS;
    }

    long figure(int handler, int which) {
        return words[at + callsAt(handler) + (which == 0 ? CALLS : NEXT + which)];
    }

    /**
     * Before a handler is called, where the gate has not found that there is no more to do than to note it: another slot than the first is the thread's, or none
     * yet, or one that many share; it is inside of a handler; or the call is measured. Between the note that the thread is inside and the look at `isAlive` stands
     * no call and no loop, and so no safepoint in compiled code; and behind the note nothing that could fail.
     *
     * @return what to leave by; null: it is not to be called
     */
    @DontInline
    static JaywalkSlot enter(JaywalkHandler handler) {
        final Thread thread = Thread.currentThread();
        final long number = JaywalkNumber.of(thread);

        if (number > 0 && (virtualThread == null || !virtualThread.isInstance(thread))) {
            for (int i = 0; i < NEIGHBOURS; i++) {
                final JaywalkSlot slot = handler.owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

                if (slot.owner == thread) {
                    return enterOwned(slot, handler);
                }
            }
            for (int i = 0; handler.isAlive && i < NEIGHBOURS; i++) {
                final JaywalkSlot slot = handler.owned[JaywalkNumber.place(number, i) & (OWNED - 1)];

                if (slot.owner == null && slot.isTaken(thread, number)) {
                    return enterOwned(slot, handler);
                }
            }
        }
        return enterShared(handler.shared[(int) number & (SHARED - 1)], handler, thread);
    }

    private static JaywalkSlot enterOwned(JaywalkSlot slot, JaywalkHandler handler) {
        final long[] words = slot.words;
        final int at = slot.at;
        final long calls = words[at + handler.callsAt];

        if (words[at + OUTSIDE] != slot.number) {
            words[at + handler.callsAt + NESTED]++;
            return null;
        }
        if (calls >= words[at + handler.callsAt + NEXT]) {
            words[at + handler.callsAt + NEXT] = calls + (calls < MANY ? MEASURED_EVERY : MEASURED_LATER_EVERY);
            slot.begunNs = System.nanoTime() | 1;
        }
        words[at + OUTSIDE] = JaywalkNumber.NONE;
        if (!handler.isAlive) {
            slot.begunNs = 0;
            words[at + OUTSIDE] = slot.number;
            return null;
        }
        words[at + handler.callsAt] = calls + 1;
        return slot;
    }

    private synchronized boolean isTaken(Thread thread, long number) {
        if (owner != null) {
            return false;
        }
        this.number = number;
        words[at + OUTSIDE] = number;
        owner = thread;
        return true;
    }

    private static JaywalkSlot enterShared(JaywalkSlot slot, JaywalkHandler handler, Thread thread) {
        synchronized (slot) {
            for (int i = 0; i < slot.insideCount; i++) {
                if (slot.inside[i] == thread) {
                    slot.words[handler.callsAt + NESTED]++;
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
            slot.words[handler.callsAt]++;
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
        slot.words[slot.at + handler.callsAt + MEASURED_NS] += System.nanoTime() - begunNs;
        slot.words[slot.at + handler.callsAt + MEASURED_CALLS]++;
    }

    /** How many threads are inside. */
    synchronized int insideCount() {
        return isShared ? insideCount : owner != null && words[at + OUTSIDE] != number ? 1 : 0;
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
        begunNs = 0;
        number = JaywalkNumber.NONE;
        words[at + OUTSIDE] = JaywalkNumber.NONE;
        owner = null;
    }
}
