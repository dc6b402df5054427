import java.lang.reflect.InvocationTargetException;

/**
 * Loads an agent into another JVM as the JDK itself does, and prints `return code: N`. By reflection: in JDK 8 the classes for it are in
 * tools.jar, which no compiler knows of.
 *
 *     java -cp ...:tools.jar LoadAgent process library options
 */
final class LoadAgent {
    private static final String PACKAGE = "com.sun.tools.attach.";

    public static void main(String[] args) throws Exception {
        Class<?> machine = Class.forName(PACKAGE + "VirtualMachine");
        Object target = machine.getMethod("attach", String.class).invoke(null, args[0]);
        int code = 0;
        try {
            machine.getMethod("loadAgentPath", String.class, String.class).invoke(target, args[1], args[2]);
        } catch (InvocationTargetException e) {
            Throwable why = e.getCause();
            if (!why.getClass().getName().equals(PACKAGE + "AgentInitializationException")) {
                throw e;
            }
            code = (Integer) why.getClass().getMethod("returnValue").invoke(why);
        }
        machine.getMethod("detach").invoke(target);
        System.out.println("return code: " + code);
    }
}
