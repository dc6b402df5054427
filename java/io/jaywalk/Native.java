package io.jaywalk;

import java.nio.ByteBuffer;

/**
 * The functions of libjaywalk.so, of src/agent/natives.c. Texts are UTF-8 in both directions. Where nothing else is said they
 * throw nothing but what a lack of memory throws, and {@link UnsatisfiedLinkError} while the library is not there.
 */
final class Native {
    /** What both sides must agree on; grows when a function or the layout of a slot changes. */
    static final int INTERFACE = 2;

    private Native() {}

    /** {@link #INTERFACE} of the library. */
    static native int interfaceNumber();

    /**
     * All slots. {@link JaywalkException}: there is no memory for them, or they have another layout.
     *
     * @param slotBytes size of a slot
     * @param recordOffset of the record of OTEP 4947 in it
     * @param attributesBytes room for attributes
     */
    static native ByteBuffer open(int slotBytes, int recordOffset, int attributesBytes);

    static native byte[] version();

    /** The slot of the calling thread; negative: there is none left. */
    static native int bind(Thread thread, boolean isVirtual);

    /** Likewise; negative: it has none. */
    static native int find(Thread thread);

    static native void unbind(int slot, long owner);

    /** Number of an attribute. {@link JaywalkException}: the name is bad, or there are too many. */
    static native int attribute(byte[] name);

    /** {@code operation} may be null. */
    static native boolean endpoint(long rootSpanId, byte[] name, byte[] operation, int slot);

    static native boolean span(byte[] name, long beginNs, long endNs, int slot);

    /** The calling thread is one of those that the program chose, or is no more. */
    static native boolean thread(boolean isAdded);

    static native boolean isActive();

    /** What the agent says to a command. Its first byte is 1 when it was refused, and 0 else. */
    static native byte[] execute(byte[] command);
}
