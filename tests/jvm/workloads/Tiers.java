import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.function.Consumer;

/**
 * How the JVM says that the frames of a stack are run: what it fills in for the frames of
 * java.lang.LiveStackFrame. Without that class all are unknown.
 */
final class Tiers
{
    private static final Object WALKER;
    private static final Method FOR_EACH;
    private static final Field MODE;

    static {
        Object walker = null;
        Method forEach = null;
        Field mode = null;
        try {
            Method get = Class.forName("java.lang.LiveStackFrame").getMethod("getStackWalker");
            get.setAccessible(true);
            mode = Class.forName("java.lang.LiveStackFrameInfo").getDeclaredField("mode");
            mode.setAccessible(true);
            forEach = Class.forName("java.lang.StackWalker").getMethod("forEach", Consumer.class);
            walker = get.invoke(null);
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.out.println("tiers unknown: " + e);
        }
        WALKER = walker;
        FOR_EACH = forEach;
        MODE = mode;
    }

    private Tiers()
    {
    }

    /** A letter for each frame, from that of the caller downwards. */
    static String tell()
    {
        Letters letters = new Letters();
        if (WALKER == null) {
            return "";
        }
        try {
            FOR_EACH.invoke(WALKER, letters);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return letters.text.toString();
    }

    /** The frames down to that of tell() are ours. */
    private static final class Letters implements Consumer<Object>
    {
        private final StringBuilder text = new StringBuilder();
        private boolean isBelow;

        @Override public void accept(Object frame)
        {
            if (!isBelow) {
                isBelow = frame.toString().contains("Tiers.tell(");
                return;
            }
            try {
                int mode = MODE.getInt(frame);
                text.append(mode == 1 ? 'I' : mode == 2 ? 'C' : '?');
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
