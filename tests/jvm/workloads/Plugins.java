/**
 * Loads two native libraries in turns, which the loader puts at one address, and burns CPU time in each, below a function of
 * another library that says which one it is. The last seconds pass in one that stays loaded.
 *
 *     java Plugins SECONDS FIRST.so SECOND.so
 */
final class Plugins
{
    private Plugins()
    {
    }

    public static void main(String[] args)
    {
        System.loadLibrary("plugins");
        long turns = 0;
        for (long end = System.nanoTime() + (long)(Double.parseDouble(args[0]) * 1e9); System.nanoTime() < end; turns++) {
            run(args[1], args[2]);
        }
        stay(args[1]);
        System.out.println("turns " + turns);
    }

    private static native void run(String first, String second);

    private static native void stay(String first);
}
