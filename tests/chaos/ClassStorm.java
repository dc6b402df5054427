/** Classes of loaders that are thrown away at once; nobody holds the loaders. */
final class ClassStorm implements Storm {
    private final Collected loaders = new Collected();

    @Override
    public String name() {
        return "classes";
    }

    @Override
    public void run(Run run) {
        for (int i = 0; i < run.intensity(); i++) {
            int worker = i;
            run.thread("classes-" + i, () -> defineAndUse(run, worker));
        }
    }

    private void defineAndUse(Run run, int worker) throws Exception {
        for (int number = worker; run.goesOn(); number += run.intensity()) {
            String name = "C" + number;
            byte[] bytes = ClassBytes.of(name, "m" + number, ClassBytes.lineOf(number));
            Template.Loader loader = new Template.Loader(name, bytes);
            loaders.add(loader);
            // m16: the class is gone before its samples are written
            ((Runnable) loader.instance()).run();
            run.did(1);
            if (run.random().nextInt(8) == 0) {
                run.rest();
            }
        }
    }

    @Override
    public void check(Run run) throws Exception {
        if (!Platform.unloadsNothing() && (!RedefineStorm.hasRun() || !Platform.unloadsNothingOnceRedefined())) {
            // m22: see Collected
            loaders.check(run, "loaders");
        }
    }
}
