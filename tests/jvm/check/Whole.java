import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads recordings whole: byte by byte, then with this JDK's own reader, the file in one piece and
 * each chunk as a file of its own.
 *
 *     java Whole [--killed|--running|--either] counters.def file...
 *
 * A killed recording has no final flag and may have ended with activations under way; so may the copy of one that goes on.
 * Either: each file is taken for what its final flag says.
 */
final class Whole {
    private static final Duration ROUNDING =
            Duration.ofNanos(2_000); /* readers convert ticks in doubles */

    private final Counters counters;
    private final boolean isRunning;
    private final boolean isEither;
    private boolean isKilled; /* of the file that is looked at */
    private final Problems problems = new Problems();
    /** Frame type -> methods of this chunk, each one object, that were looked at in such a frame. */
    private final Map<String, Set<RecordedMethod>> checkedMethods = new HashMap<>();
    private long chunkCount;
    private long eventCount;
    private long sampleCount;

    private Whole(Counters counters, boolean isKilled, boolean isRunning, boolean isEither) {
        this.counters = counters;
        this.isEither = isEither;
        this.isKilled = isKilled;
        this.isRunning = isRunning;
    }

    public static void main(String[] args) throws IOException {
        boolean isKilled = args[0].equals("--killed");
        boolean isRunning = args[0].equals("--running");
        boolean isEither = args[0].equals("--either");
        int at = isKilled || isRunning || isEither ? 1 : 0;
        Whole whole = new Whole(new Counters(Path.of(args[at++])), isKilled, isRunning, isEither);
        int files = args.length - at;
        for (; at < args.length; at++) {
            whole.checkFile(Path.of(args[at]));
        }
        whole.problems.finish(String.format("%d files, %d chunks, %d events, %d samples", files,
                whole.chunkCount, whole.eventCount, whole.sampleCount));
    }

    static List<String> problemsOf(Counters counters, Path file, boolean isRunning) throws IOException {
        Whole whole = new Whole(counters, false, isRunning, false);
        whole.checkFile(file);
        return whole.problems.first();
    }

    static boolean endsFinal(Path file) throws IOException {
        List<RawChunk> chunks =
                RawChunk.split(ByteBuffer.wrap(Files.readAllBytes(file)), "", new Problems());
        return !chunks.isEmpty() && (chunks.get(chunks.size() - 1).flags & RawChunk.FLAG_FINAL) != 0;
    }

    private void checkFile(Path file) throws IOException {
        String name = file.getFileName().toString();
        List<RawChunk> chunks =
                RawChunk.split(ByteBuffer.wrap(Files.readAllBytes(file)), name, problems);
        problems.addUnless(!chunks.isEmpty(), "%s: empty", name);
        if (isEither) {
            isKilled = chunks.isEmpty() || (chunks.get(chunks.size() - 1).flags & RawChunk.FLAG_FINAL) == 0;
        }
        chunks.forEach(RawChunk::check);
        checkSequence(name, chunks);
        new Conservation(counters, name, problems).check(chunks, isKilled);

        Map<String, Long> alone = new TreeMap<>();
        Path copy = Files.createTempFile(file.toAbsolutePath().getParent(), "chunk", ".jfr");
        try {
            for (int i = 0; i < chunks.size(); i++) {
                Files.write(copy, bytesOf(chunks.get(i)), StandardOpenOption.TRUNCATE_EXISTING);
                checkChunkAlone(
                        name + " chunk " + i, copy, chunks.get(i), i == chunks.size() - 1, alone);
            }
        } finally {
            Files.delete(copy);
        }
        if (chunks.size() > 1) { /* else the same bytes were read just now */
            checkTogether(name, file, alone);
        }
        chunkCount += chunks.size();
        eventCount += alone.values().stream().mapToLong(Long::longValue).sum();
    }

