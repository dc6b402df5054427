package io.jaywalk;

/** Gives on what {@link JaywalkForks} is told, as {@link QueueEvents} does. */
final class ForkEvents extends JaywalkForks {
    ForkEvents() {
    }

    @Override
    protected native void submit(Thread thread, int poolNumber, int taskNumber);

    @Override
    protected native void take(Thread thread, Object task, int taskNumber);

    @Override
    protected native void end(Thread thread);

    @Override
    protected native void forget(int taskNumber);
}
