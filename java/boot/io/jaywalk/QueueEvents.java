package io.jaywalk;

/**
 * Gives on what {@link JaywalkQueues} is told. The agent defines it in the boot loader; it is no class of package java.lang for the reason
 * that {@link ProbeEvents} is none.
 */
final class QueueEvents extends JaywalkQueues {
    QueueEvents() {
    }

    @Override
    protected native void submit(Thread thread, int executorNumber, int taskNumber);

    @Override
    protected native void take(Thread thread, Object executor, Object task, int executorNumber, int taskNumber);

    @Override
    protected native void end(Thread thread);

    @Override
    protected native Object first(Object worker);

    @Override
    protected native void forget(int executorNumber, int taskNumber);
}
