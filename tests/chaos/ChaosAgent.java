import java.lang.instrument.Instrumentation;

/** A second agent of the JVM: hands its means to the storm of redefinition. */
public final class ChaosAgent {
    static volatile Instrumentation instrumentation;

    private ChaosAgent() {
    }

    public static void premain(String options, Instrumentation given) {
        instrumentation = given;
    }
}
