package io.jaywalk;

/**
 * Gives on what {@link JaywalkParks} is told. The agent defines it in the boot loader; it is no class of package java.lang for the reason
 * that {@link ProbeEvents} is none.
 */
final class ParkEvents extends JaywalkParks {
    ParkEvents() {
    }

    @Override
    protected native void enter(Thread thread, Object blocker, long time, boolean isUntil);

    @Override
    protected native void leave(Thread thread, Object blocker);
}
