package io.jaywalk;

/**
 * Gives on what {@link JaywalkIo} finds worth telling. The agent defines it in the boot loader; it is no class of package java.lang
 * for the reason that {@link ProbeEvents} is none.
 */
final class IoEvents extends JaywalkIo {
    IoEvents() {
    }

    @Override
    protected native void tell(Object of, int site, long bytes, long ns);
}
