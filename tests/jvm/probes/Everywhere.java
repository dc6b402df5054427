package probes;

import io.jaywalk.probe.Arguments;
import io.jaywalk.probe.Duration;
import io.jaywalk.probe.MethodName;
import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.OnReturn;
import io.jaywalk.probe.OnThrow;
import io.jaywalk.probe.Probe;
import io.jaywalk.probe.Returned;
import io.jaywalk.probe.Thrown;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;

/** In every method of a compiler, of a build tool, of an HTTP server and of an application server that may be probed. At the end it says in the file that EVERYWHERE names how often it was called, each time that it was attached. */
@Probe(name = "everywhere", maxNanosPerCall = 0, maxCallsPerSecond = 0, maxThrows = 1,
    rules = "include class name=com.sun.tools.javac.**|sun.net.httpserver.**|com.sun.net.httpserver.**|sun.net.www.**|org.apache.tools.**|Answers$*|org.apache.catalina.**|org.apache.coyote.**|org.apache.tomcat.**|shop.**"
        + " lift platform,synthetic,constructors,initialisers,getters,setters,enums,interfaces")
public class Everywhere {
    private static long entries, returns, exceptions; /* about: threads overwrite each other's */
    private static volatile Object seen;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Everywhere::tell));
    }

    private Everywhere() {}

    private static void tell() {
        try (PrintWriter out = new PrintWriter(new FileWriter(System.getenv("EVERYWHERE"), true))) {
            out.println("entries " + entries + " returns " + returns + " exceptions " + exceptions);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** With all that it was called with. */
    @OnEntry
    public static void entered(@MethodName String method, @Arguments Object[] all) {
        entries++;
        seen = all.length > 0 ? all[0] : method;
    }

    /** With what it gave. */
    @OnReturn
    public static void returned(@Returned Object value, @Duration long ns) {
        returns++;
        seen = value;
    }

    /** With what it threw. */
    @OnThrow
    public static void thrown(@Thrown Throwable exception) {
        exceptions++;
        seen = exception;
    }
}
