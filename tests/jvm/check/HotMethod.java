import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;

/**
 * Is the profile of the workload Hot plausible? Four fifths of the samples of its threads must have
 * Hot.hottest on top, called by run(), called by the thread's start. The clock that it reads between calls, class and all,
 * counts on either side.
 *
 *     java HotMethod recording [bound]
 *
 * The bound, for engines whose samples are not independent of each other, is the least distance from
 * four fifths that is let pass.
 */
final class HotMethod {
    private static final double EXPECTED = 0.8;
    private static final double SIGMAS = 4.5; /* one false alarm in a hundred thousand */
    private static final double LEAST_BOUND = 0.03;

    public static void main(String[] args) throws IOException {
        Problems problems = new Problems();
        double least = args.length > 1 ? Double.parseDouble(args[1]) : LEAST_BOUND;
        double hot = 0;
        double clock = 0;
        double sum = 0;
        double squares = 0;
        for (RecordedEvent sample : Samples.read(Path.of(args[0]))) {
            if (!Samples.threadName(sample).startsWith("hot-")) {
                continue;
            }
            double weight = Samples.weight(sample);
            sum += weight;
            squares += weight * weight;
            List<RecordedFrame> frames = Samples.frames(sample);
            int top = Samples.topJavaFrame(frames);
            if (top >= 0 && "hottest".equals(Samples.methodOf("Hot", frames.get(top)))) {
                hot += weight;
                String caller =
                        top + 1 < frames.size() ? Samples.name(frames.get(top + 1)) : "nobody";
                problems.addUnless(caller.equals("Hot.run"), "hottest is called by %s", caller);
            } else if (frames.stream().anyMatch(frame -> Samples.name(frame).startsWith("Threads."))) {
                clock += weight;
            }
        }
        problems.addUnless(sum > 0, "no samples of threads hot-*");
        double bound =
                Math.max(least, SIGMAS * Math.sqrt(EXPECTED * (1 - EXPECTED) * squares) / sum);
        problems.addUnless(hot / sum - EXPECTED <= bound && EXPECTED - (hot + clock) / sum <= bound,
                "Hot.hottest has %.1f %% of the samples, the clock %.1f %%", 100 * hot / sum, 100 * clock / sum);
        problems.finish(String.format("Hot.hottest has %.1f %% of %.0f ms, the clock %.1f %%", 100 * hot / sum, sum / 1e6,
                100 * clock / sum));
    }
}
