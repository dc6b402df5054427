package io.jaywalk;

/**
 * Gives on what {@link JaywalkThrows} tells. The agent defines it in the boot loader; it is no class of package java.lang for the reason
 * that {@link ProbeEvents} is none.
 */
final class ThrowEvents extends JaywalkThrows {
    ThrowEvents() {
    }

    @Override
    protected native boolean isWanted(Class<?> type);

    @Override
    protected native void tell(Class<?> type, long count);
}
