/** Two threads that take two locks in two orders, and wait for each other for ever; the program ends all the same, when somebody has seen it. */
public class Deadlocked {
    private static final class Left {
    }

    private static final class Right {
    }

    private static final Left LEFT = new Left();
    private static final Right RIGHT = new Right();
    private static int ready;

    private static synchronized void meet() {
        ready++;
        Deadlocked.class.notifyAll();
        while (ready < 2) {
            try {
                Deadlocked.class.wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void leftThenRight() {
        synchronized (LEFT) {
            meet();
            synchronized (RIGHT) {
                System.out.println("never");
            }
        }
    }

    private static void rightThenLeft() {
        synchronized (RIGHT) {
            meet();
            synchronized (LEFT) {
                System.out.println("never");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(Deadlocked::leftThenRight, "left-first");
        Thread other = new Thread(Deadlocked::rightThenLeft, "right-first");
        one.setDaemon(true);
        other.setDaemon(true);
        one.start();
        other.start();
        Thread.sleep(Long.parseLong(args[0]));
    }
}
