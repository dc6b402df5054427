package io.jaywalk;

/**
 * Gives on what {@link JaywalkRoutes} is told. The agent defines it in the boot loader; it is no class of package java.lang for the reason
 * that {@link ProbeEvents} is none.
 */
final class RouteEvents extends JaywalkRoutes {
    RouteEvents() {
    }

    @Override
    protected native int enter(Thread thread, Object given, Object read, int site, boolean isTold);

    @Override
    protected native void poll(Thread thread, Object given, boolean isTold);

    @Override
    protected native void start(Thread thread, Object given, int site);

    @Override
    protected native void match(Thread thread, Object by, Object given, int match);

    @Override
    protected native void leave(Thread thread, Object given, int entered, int site, int end, boolean isTold);
}
