import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** Another agent that has class Called stay as it was when it was loaded: with the place of a probe that has gone. */
public final class Keeps implements ClassFileTransformer {
    private byte[] loaded;

    private Keeps() {
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Keeps(), true);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> klass, ProtectionDomain domain, byte[] bytes) {
        if (!"Called".equals(name)) {
            return null;
        }
        if (klass == null) {
            loaded = bytes.clone();
        }
        return loaded;
    }
}
