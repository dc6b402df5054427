package io.jaywalk;

/**
 * Gives on what {@link JaywalkTimer} finds worth telling. The agent defines it in the boot loader; it is no class of package java.lang
 * for the reason that {@link ProbeEvents} is none.
 */
final class MethodEvents extends JaywalkTimer {
    MethodEvents() {
    }

    @Override
    protected native void tell(int site, long ns);
}
