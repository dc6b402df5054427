import com.sun.tools.attach.AgentInitializationException;
import com.sun.tools.attach.VirtualMachine;

/** Storm PID LIBRARY: many commands as fast as they go; ten a second are done, the others sent back at once. */
final class Storm {
    private static final int COMMANDS = 2000;
    private static final int BUSY = 201;

    public static void main(String[] arguments) throws Exception {
        VirtualMachine vm = VirtualMachine.attach(arguments[0]);
        long begun = System.nanoTime();
        int done = 0;
        int busy = 0;
        for (int i = 0; i < COMMANDS; i++) {
            try {
                vm.loadAgentPath(arguments[1], "status");
                done++;
            } catch (AgentInitializationException refused) {
                if (refused.returnValue() != BUSY) {
                    System.out.println("PROBLEM return value " + refused.returnValue());
                    System.exit(1);
                }
                busy++;
            }
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        vm.detach();
        System.out.printf("%d done, %d sent back in %.1f s%n", done, busy, seconds);
        if (done < 1 || done > 11 + 10 * seconds) {
            System.out.println("PROBLEM " + done + " commands done in " + seconds + " s");
            System.exit(1);
        }
    }
}
