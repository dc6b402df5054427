/** Something that has broken a profiler once, done again and again for as long as the run goes on. */
interface Storm {
    /** In lower case, one word; what --storms names, and the first word of its lines. */
    String name();

    /** Whether it runs only where --storms names it: it changes what others rely on. */
    default boolean isOnlyByName() {
        return false;
    }

    /** On a thread of its own, until the run goes on no more. What it throws is a violation. */
    void run(Run run) throws Exception;

    /** After all storms ended: what must hold then. */
    default void check(Run run) throws Exception {
    }
}
