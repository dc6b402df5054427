import java.lang.invoke.MethodHandleProxies;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Burns CPU below everything whose name the JDK makes up at run time: lambdas, proxies, method handles,
 * reflection. Names SECONDS, of CPU time
 */
public class Names {
    public interface Shape {
        long area(long seed);
    }

    public static long burn(long seed) {
        long sum = seed;
        for (int i = 0; i < 20000; i++) {
            sum = sum * 31 + (sum >>> 7) + i;
        }
        return sum;
    }

    private static Shape proxy() {
        return (Shape) Proxy.newProxyInstance(Names.class.getClassLoader(), new Class<?>[] {Shape.class},
                (self, method, arguments) -> burn((Long) arguments[0]));
    }

    private static Shape handle() throws Exception {
        return MethodHandleProxies.asInterfaceInstance(Shape.class, MethodHandles.lookup()
                .findStatic(Names.class, "burn", MethodType.methodType(long.class, long.class)));
    }

    private static Shape reflection() throws Exception {
        final Method method = Names.class.getMethod("burn", long.class);
        return seed -> {
            try {
                return (Long) method.invoke(null, seed);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    public static void main(String[] arguments) throws Exception {
        final long end = Threads.cpuNs() + Long.parseLong(arguments[0]) * 1000000000L;
        final Shape[] shapes = {seed -> burn(seed), proxy(), handle(), reflection()};
        System.out.println("running");
        long sum = 0;
        for (int i = 0; i % 64 != 0 || Threads.cpuNs() < end; i++) {
            sum += shapes[i % shapes.length].area(i);
        }
        if (sum == 0) {
            System.out.println("nothing");
        }
    }
}
