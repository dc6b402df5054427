package java.lang;

import java.lang.invoke.MutableCallSite;

import jdk.internal.vm.annotation.Stable;

/** A handler of an attached probe, as the places that call it see it. Code of a call site that is linked to it has it as a constant, and what is stable of it, too. */
public final class JaywalkHandler {
    /** Set back once, and never again: whoever comes late finds it so, and not the next one's. */
    volatile boolean isAlive = true;

    /** Of the attach. */
    final JaywalkSlot[] owned;
    final JaywalkSlot[] shared;

    /** Of all slots that threads own, and how many each of them has. */
    @Stable
    final long[] words;
    @Stable
    final int stride;

    /** Which of its probe's. */
    final int number;

    /** Where its figures begin among the words of a slot. */
    @Stable
    final int callsAt;

    /** Which attach. Its places say so, too: code of an earlier one may still run. */
    @Stable
    final int attach;

    /** By which its places are told from those of others that are attached now; there are few, and they are used again. */
    final int place;

    /** What all its places call. */
    final MutableCallSite site;

    private final JaywalkProbe probe;

    /** Calls that could not be left in the books, for want of stack: those inside cannot be told any more. */
    int lost;

    /** How often a place was linked to it, and how often one of its number that is called otherwise: that does nothing. */
    int linked, missed;

    /** Calls or exceptions that came to nothing for want of stack. */
    int dropped;

    JaywalkHandler(JaywalkProbe probe, int number, int place, MutableCallSite site) {
        this.probe = probe;
        this.owned = probe.owned;
        this.shared = probe.shared;
        this.attach = probe.number;
        this.number = number;
        this.words = probe.words;
        this.stride = probe.stride;
        this.callsAt = JaywalkSlot.callsAt(number);
        this.place = place;
        this.site = site;
    }

    /** It let an exception out. The thread still counts as inside. */
    static void threw(JaywalkHandler handler, Throwable what) {
        handler.probe.threw(handler, what);
    }
}
