import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Processes that the program starts, by all means that the JDK has: each inherits its three descriptors, no
 * blocked or ignored signal of ours, and ends with the status that it chose.
 */
final class ProcessStorm implements Storm {
    private static final String SCRIPT =
            "grep -E '^Sig(Blk|Ign)' /proc/self/status; for f in /proc/self/fd/*; do echo \"fd ${f##*/}\"; done; exit 7";
    /** The JVM blocks SIGQUIT, 3, in its threads: not for its children to be free of. */
    private static final long MAY_BE_BLOCKED = 1L << (3 - 1);
    /** Which the C library keeps for itself, and ignores in a child on purpose. */
    private static final long OF_LIBC = 1L << (32 - 1) | 1L << (33 - 1);
    private static final long OURS = 1L << (26 - 1) | 1L << (27 - 1) | 1L << (11 - 1) | 1L << (7 - 1);

    @Override
    public String name() {
        return "processes";
    }

    @Override
    public void run(Run run) throws Exception {
        long ignored = own("SigIgn");
        while (run.goesOn()) {
            Process process = new ProcessBuilder("/bin/sh", "-c", SCRIPT).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String text = text(process.getInputStream());
            int status = process.waitFor();
            if (status != 7) {
                run.violated("a child ended with status " + status + ", not 7: " + text);
            }
            check(run, text, ignored);
            run.did(1);
            run.rest();
            run.rest();
        }
    }

    private static void check(Run run, String text, long ignoredHere) {
        int lines = 0;
        for (String line : text.split("\n")) {
            String[] words = line.trim().split("\\s+");
            lines++;
            if (words[0].equals("SigBlk:")) {
                long blocked = Long.parseUnsignedLong(words[1], 16);
                if ((blocked & ~MAY_BE_BLOCKED) != 0) {
                    run.violated("a child has signals blocked: " + words[1]);
                }
            } else if (words[0].equals("SigIgn:")) {
                long ignored = Long.parseUnsignedLong(words[1], 16);
                if ((ignored & ~ignoredHere & ~OF_LIBC) != 0 || (ignored & OURS) != 0) {
                    run.violated("a child has signals ignored: " + words[1]);
                }
            } else if (words[0].equals("fd")) {
                // m41: no descriptor of ours; the shell opens the directory itself, at 3
                if (!words[1].matches("[0-3]")) {
                    run.violated("a child has descriptor " + words[1]);
                }
            } else {
                run.violated("a child says " + line);
            }
        }
        if (lines < 5) {
            run.violated("a child says only " + text);
        }
    }

    private static long own(String name) throws IOException {
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Paths.get("/proc/self/status"))) {
            if (line.startsWith(name + ":")) {
                return Long.parseUnsignedLong(line.substring(name.length() + 1).trim(), 16);
            }
        }
        throw new IllegalStateException("no " + name);
    }

    private static String text(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] some = new byte[1024];
        for (int length = in.read(some); length > 0; length = in.read(some)) {
            out.write(some, 0, length);
        }
        return new String(out.toByteArray(), StandardCharsets.US_ASCII);
    }
}
