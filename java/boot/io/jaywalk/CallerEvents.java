package io.jaywalk;

/**
 * Gives on what {@link JaywalkCallers} tells. The agent defines it in the boot loader; it is no class of package java.lang for the reason
 * that {@link ProbeEvents} is none.
 */
final class CallerEvents extends JaywalkCallers {
    CallerEvents() {
    }

    @Override
    protected native boolean isOfJdk(int site);

    @Override
    protected native void tell(int site, long weight);
}