    private void checkTogether(String name, Path file, Map<String, Long> alone) throws IOException {
        Map<String, Long> together = new TreeMap<>();
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                together.merge(recording.readEvent().getEventType().getName(), 1L, Long::sum);
            }
        }
        problems.addUnless(together.equals(alone), "%s: read in one piece %s, chunk by chunk %s",
                name, together, alone);
    }

    private static byte[] bytesOf(RawChunk chunk) {
        byte[] bytes = new byte[chunk.bytes.limit()];
        chunk.bytes.get(0, bytes);
        return bytes;
    }

    /** Fields that a chunk has where there is something for them: of contexts, attributes and virtual threads. */
    private static final Pattern MAY_COME = Pattern.compile("(traceId jaywalk\\.types\\.TraceId\\*|spanId long|localRootSpanId long|" +
            "carrier java\\.lang\\.Thread\\*|\\S+ jaywalk\\.types\\.AttributeValue\\*); ");

    /** Such fields may come, and nothing goes. */
    private static boolean hasGrown(String before, String now) {
        return MAY_COME.matcher(before).replaceAll("").equals(MAY_COME.matcher(now).replaceAll("")) &&
                Arrays.asList(now.split("; ")).containsAll(Arrays.asList(before.split("; ")));
    }

    /** What holds between chunks of one file. */
    private void checkSequence(String name, List<RawChunk> chunks) {
        Map<String, String> shapes = new HashMap<>();
        Map<String, ByteBuffer> constants = new HashMap<>();
        for (int i = 0; i < chunks.size(); i++) {
            RawChunk chunk = chunks.get(i);
            String where = name + " chunk " + i;
            boolean isLast = i == chunks.size() - 1;
            boolean isFinal = (chunk.flags & RawChunk.FLAG_FINAL) != 0;
            problems.addUnless(chunk.state == 0, "%s: state %d", where, chunk.state);
            problems.addUnless(
                    isFinal == (isLast && !isKilled), "%s: final flag is %s", where, isFinal);
            if (i > 0) {
                RawChunk before = chunks.get(i - 1);
                problems.addUnless(chunk.startNanos > before.startNanos,
                        "%s: starts no later than the one before", where);
                problems.addUnless(
                        chunk.startTicks > before.startTicks, "%s: ticks start no later", where);
                problems.addUnless(chunk.ticksPerSecond == before.ticksPerSecond,
                        "%s: other tick frequency", where);
            }
            for (RawType type : chunk.types.values()) {
                String shape = type.shape(chunk);
                String known = shapes.put(type.name, shape);
                problems.addUnless(known == null || known.equals(shape) || hasGrown(known, shape),
                        "%s: %s changed from %s to %s", where, type.name, known, shape);
            }
            checkConstants(where, chunk, constants);
        }
    }

    /** A (class, key) pair means one thing in a whole file: jdk.jfr keeps those it knows. */
    private void checkConstants(String where, RawChunk chunk, Map<String, ByteBuffer> constants) {
        chunk.pools.forEach((typeId, pool) -> {
            String type = chunk.typeName(typeId);
            pool.forEach((key, value) -> {
                ByteBuffer known = constants.putIfAbsent(type + " " + key, value);
                problems.addUnless(known == null || known.equals(value),
                        "%s: %s %d means something else than before", where, type, key);
            });
        });
    }

    private void checkChunkAlone(String where, Path copy, RawChunk chunk, boolean isLast,
            Map<String, Long> counts) throws IOException {
        Instant start = Instant.EPOCH.plusNanos(chunk.startNanos);
        Instant end = start.plusNanos(chunk.durationNanos).plus(ROUNDING);
        start = start.minus(ROUNDING);
        List<RecordedEvent> diagnostics = new ArrayList<>();
        long events = 0;
        checkedMethods.clear();
        try (RecordingFile recording = new RecordingFile(copy)) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                String type = event.getEventType().getName();
                counts.merge(type, 1L, Long::sum);
                events++;
                problems.addUnless(
                        !event.getEndTime().isBefore(start) && !event.getEndTime().isAfter(end),
                        "%s: %s at %s..%s, outside %s..%s", where, type, event.getStartTime(),
                        event.getEndTime(), start, end);
                if (Samples.isSample(event) || Samples.isWall(event)) {
                    sampleCount++;
                    checkSample(where, event);
                }
                if (type.equals(Counters.EVENT)) {
                    diagnostics.add(event);
                }
            }
        }
        diagnostics.sort(Comparator.comparing(RecordedEvent::getStartTime));
        for (int i = 0; i < diagnostics.size(); i++) {
            boolean isEnd = isLast && !isKilled && !isRunning && i == diagnostics.size() - 1;
            counters.check(diagnostics.get(i), isEnd, where, problems);
        }
        long raw = chunk.eventCounts.values().stream().mapToLong(Long::longValue).sum() -
                   chunk.eventCounts.getOrDefault("(padding)", 0L);
        problems.addUnless(
                raw == events, "%s: %d events in the bytes, %d read", where, raw, events);
        problems.addUnless(
                !diagnostics.isEmpty() || (isKilled && isLast), "%s: no %s", where, Counters.EVENT);
    }

    // References ----------------------------------------------------------------------------------

    private void checkSample(String where, RecordedEvent sample) {
        if (Samples.isWall(sample)) {
            problems.addUnless(Samples.turns(sample) > 0, "%s: wall sample of no turn", where);
            problems.addUnless(Samples.wallTime(sample) >= 0, "%s: wall sample of %d ns", where,
                    Samples.wallTime(sample));
        } else {
            problems.addUnless(Samples.weight(sample) > 0, "%s: sample of weight %d", where,
                    Samples.weight(sample));
        }
        problems.addUnless(sample.getString("state") != null, "%s: sample without state", where);
        RecordedThread thread = Samples.thread(sample);
        if (thread == null) {
            problems.add("%s: sample without thread", where);
        } else {
            checkThread(where, thread.getBoolean("virtual") ? sample.getThread("carrier") : thread);
        }
        problems.addUnless(!Samples.frames(sample).isEmpty(), "%s: sample without stack", where);
        for (RecordedFrame frame : Samples.frames(sample)) {
            checkFrame(where, frame);
        }
    }

    /** Of the system, which a virtual thread is not. */
    private void checkThread(String where, RecordedThread thread) {
        if (thread == null) {
            problems.add("%s: virtual thread without carrier", where);
            return;
        }
        problems.addUnless(thread.getOSThreadId() > 0, "%s: thread %s without OS id", where, thread.getJavaName());
        problems.addUnless(thread.getOSName() != null, "%s: thread %d without OS name", where, thread.getOSThreadId());
    }

    private void checkFrame(String where, RecordedFrame frame) {
        String frameType = frame.getType();
        RecordedMethod method = frame.getMethod();
        if (frameType == null || method == null) {
            problems.add("%s: frame without %s", where, method == null ? "method" : "type");
            return;
        }
        if (checkedMethods.computeIfAbsent(frameType, key -> newIdentitySet()).add(method)) {
            checkMethod(where, frame, method);
        }
    }

    private static Set<RecordedMethod> newIdentitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    private void checkMethod(String where, RecordedFrame frame, RecordedMethod method) {
        String methodName = method.getName();
        problems.addUnless(
                methodName != null && !methodName.isEmpty(), "%s: method without name", where);
        String descriptor = method.getDescriptor();
        problems.addUnless(descriptor != null && descriptor.startsWith("("),
                "%s: %s has descriptor %s", where, methodName, descriptor);
        RecordedClass type = method.getType();
        if (type == null) {
            problems.add("%s: method %s without class", where, methodName);
            return;
        }
        problems.addUnless(
                type.getName() != null, "%s: class of %s without name", where, methodName);
        /* JMC takes such a class for an array and refuses "[vdso]"; a receiver may be one. */
        problems.addUnless(type.getName() == null || !type.getName().startsWith("[")
                        || (frame.getType().equals("Receiver")
                            && type.getName().matches("\\[+([BCDFIJSZ]|L[^;\\[]+;)")),
                "%s: class %s of %s looks like an array", where, type.getName(), methodName);
        if (Samples.isJavaFrame(frame)) {
            problems.addUnless(!type.getName().isEmpty(),
                    "%s: class of Java method %s has an empty name", where, methodName);
        }
    }
}
