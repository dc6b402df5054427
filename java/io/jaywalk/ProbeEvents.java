package io.jaywalk;

/**
 * What the methods of events call, whose calls the agent has put there. The agent defines it in the boot loader, where a native method of
 * a class of package java.lang could not be bound without a warning of the JVM's on standard output.
 */
public final class ProbeEvents {
    private ProbeEvents() {
    }

    /**
     * An event for the recording, if there is one. It never waits, and throws nothing.
     *
     * @param type number of its type
     * @param durationNs how long it took, up to now; -1: it has none
     */
    public static native void commit(int type, long durationNs, long n0, long n1, long n2, long n3, long n4, long n5, long n6,
            long n7, Object o0, Object o1, Object o2, Object o3, Object o4, Object o5, Object o6, Object o7);
}
