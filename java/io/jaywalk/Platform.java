package io.jaywalk;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;

/**
 * What newer Java versions have and JDK 8 has not. The handles are constants, so that the compiler sees through them.
 */
final class Platform {
    /** The JVM can have virtual threads. */
    static final boolean HAS_VIRTUAL;

    private static final MethodHandle RELEASE_FENCE;
    private static final MethodHandle IS_VIRTUAL;
    private static final MethodHandle THREAD_ID;

    static {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        MethodHandle isVirtual = null;
        MethodHandle threadId = null;
        try {
            isVirtual = lookup.findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
            threadId = lookup.findVirtual(Thread.class, "threadId", MethodType.methodType(long.class));
        } catch (ReflectiveOperationException older) {
            isVirtual = null;
        }
        HAS_VIRTUAL = isVirtual != null;
        IS_VIRTUAL = isVirtual;
        THREAD_ID = threadId;
        RELEASE_FENCE = findFence(lookup);
    }

    private Platform() {}

    private static MethodHandle findFence(MethodHandles.Lookup lookup) {
        MethodType type = MethodType.methodType(void.class);
        try {
            return lookup.findStatic(Class.forName("java.lang.invoke.VarHandle"), "releaseFence", type);
        } catch (ReflectiveOperationException older) {
            return findFenceOf8(lookup, type);
        }
    }

    /** JDK 8 has its fences in a class that later versions warn about, and that is touched there alone. */
    private static MethodHandle findFenceOf8(MethodHandles.Lookup lookup, MethodType type) {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field field = unsafe.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return lookup.findVirtual(unsafe, "storeFence", type).bindTo(field.get(null));
        } catch (ReflectiveOperationException missing) {
            throw new JaywalkException("this JVM has neither VarHandle nor Unsafe fences; jaywalk needs HotSpot", missing);
        }
    }

    /** Whatever was read or written before comes before what is written after. */
    static void releaseFence() {
        try {
            RELEASE_FENCE.invokeExact();
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    static boolean isVirtual(Thread thread) {
        if (!HAS_VIRTUAL) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Only where {@link #HAS_VIRTUAL}: earlier, an application can override what a thread says of its number. */
    static long threadId(Thread thread) {
        try {
            return (long) THREAD_ID.invokeExact(thread);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
