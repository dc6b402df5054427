import java.util.Map;

/**
 * Says at which byte of a thread the word lies that polls look at, as the JVM's tables for compilers in Java have it. Run with
 * -XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI --add-exports jdk.internal.vm.ci/jdk.vm.ci.hotspot=ALL-UNNAMED.
 */
public final class PollWord {
    private PollWord() {
    }

    private static Map<?, ?> fields() throws ReflectiveOperationException {
        final Object runtime = Class.forName("jdk.vm.ci.hotspot.HotSpotJVMCIRuntime").getMethod("runtime").invoke(null);
        final Object store = runtime.getClass().getMethod("getConfigStore").invoke(runtime);

        return (Map<?, ?>) store.getClass().getMethod("getFields").invoke(store);
    }

    private static int offset(Object field) throws ReflectiveOperationException {
        return ((Number) field.getClass().getField("offset").get(field)).intValue();
    }

    static int offset() throws ReflectiveOperationException {
        final Map<?, ?> fields = fields();
        final Object data = fields.get("JavaThread::_poll_data");

        return offset(data != null ? data : fields.get("Thread::_poll_data")) +
            offset(fields.get("SafepointMechanism::ThreadData::_polling_word"));
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        System.out.println("word " + offset());
    }
}
