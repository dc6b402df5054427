import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The clients of a control storm that are outside of the process: the command, and whoever speaks the attach protocol.
 *
 *     java ControlClients storm PID LIBRARY COMMAND SECONDS SEED DIRECTORY    as ControlStorm does: DIRECTORY/command.said, raw.said
 *     java ControlClients flood PID LIBRARY COUNT                             questions, as fast as they go
 */
final class ControlClients {
    private static final int BUSY = 201;
    private static final long ANSWER_LIMIT_NS = 60_000_000_000L;

    private final String pid;
    private final String library;

    private ControlClients(String pid, String library) {
        this.pid = pid;
        this.library = library;
    }

    private interface Client {
        /** Code in the last line. */
        String ask(String command) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        ControlClients clients = new ControlClients(args[1], args[2]);
        if (args[0].equals("flood")) {
            clients.flood(Integer.parseInt(args[3]));
            return;
        }
        long endNs = System.nanoTime() + (long) (Double.parseDouble(args[4]) * 1e9);
        long seed = Long.parseLong(args[5]);
        Thread command = storm(args[6], "command", endNs, seed + 2, text -> clients.command(args[3], args[6], text));
        Thread raw = storm(args[6], "raw", endNs, seed + 3, clients::raw);
        command.join();
        raw.join();
    }

    private static Thread storm(String directory, String name, long endNs, long seed, Client client) throws IOException {
        PrintStream said = new PrintStream(directory + "/" + name + ".said", StandardCharsets.UTF_8);
        Thread thread = new Thread(() -> {
            Random random = new Random(seed);
            for (int i = 0; System.nanoTime() < endNs; i++) {
                String text = ControlCommands.next(random, directory + "/" + name + "-" + i);
                try {
                    String answer = client.ask(text);
                    int last = answer.lastIndexOf("= ");
                    ControlCommands.note(said, text, Integer.parseInt(answer.substring(last + 2).trim()), answer.substring(0, last));
                    Thread.sleep(random.nextInt(200));
                } catch (Exception wrong) {
                    ControlCommands.note(said, text, 1, "threw " + wrong);
                }
            }
            said.close();
        }, name);
        thread.start();
        return thread;
    }

    /** The words of the command that mean the same as the options. */
    private String command(String program, String directory, String text) throws Exception {
        String[] options = text.split(",");
        List<String> words = new ArrayList<>(List.of(program, options[0]));
        for (int i = 1; i < options.length; i++) {
            String name = options[i].replaceAll("=.*", "");
            String value = options[i].substring(Math.min(options[i].length(), name.length() + 1));
            words.add(switch (name) {
                case "event" -> "-e";
                case "interval" -> "-i";
                case "file" -> "-f";
                case "threads" -> "-t";
                default -> "--" + name;
            });
            if (!value.isEmpty()) {
                words.add(value);
            }
        }
        words.add(pid);
        File out = new File(directory, "command.answer");
        Process process = new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(out).start();
        int status = process.waitFor();
        return Files.readString(out.toPath()) + "\n= " + status;
    }

    /** A file such as the agent takes for its answer: empty, of this user, and for nobody else. */
    private static Path answerFile() throws IOException {
        return Files.createTempFile(Path.of("/tmp"), "control", ".answer");
    }

    private String raw(String text) throws Exception {
        Path answer = answerFile();
        Path show = answerFile();
        try {
            String reply = attach(text + ",answer=" + answer + ",show=" + show);
            if (!reply.startsWith("0\n")) {
                return "attach: " + reply + "\n= 1";
            }
            long limitNs = System.nanoTime() + ANSWER_LIMIT_NS;
            while (System.nanoTime() < limitNs) {
                String said = Files.readString(answer);
                if (said.matches("(?s).*= \\d+\n")) {
                    return said;
                }
                Thread.sleep(1);
            }
            return "no answer\n= 1";
        } finally {
            Files.delete(answer);
            Files.delete(show);
        }
    }

    private String attach(String options) throws IOException {
        try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.connect(UnixDomainSocketAddress.of("/tmp/.java_pid" + pid));
            ByteBuffer request = StandardCharsets.UTF_8.encode("1\0load\0" + library + "\0true\0" + options + "\0");
            while (request.hasRemaining()) {
                socket.write(request);
            }
            ByteBuffer reply = ByteBuffer.allocate(4096);
            while (reply.hasRemaining() && socket.read(reply) > 0) {
                continue;
            }
            return StandardCharsets.UTF_8.decode(reply.flip()).toString();
        }
    }

    private void flood(int count) throws IOException {
        long begun = System.nanoTime();
        int done = 0;
        int busy = 0;
        for (int i = 0; i < count; i++) {
            String reply = attach("status");
            int code = Integer.parseInt(reply.replaceAll("(?s).*\n(return code: )?(\\d+)\n.*", "$2"));
            if (code == 0) {
                done++;
            } else if (code == BUSY) {
                busy++;
            } else {
                System.out.println("PROBLEM reply " + reply);
                System.exit(1);
            }
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        System.out.printf("%d done, %d sent back in %.1f s%n", done, busy, seconds);
        if (done < 1 || done > 11 + 10 * seconds) {
            System.out.println("PROBLEM " + done + " commands done in " + seconds + " s");
            System.exit(1);
        }
    }
}
