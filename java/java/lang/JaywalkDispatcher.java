package java.lang;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Where instructions that probes put into methods are linked. The agent defines this class in the boot loader: package java.lang
 * is the one that every loader and every module sees. It knows nothing of the agent, and says nothing to anyone.
 */
public final class JaywalkDispatcher {
    private static final JaywalkProbe[] NONE = {};

    /** Replaced as a whole. */
    private static volatile JaywalkProbe[] probes = NONE;

    /** Places that were linked where no handler was that is theirs: they do nothing, for good. */
    private static int missed;

    static {
        /* What primitive values at places are boxed by is there before the first place: it would else be loaded from within the loading of a class. */
        Byte.valueOf((byte) 0);
        Character.valueOf('0');
        Short.valueOf((short) 0);
        Integer.valueOf(0);
        Long.valueOf(0);
    }

    private JaywalkDispatcher() {
    }

    /** What stands in a place whose probe is not there yet, or is there no more. */
    public static void nothing() {
    }

    static MethodHandle nothing(MethodType type) {
        try {
            final MethodHandle nothing = MethodHandles.publicLookup().findStatic(
                JaywalkDispatcher.class, "nothing", MethodType.methodType(void.class));

            return MethodHandles.dropArguments(nothing, 0, type.parameterList());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Bootstrap of every place: all places of one handler get the same call site, so that one change reaches all of them.
     *
     * @param caller unused: nothing is looked up on behalf of the program
     * @param name unused
     * @param type of the handler, its references erased, and the number of the attach behind
     * @param place which handler, among those that are attached: the same numbers again and again, as a class that is written again
     *     keeps all constants that it ever had
     * @return the handler's, or one that does nothing
     */
    public static CallSite link(MethodHandles.Lookup caller, String name, MethodType type, int place) {
        JaywalkHandler other = null;

        for (JaywalkProbe probe : probes) {
            for (JaywalkHandler handler : probe.handlers) {
                if (handler.place != place) {
                    continue;
                }
                if (handler.site.type().equals(type)) {
                    note(handler, true);
                    return handler.site;
                }
                other = handler;
            }
        }
        note(other, false);
        return new ConstantCallSite(nothing(type));
    }

    /** `handler`: whose place it is, or null. */
    private static synchronized void note(JaywalkHandler handler, boolean isFound) {
        if (isFound) {
            handler.linked++;
            return;
        }
        missed++;
        if (handler != null) {
            handler.missed++;
        }
    }

    static synchronized int missed() {
        return missed;
    }

    static synchronized void add(JaywalkProbe probe) {
        final JaywalkProbe[] more = new JaywalkProbe[probes.length + 1];

        System.arraycopy(probes, 0, more, 0, probes.length);
        more[probes.length] = probe;
        probes = more;
    }

    static synchronized void remove(JaywalkProbe probe) {
        final JaywalkProbe[] all = probes;
        int at = 0;

        while (at < all.length && all[at] != probe) {
            at++;
        }
        if (at == all.length) {
            return;
        }

        final JaywalkProbe[] rest = new JaywalkProbe[all.length - 1];

        System.arraycopy(all, 0, rest, 0, at);
        System.arraycopy(all, at + 1, rest, at, rest.length - at);
        probes = rest;
    }

    /** The calling thread ends: nothing here keeps it. */
    static void ended() {
        final Thread thread = Thread.currentThread();

        JaywalkTimes.ended(thread);
        JaywalkCounts.ended(thread);
        JaywalkCalls.ended(thread);
        JaywalkNews.ended(thread);
        JaywalkThrows.ended(thread);
        for (JaywalkProbe probe : probes) {
            JaywalkSlot.ended(probe.owned, thread);
        }
        JaywalkLocks.ended(thread);
        JaywalkObjects.ended(thread);
    }
}
