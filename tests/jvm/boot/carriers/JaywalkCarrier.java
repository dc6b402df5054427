package java.lang;

/** As the agent makes it where there are carriers. */
final class JaywalkCarrier {
    private JaywalkCarrier() {
    }

    static Thread current() {
        return Thread.currentCarrierThread();
    }
}
