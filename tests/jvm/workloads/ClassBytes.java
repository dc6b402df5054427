import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * A class file made by hand: public, implements Runnable; run() calls one static method, which
 * counts to ROUNDS. Version 49: no stack maps needed.
 */
final class ClassBytes {
    private static final short ROUNDS = 12_000;

    /* Constant pool of each class made here, by index. */
    private static final int THIS_CLASS = 2;
    private static final int OBJECT_CLASS = 4;
    private static final int RUNNABLE_CLASS = 6;
    private static final int INIT_NAME = 7;
    private static final int VOID_DESCRIPTOR = 8;
    private static final int OBJECT_INIT = 10;
    private static final int RUN_NAME = 11;
    private static final int METHOD_NAME = 12;
    private static final int METHOD = 14;
    private static final int CODE = 15;
    private static final int LINE_TABLE = 16;

    private ClassBytes() {
    }

    /** Line of the method of class `number`: fits 16 bits, and differs between neighbours. */
    static int lineOf(int number) {
        return number % 60_000 + 1;
    }

    static byte[] of(String className, String methodName, int line) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0xcafebabe);
            out.writeInt(49);
            writeConstants(out, className, methodName);
            out.writeShort(0x0021); /* public, super */
            out.writeShort(THIS_CLASS);
            out.writeShort(OBJECT_CLASS);
            out.writeShort(1);
            out.writeShort(RUNNABLE_CLASS);
            out.writeShort(0); /* fields */
            out.writeShort(3);
            /* aload_0; invokespecial Object.<init>; return */
            writeMethod(out, 0x0001, INIT_NAME, 1, 1, new int[] {0x2a, 0xb7, 0, OBJECT_INIT, 0xb1},
                    line);
            /* invokestatic METHOD; return */
            writeMethod(out, 0x0001, RUN_NAME, 0, 1, new int[] {0xb8, 0, METHOD, 0xb1}, line);
            /* iconst_0; istore_0; L: iinc 0 1; iload_0; sipush ROUNDS; if_icmplt L; return */
            writeMethod(out, 0x0009, METHOD_NAME, 2, 1,
                    new int[] {0x03, 0x3b, 0x84, 0, 1, 0x1a, 0x11, ROUNDS >> 8, ROUNDS & 0xff, 0xa1,
                            0xff, 0xf9, 0xb1},
                    line);
            out.writeShort(0); /* attributes */
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return bytes.toByteArray();
    }

    private static void writeConstants(DataOutputStream out, String className, String methodName)
            throws IOException {
        out.writeShort(LINE_TABLE + 1);
        writeClass(out, className, 1);
        writeClass(out, "java/lang/Object", 3);
        writeClass(out, "java/lang/Runnable", 5);
        writeText(out, "<init>");
        writeText(out, "()V");
        writePair(out, 12, INIT_NAME, VOID_DESCRIPTOR); /* 9: name and type */
        writePair(out, 10, OBJECT_CLASS, 9);            /* 10: method */
        writeText(out, "run");
        writeText(out, methodName);
        writePair(out, 12, METHOD_NAME, VOID_DESCRIPTOR); /* 13: name and type */
        writePair(out, 10, THIS_CLASS, 13);               /* 14: method */
        writeText(out, "Code");
        writeText(out, "LineNumberTable");
    }

    /** Two constants, the first with index `textIndex`. */
    private static void writeClass(DataOutputStream out, String name, int textIndex)
            throws IOException {
        writeText(out, name);
        out.writeByte(7);
        out.writeShort(textIndex);
    }

    private static void writeText(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void writePair(DataOutputStream out, int tag, int first, int second)
            throws IOException {
        out.writeByte(tag);
        out.writeShort(first);
        out.writeShort(second);
    }

    private static void writeMethod(DataOutputStream out, int access, int name, int maxStack,
            int maxLocals, int[] code, int line) throws IOException {
        out.writeShort(access);
        out.writeShort(name);
        out.writeShort(VOID_DESCRIPTOR);
        out.writeShort(1);
        out.writeShort(CODE);
        out.writeInt(12 + code.length + 12);
        out.writeShort(maxStack);
        out.writeShort(maxLocals);
        out.writeInt(code.length);
        for (int b : code) {
            out.writeByte(b);
        }
        out.writeShort(0); /* exception table */
        out.writeShort(1);
        out.writeShort(LINE_TABLE);
        out.writeInt(6);
        out.writeShort(1);
        out.writeShort(0);
        out.writeShort(line);
    }
}
