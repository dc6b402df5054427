import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * What ASM takes for what tests/classfile/rewriter does: each class read and written again, and with a call of a static method at every entry and return.
 *
 *     java AsmRewrite PACK ROUNDS
 *
 * Prints NAME, a tab, and milliseconds of CPU time for a megabyte, of the fastest round.
 */
public final class AsmRewrite {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private AsmRewrite() {
    }

    /** A call in front of each method, and of each return. */
    private static final class Probing extends ClassVisitor {
        Probing(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) {
                private int place;

                private void put(String hook) {
                    super.visitLdcInsn(place++ * 1000);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, "jaywalk/hooks/Hooks", hook, "(I)V", false);
                }

                @Override
                public void visitCode() {
                    super.visitCode();
                    put("entry");
                }

                @Override
                public void visitInsn(int opcode) {
                    if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                        put("return_");
                    }
                    super.visitInsn(opcode);
                }

                @Override
                public void visitMaxs(int stack, int locals) {
                    super.visitMaxs(stack + 1, locals);
                }
            };
        }
    }

    private static List<byte[]> read(String path) throws IOException {
        List<byte[]> all = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(new FileInputStream(path), 1 << 20))) {
            while (true) {
                byte[] one = new byte[in.readInt()];
                in.readFully(one);
                all.add(one);
            }
        } catch (EOFException end) {
            return all;
        }
    }

    private static long written(byte[] bytes, boolean isProbed) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(isProbed ? new Probing(writer) : new ClassVisitor(Opcodes.ASM9, writer) { }, 0);
        return writer.toByteArray().length;
    }

    public static void main(String[] args) throws IOException {
        List<byte[]> all = read(args[0]);
        long bytes = 0, written = 0;
        for (byte[] one : all) {
            bytes += one.length;
        }
        for (boolean isProbed : new boolean[] {false, true}) {
            long least = Long.MAX_VALUE;
            for (int round = 0; round < Integer.parseInt(args[1]); round++) {
                long beginNs = CLOCK.getCurrentThreadCpuTime();
                for (byte[] one : all) {
                    written += written(one, isProbed);
                }
                least = Math.min(least, CLOCK.getCurrentThreadCpuTime() - beginNs);
            }
            System.out.println((isProbed ? "probed" : "written") + "\t" + least / (double) bytes);
        }
        System.out.println("bytes\t" + written);
    }
}
