package io.jaywalk;

/**
 * Makes the claims of {@link JaywalkClaims}. The agent defines it in the boot loader; it is no class of package java.lang for the reason
 * that {@link ProbeEvents} is none.
 */
final class AtomicClaims extends JaywalkClaims {
    AtomicClaims() {
    }

    @Override
    protected native void reset(int session);

    @Override
    protected native int take(int session, int from, int count);

    @Override
    protected native void give(int session, int number);

    @Override
    protected native boolean grant(int most);

    @Override
    protected native void giveGrant();
}
