import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Bytes of a class of this program, as often as wanted, each time with other numbers in it. */
final class Template {
    private static final int TAG_INTEGER = 3;

    private final byte[] bytes;

    Template(Class<?> type) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InputStream in = type.getResourceAsStream("/" + type.getName() + ".class")) {
            byte[] some = new byte[4096];
            for (int length = in.read(some); length > 0; length = in.read(some)) {
                out.write(some, 0, length);
            }
        }
        bytes = out.toByteArray();
    }

    byte[] with(int constant, int instead) {
        return replaced(bytes, constant, instead);
    }

    /** A copy of a class file that has another number for this one, which it must have. */
    static byte[] replaced(byte[] bytes, int constant, int instead) {
        byte[] copy = bytes.clone();
        boolean isFound = false;
        for (int i = 0; i + 4 < copy.length; i++) {
            if (copy[i] == TAG_INTEGER && wordAt(copy, i + 1) == constant) {
                for (int b = 0; b < 4; b++) {
                    copy[i + 1 + b] = (byte) (instead >>> (24 - 8 * b));
                }
                isFound = true;
            }
        }
        if (!isFound) {
            throw new IllegalArgumentException("no " + Integer.toHexString(constant) + " in this class");
        }
        return copy;
    }

    private static int wordAt(byte[] bytes, int at) {
        return (bytes[at] & 0xff) << 24 | (bytes[at + 1] & 0xff) << 16 | (bytes[at + 2] & 0xff) << 8
                | bytes[at + 3] & 0xff;
    }

    /** A loader of one class, to be thrown away. */
    static final class Loader extends ClassLoader {
        private final Class<?> type;

        Loader(String name, byte[] bytes) {
            super(Template.class.getClassLoader());
            type = defineClass(name, bytes, 0, bytes.length);
        }

        Object instance() throws ReflectiveOperationException {
            return type.getDeclaredConstructor().newInstance();
        }
    }
}
