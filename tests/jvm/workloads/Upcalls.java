import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Optional;

/**
 * C that calls Java through the API of foreign functions: qsort, whose comparison is ours. By reflection, as the oldest
 * supported JVM compiles this. JDK 22 on. Pointers are numbers here: they have the same calling convention.
 */
final class Upcalls {
    private static final long ELEMENTS = 2_000;
    private static final long ELEMENT_BYTES = 8;
    private static final String PACKAGE = "java.lang.foreign.";

    private static int compared;

    private final Object linker;
    private final Object longs;
    private final Object ints;
    private final MethodHandle sort;
    private final long comparison;
    private final long memory;
    private final long elements;

    Upcalls() throws Throwable {
        this(MethodHandles.lookup().findStatic(Upcalls.class, "compare",
                     MethodType.methodType(int.class, long.class, long.class)),
                ELEMENTS);
    }

    /** Sorts so many, asking this about each pair. */
    Upcalls(MethodHandle ours, long elements) throws Throwable {
        this.elements = elements;
        linker = of("Linker").getMethod("nativeLinker").invoke(null);
        longs = of("ValueLayout").getField("JAVA_LONG").get(null);
        ints = of("ValueLayout").getField("JAVA_INT").get(null);
        sort = downcall("qsort", null, longs, longs, longs, longs);
        memory = (long) downcall("malloc", longs, longs)
                         .invokeWithArguments(elements * ELEMENT_BYTES);
        Method stub = of("Linker").getMethod("upcallStub", MethodHandle.class,
                of("FunctionDescriptor"), of("Arena"), noOptions().getClass());
        Object segment = stub.invoke(linker, ours, descriptor(ints, longs, longs),
                of("Arena").getMethod("global").invoke(null), noOptions());
        comparison = (long) of("MemorySegment").getMethod("address").invoke(segment);
    }

    private static Class<?> of(String name) throws ClassNotFoundException {
        return Class.forName(PACKAGE + name);
    }

    private static Object noOptions() throws ClassNotFoundException {
        return Array.newInstance(of("Linker$Option"), 0);
    }

    /** `result` null: none. */
    private static Object descriptor(Object result, Object... arguments) throws Exception {
        Object layouts = Array.newInstance(of("MemoryLayout"), arguments.length);
        for (int i = 0; i < arguments.length; i++) {
            Array.set(layouts, i, arguments[i]);
        }
        Class<?> descriptor = of("FunctionDescriptor");
        return result == null
                ? descriptor.getMethod("ofVoid", layouts.getClass()).invoke(null, layouts)
                : descriptor.getMethod("of", of("MemoryLayout"), layouts.getClass())
                          .invoke(null, result, layouts);
    }

    private MethodHandle downcall(String name, Object result, Object... arguments)
            throws Exception {
        Object lookup = of("Linker").getMethod("defaultLookup").invoke(linker);
        Object found = of("SymbolLookup").getMethod("find", String.class).invoke(lookup, name);
        return (MethodHandle) of("Linker")
                .getMethod("downcallHandle", of("MemorySegment"), of("FunctionDescriptor"),
                        noOptions().getClass())
                .invoke(linker, ((Optional<?>) found).get(), descriptor(result, arguments),
                        noOptions());
    }

    void round() {
        try {
            sort.invokeWithArguments(memory, elements, ELEMENT_BYTES, comparison);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int compare(long left, long right) {
        compared++;
        return deeper(3, left, right);
    }

    private static int deeper(int left, long one, long other) {
        return left == 0 ? Long.compare(one, other) : deeper(left - 1, other, one);
    }
}
