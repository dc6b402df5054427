import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;

/** Classes that no loader knows, of JDK 15 on; nobody holds them afterwards. */
final class HiddenStorm implements Storm {
    private final Collected classes = new Collected();

    @Override
    public String name() {
        return "hidden";
    }

    @Override
    public void run(Run run) throws Exception {
        if (Platform.MAJOR < 15) {
            run.skipped("this JDK has no hidden classes");
            return;
        }
        Method define = null;
        for (Method method : MethodHandles.Lookup.class.getMethods()) {
            define = method.getName().equals("defineHiddenClass") ? method : define;
        }
        Object options = Array.newInstance(define.getParameterTypes()[2].getComponentType(), 0);
        MethodHandles.Lookup on = MethodHandles.lookup();
        for (int number = 0; run.goesOn(); number++) {
            byte[] bytes = ClassBytes.of("H" + number, "h" + number, ClassBytes.lineOf(number));
            Class<?> type = ((MethodHandles.Lookup) define.invoke(on, bytes, true, options))
                                    .lookupClass();
            classes.add(type);
            // m16: the class is gone before its samples are written
            ((Runnable) type.getDeclaredConstructor().newInstance()).run();
            run.did(1);
            if (number % 8 == 0) {
                run.rest();
            }
        }
    }

    @Override
    public void check(Run run) throws Exception {
        if (!Platform.unloadsNothing() && (!RedefineStorm.hasRun() || !Platform.unloadsNothingOnceRedefined())) {
            classes.check(run, "hidden classes");
        }
    }
}
