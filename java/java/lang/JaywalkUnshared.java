package java.lang;

/**
 * What one platform thread has to itself, and what runs on it: found by its number, and elsewhere where that place is taken, taken when nobody has it, and
 * given back when it ends. To take one is to wait, perhaps: a virtual thread may be on another carrier then, and has to ask again. The name stands behind those of what extends it, since the agent defines classes in the reversed order of their names.
 */
abstract class JaywalkUnshared {
    /** How many, one behind the other, a thread looks at. */
    static final int NEIGHBOURS = 4;

    /** Whose it is. Only that thread sets it to itself, and back. */
    Thread owner;

    /** Its own of these, of which there are a power of two, or one that nobody has; null: there is none. */
    static JaywalkUnshared ownedBy(Thread thread, JaywalkUnshared[] all) {
        final long number = JaywalkNumber.of(thread);

        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkUnshared one = all[JaywalkNumber.place(number, i) & (all.length - 1)];

            if (one.owner == thread) {
                return one;
            }
        }
        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkUnshared one = all[JaywalkNumber.place(number, i) & (all.length - 1)];

            if (one.owner == null && one.isTaken(thread)) {
                return one;
            }
        }
        return null;
    }

    /** The thread ends, on itself. */
    static void ended(Thread thread, JaywalkUnshared[] all) {
        final long number = JaywalkNumber.of(thread);

        for (int i = 0; i < NEIGHBOURS; i++) {
            final JaywalkUnshared one = all[JaywalkNumber.place(number, i) & (all.length - 1)];

            if (one.owner == thread) { // more than one, where virtual threads took them at the same time
                one.giveBack(thread);
            }
        }
    }

    private synchronized boolean isTaken(Thread thread) {
        if (owner != null) {
            return false;
        }
        prepare();
        owner = thread;
        return true;
    }

    private synchronized void giveBack(Thread thread) {
        if (owner == thread) {
            owner = null;
        }
    }

    /** Before somebody has it; with its monitor. */
    void prepare() {
    }
}
