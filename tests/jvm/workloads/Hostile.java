import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * A program whose names are meant for the terminal or the browser of who profiles it. Hostile SECONDS [WORD...]: burns CPU for so
 * long in threads with such names; 0: for ever, and tells after a second what a child of it inherits.
 */
public class Hostile {
    private static final String[] NAMES = {
        "\u001b]0;owned\u0007\u001b[31mred", "\u009b2Jowned\u0085line", "</script><b>owned</b><script>", "owned\r\n;a;b 7",
        "\u2028owned\u2029 '+alert(1)+' \\u003c", "owned\ud83d\ude00\udead",
    };

    static volatile long sink;

    static void burn(long untilNanos) {
        while (System.nanoTime() - untilNanos < 0) {
            for (int i = 0; i < 100000; i++) {
                sink += i * 31L ^ sink;
            }
        }
    }

    /** Regular files that a child has open: recordings and logs would be among them. */
    private static long inherited() throws IOException, InterruptedException {
        ProcessBuilder child = new ProcessBuilder("/bin/ls", "-l", "/proc/self/fd");
        child.redirectErrorStream(true);
        Process process = child.start();
        StringBuilder text = new StringBuilder();
        try (InputStream in = process.getInputStream()) {
            byte[] part = new byte[8192];
            for (int count = in.read(part); count >= 0; count = in.read(part)) {
                text.append(new String(part, 0, count, StandardCharsets.UTF_8));
            }
        }
        process.waitFor();
        long count = 0;
        for (String line : text.toString().split("\n")) {
            if (line.contains(".jfr") || line.contains(".log") || line.contains("jaywalk") || line.contains("(deleted)")) {
                count++;
                System.out.println(line);
            }
        }
        return count;
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        long until = System.nanoTime() + (seconds == 0 ? 3_600 : seconds) * 1_000_000_000L;
        for (String name : NAMES) {
            Thread thread = new Thread(() -> burn(until), name);
            thread.setDaemon(true);
            thread.start();
        }
        if (seconds == 0) {
            System.out.println("running");
            File recording = new File("children.jfr");
            while (!recording.exists()) {
                Thread.sleep(20);
            }
            System.out.println("inherits " + inherited());
        }
        burn(until);
    }
}
