import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What a class file is made of that a compiler does not write: its constants, and methods without a branch, which need no frames. */
final class ClassPool {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final DataOutputStream out = new DataOutputStream(bytes);
    private final List<String> keys = new ArrayList<>();

    private int add(String key, int tag, int... indices) throws IOException {
        int at = keys.indexOf(key);
        if (at < 0) {
            keys.add(key);
            at = keys.size() - 1;
            out.writeByte(tag);
            for (int index : indices) {
                out.writeShort(index);
            }
        }
        return at + 1;
    }

    int text(String text) throws IOException {
        int at = keys.indexOf(text);
        if (at < 0) {
            keys.add(text);
            at = keys.size() - 1;
            out.writeByte(1);
            out.writeUTF(text);
        }
        return at + 1;
    }

    int type(String name) throws IOException {
        int text = text(name);
        return add("class " + name, 7, text);
    }

    private int nameAndType(String name, String descriptor) throws IOException {
        int text = text(name), types = text(descriptor);
        return add("type " + name + descriptor, 12, text, types);
    }

    int method(String of, String name, String descriptor) throws IOException {
        int type = type(of), both = nameAndType(name, descriptor);
        return add("method " + of + name + descriptor, 10, type, both);
    }

    /** A call site of the first method of `bootstraps`. */
    int site(String name, String descriptor) throws IOException {
        int both = nameAndType(name, descriptor);
        return add("site " + name + descriptor, 18, 0, both);
    }

    /** The attribute of the class that names the only static method which hands out its call sites. */
    byte[] bootstraps(String of, String name) throws IOException {
        int method = method(of, name,
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;");
        String key = "handle " + of + name;
        if (!keys.contains(key)) {
            keys.add(key);
            out.writeByte(15);
            out.writeByte(6); // invokestatic
            out.writeShort(method);
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(whole);
        to.writeShort(text("BootstrapMethods"));
        to.writeInt(6);
        to.writeShort(1);
        to.writeShort(keys.indexOf(key) + 1);
        to.writeShort(0);
        return whole.toByteArray();
    }

    void method(DataOutputStream to, int access, String name, String descriptor, int stack, int locals, byte[] code) throws IOException {
        to.writeShort(access);
        to.writeShort(text(name));
        to.writeShort(text(descriptor));
        to.writeShort(1);
        to.writeShort(text("Code"));
        to.writeInt(12 + code.length);
        to.writeShort(stack);
        to.writeShort(locals);
        to.writeInt(code.length);
        to.write(code);
        to.writeShort(0);
        to.writeShort(0);
    }

    /** What a class file begins with, for Java 8; it stands behind all that adds constants. */
    void put(DataOutputStream to) throws IOException {
        to.writeInt(0xcafebabe);
        to.writeShort(0);
        to.writeShort(52);
        to.writeShort(keys.size() + 1);
        to.write(bytes.toByteArray());
    }
}
