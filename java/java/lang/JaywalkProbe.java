package java.lang;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;

/** One attach of a probe. All but {@link #threw} runs on the agent's thread. */
final class JaywalkProbe {
    /** Of each handler in {@link #figures}. */
    private static final int THROWS = JaywalkSlot.FIGURES, DROPPED = THROWS + 1, LINKED = DROPPED + 1, MISSED = LINKED + 1, FIGURES = MISSED + 1;

    final int number;
    final JaywalkSlot[] owned = new JaywalkSlot[JaywalkSlot.OWNED];
    final JaywalkSlot[] shared = new JaywalkSlot[JaywalkSlot.SHARED];
    final JaywalkHandler[] handlers;

    /** Of slots that threads own. */
    final long[] words;
    final int stride;

    private final int throwsLimit;
    private final int[] throwsOf;
    private int throwsCount;
    private String thrown;

    private JaywalkProbe(int number, MethodType[] types, int[] places, int throwsLimit) {
        this.number = number;
        this.throwsLimit = throwsLimit;
        throwsOf = new int[types.length];
        handlers = new JaywalkHandler[types.length];
        stride = JaywalkSlot.stride(types.length);
        words = new long[JaywalkSlot.OWNED * stride];
        for (int i = 0; i < owned.length; i++) {
            owned[i] = new JaywalkSlot(false, words, i * stride);
        }
        for (int i = 0; i < shared.length; i++) {
            shared[i] = new JaywalkSlot(true, new long[stride], 0);
        }
        for (int i = 0; i < types.length; i++) {
            final MutableCallSite site = new MutableCallSite(types[i]);

            site.setTarget(JaywalkDispatcher.nothing(types[i]));
            handlers[i] = new JaywalkHandler(this, i, places[i], site);
        }
    }

    /** Places may be linked from now on; they do nothing yet. `descriptors`: of places, with the number of the attach behind. */
    static JaywalkProbe open(int number, String[] descriptors, int[] places, int throwsLimit) {
        final MethodType[] types = new MethodType[descriptors.length];

        for (int i = 0; i < types.length; i++) {
            types[i] = MethodType.fromMethodDescriptorString(descriptors[i], null);
        }

        final JaywalkProbe probe = new JaywalkProbe(number, types, places, throwsLimit);

        JaywalkDispatcher.add(probe);
        return probe;
    }

    /** From now on all places of a handler call it. `type` is the class of its gate, made for the type of the handler. */
    void arrive(int handler, Class<?> type, JaywalkGate gate) throws ReflectiveOperationException {
        final MutableCallSite site = handlers[handler].site;
        final MethodHandle enter =
            MethodHandles.publicLookup().findStatic(type, "enter", site.type().insertParameterTypes(0, type));

        site.setTarget(enter.bindTo(gate));
    }

    /** No handler is entered by whoever looks from now on, also where there is no memory for the rest; those inside go on. */
    void end() {
        switchOff();

        final MutableCallSite[] sites = new MutableCallSite[handlers.length];
        for (int i = 0; i < sites.length; i++) {
            sites[i] = handlers[i].site;
            sites[i].setTarget(JaywalkDispatcher.nothing(sites[i].type()));
        }
        MutableCallSite.syncAll(sites);
    }

    private void switchOff() {
        for (JaywalkHandler handler : handlers) {
            handler.isAlive = false;
        }
    }

    /** How many threads are inside of handlers; less than 0: it cannot be told any more. */
    int insideCount() {
        int count = 0, lost = 0;

        for (JaywalkSlot slot : owned) {
            count += slot.insideCount();
        }
        for (JaywalkSlot slot : shared) {
            count += slot.insideCount();
        }
        for (JaywalkHandler handler : handlers) {
            lost += handler.lost;
        }
        return count != 0 && lost != 0 ? -count : count;
    }

    synchronized void threw(JaywalkHandler handler, Throwable what) {
        throwsOf[handler.number]++;
        throwsCount++;
        if (thrown == null) {
            thrown = what.getClass().getName();
        }
        if (throwsLimit > 0 && throwsCount >= throwsLimit) {
            switchOff();
        }
    }

    /** Class of the first exception; null: there was none. */
    synchronized String thrown() {
        return thrown;
    }

    /** By handler: calls, nested ones, measured ones and their nanoseconds, exceptions, dropped ones, places that were linked, and such as came to nothing. */
    synchronized long[] figures() {
        final long[] sums = new long[handlers.length * FIGURES];

        for (int i = 0; i < handlers.length; i++) {
            for (int j = 0; j < JaywalkSlot.FIGURES; j++) {
                for (JaywalkSlot slot : owned) {
                    sums[i * FIGURES + j] += slot.figure(i, j);
                }
                for (JaywalkSlot slot : shared) {
                    sums[i * FIGURES + j] += slot.figure(i, j);
                }
            }
            sums[i * FIGURES + THROWS] = throwsOf[i];
            sums[i * FIGURES + DROPPED] = handlers[i].dropped;
            sums[i * FIGURES + LINKED] = handlers[i].linked;
            sums[i * FIGURES + MISSED] = handlers[i].missed;
        }
        return sums;
    }

    /** Nobody is inside: places that are linked from now on do nothing, and nothing here holds the probe any more. */
    void close() {
        JaywalkDispatcher.remove(this);
    }
}
