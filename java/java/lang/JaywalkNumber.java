package java.lang;

import jdk.internal.vm.annotation.ForceInline;

/**
 * The number of a thread, which no other one has had: what it owns is found by that. It is read as the field that it is: the method that tells it may be the
 * program's own before JDK 19, and be probed later. An identity hash takes some instructions more, and a call of the JVM where somebody waits for the thread to end.
 */
final class JaywalkNumber {
    /** Of nobody: a thread that is being made is 0. */
    static final long NONE = -1;

    private static final JaywalkFields FIELDS = JaywalkFields.getUnsafe();
    private static final long AT = offset();

    private JaywalkNumber() {
    }

    /** Source: OpenJDK 8 to 28, java.lang.Thread. */
    private static long offset() {
        try {
            return FIELDS.objectFieldOffset(Thread.class.getDeclaredField("tid"));
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException("threads of this JVM have no number that is known", e);
        }
    }

    @ForceInline
    static long of(Thread thread) {
        return FIELDS.getLong(thread, AT);
    }

    /** By the agent's thread, before anything is found by a number: it is known how, and that it is right. */
    static void prepare() {
        final Thread thread = Thread.currentThread();

        if (of(thread) != thread.getId()) {
            throw new IllegalStateException("threads of this JVM have another number than is known");
        }
    }

    /**
     * Where to look for what a thread owns: at first at its number, so that threads that began one behind the other are not in each other's way; then elsewhere, since these may go on
     * for long, and others find no room beside each other there.
     */
    static int place(long number, int which) {
        return which == 0 ? (int) number : (int) (number * 0x9e3779b97f4a7c15L >>> 40) + which;
    }
}
