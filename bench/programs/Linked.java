/** Stands for the class that CalledBySite makes, which has a call in front of this. */
final class Linked {
    private Linked() {
    }

    static int called(int unit, int number) {
        return unit * 31 + (number ^ number >>> 7);
    }
}
