package probed;

/** Uses the classes that an archive is to have, without an agent, which would keep the JVM from writing one. */
public final class Archived {
    private Archived() {}

    public static void main(String[] arguments) {
        System.out.println(new Neighbours.Shop().one(1));
    }
}
