import java.util.List;
import java.util.Map;

/**
 * The conservation law in every chunk: of each jaywalk.Conservation event the terms add up, and are what lies in
 * the chunk before it, counted here event by event. So it holds to the last signal in each chunk, whether it was
 * ended or cut off by SIGKILL, and from one chunk to the next.
 */
final class Conservation {
    static final String EVENT = "jaywalk.Conservation";

    private final Counters counters;
    private final Problems problems;
    private final String name;
    long signals;
    long carriedMost;

    Conservation(Counters counters, String name, Problems problems) {
        this.counters = counters;
        this.name = name;
        this.problems = problems;
    }

    /** Whether the law needs the numbers of such an event. */
    static boolean reads(String type) {
        return type.equals(EVENT) || isSample(type);
    }

    private static boolean isSample(String type) {
        return type.equals(Samples.JAVA) || type.equals(Samples.NATIVE) || type.equals(Samples.WALL) ||
                type.equals(Samples.COUNTER);
    }

    private static long number(Map<String, Object> event, String field) {
        return event.containsKey(field) ? (Long) event.get(field) : 0;
    }

    private static boolean isWall(Map<String, Object> event) {
        return event.get("").equals(Samples.WALL) ||
                (event.get("").equals(Samples.JAVA) && number(event, "weight") == 0);
    }

    /** Chunks of one file, in which recordings may follow each other. The last one may lack its end. */
    void check(List<RawChunk> chunks, boolean isCut) {
        long carried = 0;
        for (int i = 0; i < chunks.size(); i++) {
            String where = name + " chunk " + i;
            long events = 0;
            long cpu = 0;
            long plain = 0;
            long turns = 0;
            Map<String, Object> last = null;
            for (Map<String, Object> event : chunks.get(i).numbers) {
                if (isSample((String) event.get(""))) {
                    events++;
                    cpu += isWall(event) ? 0 : 1;
                    plain += isWall(event) && event.get("").equals(Samples.JAVA) ? 1 : 0;
                    turns += isWall(event) ? event.containsKey("samples") ? number(event, "samples") : 1
                                           : 0;
                } else {
                    last = event;
                    checkEvent(where, event, events, cpu, plain, turns);
                    problems.addUnless(number(event, "carriedIn") == carried || number(event, "chunk") == 1
                                    || i == 0,
                            "%s: %d signals carried in, %d carried out of the chunk before", where,
                            number(event, "carriedIn"), carried);
                }
            }
            boolean mayLackEnd = isCut && i == chunks.size() - 1;
            problems.addUnless(last != null || mayLackEnd, "%s: no %s", where, EVENT);
            problems.addUnless(last == null || mayLackEnd || number(last, "events") == events,
                    "%s: %d events of samples, %s tells of %d at its end", where, events, EVENT,
                    last == null ? 0 : number(last, "events"));
            carried = last == null ? 0 : number(last, "carriedOut");
            signals += last == null ? 0 : number(last, "signals");
            carriedMost = Math.max(carriedMost, carried);
        }
    }

    private void checkEvent(
            String where, Map<String, Object> event, long events, long cpu, long plain, long turns) {
        long samples = number(event, "samples");
        long outcomes = samples + counters.outcomes(event);
        long signals = number(event, "signals");
        long out = number(event, "carriedOut");
        problems.addUnless(signals == outcomes, "%s: %d signals, %d outcomes: %s", where, signals,
                outcomes, event);
        problems.addUnless(signals == number(event, "entered") + number(event, "carriedIn") - out,
                "%s: %d signals of %d that entered: %s", where, signals, number(event, "entered"),
                event);
        problems.addUnless(out >= 0 && out <= number(event, "carriedMost"),
                "%s: %d signals without an outcome, of at most %d under way", where, out,
                number(event, "carriedMost"));
        problems.addUnless(events == number(event, "events"), "%s: %d events of samples, %d told",
                where, events, number(event, "events"));
        problems.addUnless(turns == number(event, "turns"),
                "%s: %d turns of the wall clock, %d told", where, turns, number(event, "turns"));
        problems.addUnless(number(event, "turns") ==
                        number(event, "sampledTurns") + number(event, "idleTurns"),
                "%s: turns: %s", where, event);
        /* Which of the wall clock's events a signal stands behind, the file does not say: with nobatch not even how
         * many records there were. */
        problems.addUnless(turns > 0 ? cpu <= samples : cpu == samples,
                "%s: %d samples of CPU time, %d samples told", where, cpu, samples);
        /* With nobatch a record of many turns may become many plain events, and one of ours for the rest. */
        long records = samples + number(event, "idle");
        problems.addUnless(plain == 0 ? events == records : events >= records,
                "%s: %d events, %d samples and %d waits", where, events, samples,
                number(event, "idle"));
    }
}
