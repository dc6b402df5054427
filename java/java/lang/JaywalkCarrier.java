package java.lang;

/**
 * The platform thread that runs this: of a virtual thread its carrier. What is written to what a carrier owns needs no monitor, since a virtual thread leaves
 * its carrier where it waits alone, and nothing else comes between two instructions that do not.
 *
 * <p>Where there are carriers the agent writes the name of the method that asks for them into this class (room instrument, instrument_define.c): no compiler for
 * Java 8 knows the method. Known at the time of each call, and no later: it is asked again behind whatever may wait.
 */
final class JaywalkCarrier {
    private JaywalkCarrier() {
    }

    static Thread current() {
        return Thread.currentThread();
    }
}
