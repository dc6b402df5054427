package java.lang;

/**
 * What one of many threads has, without waiting for another one: numbers that are claimed by an atomic instruction of the agent's, since Java has none behind
 * which no code of the program could stand. Claims are of a session, whose number is above 0: who comes late, from an earlier one, changes nothing.
 */
public abstract class JaywalkClaims {
    /** Set once, before there are places. */
    private static JaywalkClaims maker;

    protected JaywalkClaims() {
    }

    /** Before the first place; by the agent. */
    static void open(JaywalkClaims by) {
        maker = by;
    }

    /** All are free; claims of that session are made from now on. */
    static void begin(int session) {
        if (maker != null) {
            maker.reset(session);
        }
    }

    static int dropped() {
        return 0;
    }

    /** The first that is free of so many from that one on; below 0: none is. */
    static int claim(int session, int from, int count) {
        return maker == null ? -1 : maker.take(session, from, count);
    }

    /** Who gives back what he has not got, or of session 0, does nothing. */
    static void giveBack(int session, int number) {
        if (maker != null) {
            maker.give(session, number);
        }
    }

    /** One more of something of which there may be so many at the most. */
    static boolean isGranted(int most) {
        return maker != null && maker.grant(most);
    }

    static void giveGrantBack() {
        if (maker != null) {
            maker.giveGrant();
        }
    }

    protected abstract void reset(int session);

    protected abstract int take(int session, int from, int count);

    protected abstract void give(int session, int number);

    protected abstract boolean grant(int most);

    protected abstract void giveGrant();
}
