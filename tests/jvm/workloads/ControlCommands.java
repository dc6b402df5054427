import java.io.PrintStream;
import java.util.Random;

/** What the clients of a control storm ask for, and how they note what they were answered. */
final class ControlCommands {
    private static final String[] CLOCKS = {
        "event=cpu,interval=1ms", "event=cpu,interval=10ms", "event=wall,interval=5ms", "event=cpu,interval=2ms,wall=10ms",
        "event=cpu,interval=200us", "event=itimer,interval=5ms",
    };

    private ControlCommands() {
    }

    /** In the language of the agent's options; files begin with `name`. */
    static String next(Random random, String name) {
        String clock = CLOCKS[random.nextInt(CLOCKS.length)];
        int dice = random.nextInt(100);
        if (dice < 38) {
            return start(random, clock, name);
        }
        if (dice < 42) {
            return "resume,file=" + name + (random.nextBoolean() ? ".jfr" : ".collapsed");
        }
        if (dice < 78) {
            return random.nextInt(4) == 0 ? "stop,file=" + name + "-end." + (random.nextBoolean() ? "collapsed" : "jfr") : "stop";
        }
        if (dice < 88) {
            return "dump,file=" + name + "-copy." + (random.nextInt(3) == 0 ? "html" : random.nextBoolean() ? "collapsed" : "jfr");
        }
        return dice < 94 ? "status" : dice < 97 ? "metrics" : "list";
    }

    private static String start(Random random, String clock, String name) {
        String begin = "start," + clock;
        switch (random.nextInt(8)) {
        case 0:
            return begin;
        case 1:
            return begin + ",file=" + name + ".html,threads";
        case 2:
            return begin + ",file=" + name + ".collapsed";
        case 3:
            return begin + ",file=" + name + "-%n.jfr,loop=1s";
        case 4:
            return begin + ",file=" + name + ".jfr,timeout=1s";
        default:
            return begin + ",file=" + name + ".jfr";
        }
    }

    static void note(PrintStream said, String command, int code, String answer) {
        said.println(String.format("%.3f %s => %d %s", System.nanoTime() / 1e9, command, code,
                answer.trim().replace("\n", "\\n").replaceAll("(?m)^error: ", "")));
    }
}
