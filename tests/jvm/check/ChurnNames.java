import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Checks the names of the workload Churn, and who calls whom: m123 belongs to C123 and to its line, is called
 * by run() of C123 and calls nobody; so with hidden classes; and of the classes that are redefined, each
 * line belongs to one version of one method, which calls what that version calls. At most one frame in a
 * thousand may lack its name, its line or its caller.
 *
 *     java ChurnNames recording Redefined.java WALKER [LEAST]
 *
 * WALKER: vm or agct; LEAST: frames of short-lived methods that there must be
 */
final class ChurnNames {
    private static final Pattern TYPE = Pattern.compile("([CHR])(\\d+)([/+.].*)?");
    private static final Pattern NUMBERED = Pattern.compile("([mhap])(\\d+)(?:_(\\d+))?");
    private static final int LEAST_FRAMES = 25; /* fewer would prove nothing */
    private static final double MAX_UNNAMED = 0.001;
    private static final double MAX_UNLINED = 0.01; /* by AsyncGetCallTrace, at the top */
    private static final int HELPERS = 4;
    private static final int VERSIONS = 992; /* after which lines begin again */
    private static final int VERSIONS_OF_CODE = 4;
    private static final int VERSIONS_OF_CALL = 16;

    /** A frame of the classes that come and go; what its line says is -1 for others than redefined ones. */
    private record Known(
            char family, int number, String method, int part, int line, int version, int place) {
        String name() {
            return family + "" + number + "." + method + ":" + line;
        }

        boolean is(char kind) {
            return method.charAt(0) == kind && NUMBERED.matcher(method).matches();
        }

        boolean isFirst() {
            return method.equals("run");
        }
    }

    private final Problems problems = new Problems();
    private final Map<Integer, Integer> versionOfLine = new HashMap<>(); /* of Redefined.call() */
    private long frames;
    private long shortLived;
    private long hidden;
    private long redefined;
    private long unnamed;
    private long unlined; /* by AsyncGetCallTrace, which does not know the line of a return at the end of the code */
    private long cut;
    private boolean isAgct;

