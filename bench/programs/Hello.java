/** The least that a program can do; what it costs is what a JVM costs. */
final class Hello {
    public static void main(String[] args) {
        System.out.println("hello, world");
    }
}
