import java.util.Arrays;
import java.util.List;

/** What goes wrong on purpose, to see that it is noticed. */
final class FaultStorm implements Storm {
    static final List<FaultStorm> ALL = Arrays.asList(new FaultStorm("fault-violation"), new FaultStorm("fault-throw"),
            new FaultStorm("fault-nothing"), new FaultStorm("fault-hang"), new FaultStorm("fault-stop"),
            new FaultStorm("fault-crash"));

    private final String name;

    private FaultStorm(String name) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean isOnlyByName() {
        return true;
    }

    @Override
    public void run(Run run) throws Exception {
        switch (name) {
        case "fault-violation": // a check that is wrong
            run.did(1);
            if (2 + 2 == 4) {
                run.violated("two and two are four");
            }
            break;
        case "fault-throw":
            run.did(1);
            throw new IllegalStateException("as meant");
        case "fault-nothing":
            break;
        case "fault-hang":
            run.did(1);
            Thread.sleep(Long.MAX_VALUE);
            break;
        default:
            run.did(1);
            Thread.sleep(1000);
            new ProcessBuilder("/bin/sh", "-c",
                    "kill -" + (name.equals("fault-stop") ? "STOP" : "SEGV") + " $PPID")
                    .start()
                    .waitFor();
            break;
        }
    }
}