    public static void main(String[] args) throws IOException {
        ChurnNames checker = new ChurnNames();
        checker.readSource(Path.of(args[1]));
        checker.isAgct = args[2].equals("agct");
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                if (Samples.isSample(event) || Samples.isWall(event)) {
                    checker.checkStack(Samples.frames(event), isTruncated(event));
                }
            }
        }
        checker.finish(args.length > 3 ? Integer.parseInt(args[3]) : LEAST_FRAMES);
    }

    private void readSource(Path source) throws IOException {
        List<String> lines = Files.readAllLines(source);
        for (int i = 0; i + 1 < lines.size(); i++) {
            if (lines.get(i + 1).trim().equals("callee.run();")) {
                versionOfLine.put(i + 2, versionOfLine.size());
            }
        }
        problems.addUnless(versionOfLine.size() == VERSIONS_OF_CALL, "%s is not as this knows it",
                source);
    }

    private static boolean isTruncated(RecordedEvent event) {
        return event.getStackTrace() != null && event.getStackTrace().isTruncated();
    }

    private void finish(int least) {
        problems.addUnless(shortLived + hidden >= least, "only %d frames of short-lived classes",
                shortLived + hidden);
        problems.addUnless(unnamed <= MAX_UNNAMED * frames, "%d of %d frames have no name or line",
                unnamed, frames);
        problems.addUnless(unlined <= MAX_UNLINED * frames, "%d of %d frames have no line",
                unlined, frames);
        problems.addUnless(
                cut <= MAX_UNNAMED * frames, "%d of %d frames lack their caller", cut, frames);
        problems.finish(String.format("%d frames: %d of short-lived methods, %d of hidden and %d of "
                        + "redefined classes; %d unnamed, %d without caller",
                frames, shortLived, hidden, redefined, unnamed, cut));
    }

    private void checkStack(List<RecordedFrame> stack, boolean isTruncated) {
        boolean isTop = true;
        RecordedFrame above = null; /* of Java, next to this one */
        Known knownAbove = null;
        for (RecordedFrame frame : stack) {
            frames++;
            String mark = Marks.textOf(frame);
            if (mark != null || !Samples.isJavaFrame(frame)) {
                unnamed += "[unreadable method]".equals(mark) ? 1 : 0;
                above = null;
                knownAbove = null;
                isTop &= mark == null;
                continue;
            }
            long before = unnamed + unlined;
            Known known = read(frame, isTop);
            if (unnamed + unlined != before) {
                above = null; /* of what has no line nothing can be said */
                knownAbove = null;
                isTop = false;
                continue;
            }
            if (known != null && (above != null || isTop)) {
                checkCallee(known, above, knownAbove);
            }
            if (knownAbove != null) {
                checkCaller(knownAbove, known, frame);
            }
            above = frame;
            knownAbove = known;
            isTop = false;
        }
        cut += knownAbove != null && !isTruncated ? 1 : 0;
    }

    /** What the frame says of itself, checked; null for all others than the classes that come and go. */
    private Known read(RecordedFrame frame, boolean isTop) {
        String typeName = frame.getMethod().getType().getName();
        String method = frame.getMethod().getName();
        Matcher type = TYPE.matcher(typeName);
        Matcher numbered = NUMBERED.matcher(method);
        boolean isNumbered = numbered.matches();
        if (!type.matches()) {
            problems.addUnless(!isNumbered, "%s: no such method", Samples.name(frame));
            return null;
        }
        char family = type.group(1).charAt(0);
        int number = Integer.parseInt(type.group(2));
        int line = frame.getLineNumber();
        shortLived += family == 'C' ? 1 : 0;
        hidden += family == 'H' ? 1 : 0;
        redefined += family == 'R' ? 1 : 0;
        boolean isRight = isNumbered ? "CmHhRaRhRp".contains("" + family + method.charAt(0))
                        && Integer.parseInt(numbered.group(2)) == number
                                     : method.equals("run") || method.equals("<init>");
        problems.addUnless(isRight, "%s: no such method", Samples.name(frame));
        int part = isNumbered && numbered.group(3) != null ? Integer.parseInt(numbered.group(3)) : -1;
        if (line <= 0) {
            unlined += isAgct && isTop ? 1 : 0;
            unnamed += isAgct && isTop ? 0 : 1;
            return null;
        }
        if (family != 'R') {
            problems.addUnless(
                    line == number % 60_000 + 1, "%s: line %d", Samples.name(frame), line);
            return new Known(family, number, method, part, line, -1, -1);
        }
        int code = line - 1 - number * 8_000;
        Known known =
                new Known(family, number, method, part, line, code / 8, Math.floorMod(code, 8));
        boolean isOfClass = code >= 0 && code < 8 * VERSIONS;
        problems.addUnless(isOfClass && placesOf(known).indexOf('0' + known.place) >= 0,
                "%s: a line of another method", known.name());
        problems.addUnless(!known.is('p') || part % (VERSIONS / VERSIONS_OF_CODE) == known.version / VERSIONS_OF_CODE,
                "%s: a line of version %d", known.name(), known.version);
        return known;
    }

    private static String placesOf(Known known) {
        if (known.isFirst()) {
            return "0";
        }
        return known.is('a') ? "12" : known.is('h') ? "345" : known.is('p') ? "6" : "7";
    }

    /** `above` is what the frame calls, null: nothing of Java. */
    private void checkCallee(Known known, RecordedFrame above, Known knownAbove) {
        if (above == null || knownAbove != null) {
            return; /* pairs of known frames: checkCaller */
        }
        String name = Samples.name(above);
        boolean isRight = known.method.equals("<init>")
                ? name.equals("java.lang.Object.<init>")
                : known.family == 'R' && name.startsWith("java.lang.NoSuchMethodError.");
        problems.addUnless(isRight, "%s calls %s", known.name(), name);
    }

    private void checkCaller(Known known, Known caller, RecordedFrame frame) {
        boolean isRight;
        if (caller == null) {
            isRight = known.isFirst() ? isDriver(known, frame)
                                      : known.method.equals("<init>")
                            && !Samples.name(frame).startsWith("Churn.use");
        } else if (caller.family != known.family || caller.number != known.number) {
            isRight = false;
        } else if (known.family != 'R') {
            isRight = caller.isFirst() && NUMBERED.matcher(known.method).matches();
        } else {
            isRight = isCall(caller, known);
        }
        problems.addUnless(isRight, "%s is called by %s:%d", known.name(), Samples.name(frame),
                frame.getLineNumber());
    }

    private boolean isDriver(Known known, RecordedFrame driver) {
        String name = Samples.name(driver);
        if (known.family != 'R') {
            return name.equals(known.family == 'C' ? "Churn.use" : "Churn.useHidden");
        }
        Integer version = versionOfLine.get(driver.getLineNumber());
        return name.equals("Redefined.call") && version != null
                && Math.floorMod(known.version - version, VERSIONS_OF_CALL) < VERSIONS_OF_CALL / 2;
    }

    /** Whether code of this version, at this place, calls that; a callee may be newer than its caller. */
    private static boolean isCall(Known caller, Known callee) {
        int newer = Math.floorMod(callee.version - caller.version, VERSIONS);
        if (callee.is('a')) {
            return caller.isFirst() && newer < VERSIONS / 2;
        }
        if (callee.is('h')) {
            return caller.is('a') && caller.place == 2 && callee.part == caller.version / VERSIONS_OF_CODE % HELPERS
                    && newer < VERSIONS / 2;
        }
        return callee.is('p') && caller.is('h') && caller.place == 5 
                && caller.version / VERSIONS_OF_CODE == callee.version / VERSIONS_OF_CODE;
    }
}
