import java.util.ArrayList;
import java.util.List;

/**
 * What a checker found wrong. Keeps the first of each kind and counts the rest, so that a broken
 * recording gives a page to read and not a million lines.
 */
final class Problems {
    private static final int SHOWN = 20;

    private final List<String> first = new ArrayList<>();
    private long count;

    void add(String format, Object... values) {
        count++;
        if (first.size() < SHOWN) {
            first.add(String.format(format, values));
        }
    }

    void addUnless(boolean isRight, String format, Object... values) {
        if (!isRight) {
            add(format, values);
        }
    }

    /** Those that are kept. */
    List<String> first() {
        return first;
    }

    /** Ends the program: status 0 and `summary`, or status 1 and the problems. */
    void finish(String summary) {
        System.exit(tell(summary) ? 0 : 1);
    }

    /** Prints `summary` and the problems; false when there are any. */
    boolean tell(String summary) {
        System.out.println(summary);
        for (String problem : first) {
            System.out.println("PROBLEM " + problem);
        }
        if (count > first.size()) {
            System.out.println("PROBLEM and " + (count - first.size()) + " more");
        }
        return count == 0;
    }
}
