import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * A recording with overhead= of a program that jaywalk takes much of as asked: in the last two seconds or more in which no interval
 * became longer (the end may make one so), what they steer (handlers, signals in the kernel, the sampler's thread) is within the budget, of the CPU time that the
 * process used, or they are as long as they may be. Prints what it was from second to second.
 *
 *     java Budget recording BUDGET_PCT
 */
final class Budget {
    private static final long LONGEST = 1000000000;
    private static final int CALM = 2;
    private static final long RECENT = 32; /* handlers that measured themselves: the agent goes by the last so many, too */

    private Budget() {
    }

    /** Sums since the recording began, all in ns. */
    private static final class Cost {
        final long used;
        final long handlers;
        final long kernel;
        final long agent;
        final long clock;
        final long interval;
        long measured; /* at random: without the long ones, of which each measured itself */
        long measuredTime;
        long longTime;

        Cost(RecordedEvent event) {
            used = event.getLong("processTime");
            handlers = event.getLong("handlers");
            kernel = event.getLong("kernelTime");
            agent = event.getLong("agentThread");
            clock = event.getLong("clockThread");
            interval = event.getLong("interval");
        }

        /** CPU time of one handler and its signal, of those since then; the first ones, of stacks not seen before, are dearer. */
        double each(Cost since) {
            long count = measured - since.measured;
            double spent = handlers == since.handlers ? 0 : (double) (longTime - since.longTime) / (handlers - since.handlers);
            return (count == 0 ? 0 : (double) (measuredTime - since.measuredTime) / count) + spent + (handlers == 0 ? 0 : (double) kernel / handlers);
        }

        double steered(Cost since, double each) {
            return 100 * ((handlers - since.handlers) * each + clock - since.clock) / (used - since.used);
        }

        double agent(Cost since) {
            return 100.0 * (agent - since.agent) / (used - since.used);
        }
    }

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        double budget = Double.parseDouble(args[1]);
        List<Cost> costs = new ArrayList<>();
        int settled = 0; /* the calm time is from this cost ... */
        int last = -1; /* to this one; -1: there was none */
        int longer = 0;
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                switch (event.getEventType().getName()) {
                case "jaywalk.SelfCost":
                    costs.add(new Cost(event));
                    break;
                case "jaywalk.HandlerTime":
                    costs.get(costs.size() - 1).measured += event.getLong("measured") - event.getLong("measuredLong");
                    costs.get(costs.size() - 1).measuredTime += event.getLong("measuredTime") - event.getLong("measuredLongTime");
                    costs.get(costs.size() - 1).longTime += event.getLong("measuredLongTime");
                    break;
                case "jaywalk.IntervalChange":
                    if (event.getLong("to") > event.getLong("from") || event.getLong("toWall") > event.getLong("fromWall")) {
                        if (costs.size() - 1 - longer >= CALM) {
                            settled = longer;
                            last = costs.size() - 1;
                        }
                        longer = costs.size(); /* the cost that is told next */
                    }
                    break;
                default:
                }
            }
        }
        if (costs.size() - 1 - longer >= CALM) {
            settled = longer;
            last = costs.size() - 1;
        }
        problems.addUnless(last > settled, "of %d costs told no three in which no interval became longer", costs.size());
        if (last <= settled || !problems.first().isEmpty()) {
            problems.finish("");
            return;
        }
        int since = settled;
        while (since > 0 && costs.get(last).measured - costs.get(since).measured < RECENT) {
            since--;
        }
        double each = costs.get(last).each(costs.get(since));
        for (int i = 1; i <= last; i++) {
            if (costs.get(i).used > costs.get(i - 1).used) {
                System.out.printf("%d: %.2f %% steered, %.2f %% the agent's thread, of %d ms of CPU time; every %d us%n", i,
                        costs.get(i).steered(costs.get(i - 1), each), costs.get(i).agent(costs.get(i - 1)),
                        (costs.get(i).used - costs.get(i - 1).used) / 1000000, costs.get(i).interval / 1000);
            }
        }
        double steered = costs.get(last).steered(costs.get(settled), each);
        problems.addUnless(steered <= budget || costs.get(last).interval >= LONGEST, "%.2f %% steered after the last change, of %.2f %%", steered, budget);
        problems.finish(String.format("%.2f %% steered, %.2f %% the agent's thread, of a budget of %.2f %%", steered,
                costs.get(last).agent(costs.get(settled)), budget));
    }
}
