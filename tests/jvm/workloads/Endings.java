/**
 * The ways in which a program ends, with other threads busy to the last.
 *
 *     java Endings return|exit|halt|uncaught
 */
final class Endings {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        String how = args[0];
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(Endings::burn, "busy-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        for (int i = 0; i < 200; i++) {
            System.out.println("line " + i + " of " + how + ": \u00e4\u20ac\ud83d\ude00");
            Thread.sleep(2);
        }
        switch (how) {
        case "return":
            return;
        case "exit":
            System.exit(3);
            break;
        case "halt":
            Runtime.getRuntime().halt(4);
            break;
        case "uncaught":
            throw new IllegalStateException("the end");
        default:
            throw new IllegalArgumentException(how);
        }
    }

    private static void burn() {
        while (true) {
            sink++;
        }
    }
}
