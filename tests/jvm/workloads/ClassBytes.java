import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A class file made by hand: public, implements Runnable, with a public constructor. Version 49: no stack
 * maps needed.
 */
final class ClassBytes {
    private static final int ROUNDS = 12_000;
    static final int PUBLIC = 0x0001;
    static final int PRIVATE_STATIC = 0x000a;
    static final int PUBLIC_STATIC = 0x0009;

    private static final int TAG_TEXT = 1;
    private static final int TAG_CLASS = 7;
    private static final int TAG_METHOD = 10;
    private static final int TAG_NAME_AND_TYPE = 12;

    private final String className;
    private final Map<List<Object>, Integer> constants = new HashMap<>();
    private final ByteArrayOutputStream pool = new ByteArrayOutputStream();
    private final List<byte[]> methods = new ArrayList<>();

    /** `line`: of the constructor. */
    ClassBytes(String className, int line) {
        this.className = className;
        /* aload_0; invokespecial Object.<init>; return */
        int init = method("java/lang/Object", "<init>");
        add(PUBLIC, "<init>", new int[] {0x2a, 0xb7, init >> 8, init & 0xff, 0xb1},
                new int[] {0, line});
    }

    /** Line of the method of class `number`: fits 16 bits, and differs between neighbours. */
    static int lineOf(int number) {
        return number % 60_000 + 1;
    }

    /** run() calls one static method, which counts to ROUNDS; both stand on this line. */
    static byte[] of(String className, String methodName, int line) {
        ClassBytes bytes = new ClassBytes(className, line);
        bytes.add(PUBLIC, "run", bytes.call(methodName), new int[] {0, line});
        bytes.add(PUBLIC_STATIC, methodName, count(ROUNDS, 0), new int[] {0, line});
        return bytes.finish();
    }

    /** invokestatic of a method of this class; return */
    int[] call(String methodName) {
        int callee = method(className, methodName);
        return new int[] {0xb8, callee >> 8, callee & 0xff, 0xb1};
    }

    /**
     * nop as often as `padding`; iconst_0; istore_0; L: iinc 0 1; iload_0; sipush rounds; if_icmplt L; return
     */
    static int[] count(int rounds, int padding) {
        int[] loop = {0x03, 0x3b, 0x84, 0, 1, 0x1a, 0x11, rounds >> 8, rounds & 0xff, 0xa1, 0xff, 0xf9,
                0xb1};
        int[] code = new int[padding + loop.length];
        System.arraycopy(loop, 0, code, padding, loop.length);
        return code;
    }

    /** Adds a method without arguments and result; `lines`: bytecode index, line, and so on. */
    void add(int access, String name, int[] code, int[] lines) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeShort(access);
            out.writeShort(text(name));
            out.writeShort(text("()V"));
            out.writeShort(1);
            out.writeShort(text("Code"));
            out.writeInt(12 + code.length + 8 + 2 * lines.length);
            out.writeShort(2); /* stack */
            out.writeShort(1); /* locals */
            out.writeInt(code.length);
            for (int b : code) {
                out.writeByte(b);
            }
            out.writeShort(0); /* exception table */
            out.writeShort(1);
            out.writeShort(text("LineNumberTable"));
            out.writeInt(2 + 2 * lines.length);
            out.writeShort(lines.length / 2);
            for (int word : lines) {
                out.writeShort(word);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        methods.add(bytes.toByteArray());
    }

    byte[] finish() {
        int self = type(className);
        int parent = type("java/lang/Object");
        int runnable = type("java/lang/Runnable");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0xcafebabe);
            out.writeInt(49);
            out.writeShort(constants.size() + 1);
            pool.writeTo(out);
            out.writeShort(0x0021); /* public, super */
            out.writeShort(self);
            out.writeShort(parent);
            out.writeShort(1);
            out.writeShort(runnable);
            out.writeShort(0); /* fields */
            out.writeShort(methods.size());
            for (byte[] method : methods) {
                out.write(method);
            }
            out.writeShort(0); /* attributes */
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return bytes.toByteArray();
    }

    private int method(String owner, String name) {
        return constant(TAG_METHOD, type(owner),
                constant(TAG_NAME_AND_TYPE, text(name), text("()V")));
    }

    private int type(String name) {
        return constant(TAG_CLASS, text(name));
    }

    private int text(String text) {
        return constant(TAG_TEXT, text);
    }

    /** Index of a constant, added when it is not there yet. */
    private int constant(int tag, Object... parts) {
        List<Object> key = new ArrayList<>(Arrays.asList(parts));
        key.add(tag);
        Integer index = constants.get(key);
        if (index != null) {
            return index;
        }
        try (DataOutputStream out = new DataOutputStream(pool)) {
            out.writeByte(tag);
            for (Object part : parts) {
                if (part instanceof String) {
                    out.writeUTF((String) part);
                } else {
                    out.writeShort((Integer) part);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        constants.put(key, constants.size() + 1);
        return constants.size();
    }
}
