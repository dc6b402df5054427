package io.jaywalk;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** The loader of a probe, from each form in which one comes: what it loads, what it refuses, and that it goes. */
public final class ProbeLoaders {
    private static final String NAME = "probes.Held";
    private static final int ROUNDS = 40;

    private ProbeLoaders() {}

    private static void demand(boolean isSo, String what) {
        if (!isSo) {
            throw new AssertionError(what);
        }
    }

    private static ProbeLoader load(String path) throws IOException {
        return new ProbeLoader(ProbeLoaders.class.getClassLoader(), path);
    }

    private static String tell(ProbeLoader loader) throws Exception {
        Class<?> probe = loader.probeClass(NAME);
        demand(probe.getClassLoader() == loader, "the class is of another loader");
        Method entered = probe.getMethod("entered");
        entered.invoke(null);
        entered.invoke(null);
        return (String) probe.getMethod("tell").invoke(null);
    }

    private static void works(String path, String resource, int classes) throws Exception {
        ProbeLoader loader = load(path);
        demand(loader.classFiles().length == classes, path + ": " + loader.classFiles().length + " classes");
        for (byte[] bytes : loader.classFiles()) {
            demand(bytes[0] == (byte) 0xca && bytes[1] == (byte) 0xfe, path + ": no class file");
        }
        demand(tell(loader).equals("2 " + resource + " false other"), path + ": " + tell(loader));
        demand(loader.loadClass("io.jaywalk.Jaywalk") == Jaywalk.class, path + ": an API of its own");
        demand(loader.probeClass(NAME).getPackage() != null, path + ": no package");
        try {
            loader.probeClass("io.jaywalk.Jaywalk");
        } catch (ClassNotFoundException expected) {
            return;
        }
        throw new AssertionError(path + ": the API is a class of the probe");
    }

    /** Whatever becomes of the file. */
    private static void outlives(Path jar, Path away) throws Exception {
        ProbeLoader loader = load(jar.toString());
        Files.move(jar, away);
        demand(tell(loader).equals("2 held false other"), "without its file: " + tell(loader));
        Files.move(away, jar);
    }

    private static WeakReference<?>[] use(String path) throws Exception {
        ProbeLoader loader = load(path);
        tell(loader);
        return new WeakReference<?>[] {new WeakReference<>(loader), new WeakReference<>(loader.probeClass(NAME))};
    }

    private static int left(List<WeakReference<?>> all) {
        int count = 0;
        for (WeakReference<?> one : all) {
            count += one.get() == null ? 0 : 1;
        }
        return count;
    }

    /** All of them go but one that is held: so the count tells of those that would stay. */
    private static void collected(String path) throws Exception {
        List<WeakReference<?>> all = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            all.addAll(Arrays.asList(use(path)));
        }
        ProbeLoader held = load(path);
        Class<?> probe = held.probeClass(NAME);
        all.add(new WeakReference<>(held));
        all.add(new WeakReference<>(probe));
        held = null;
        while (left(all) > 2) { /* who waits in vain is ended by the case */
            System.gc();
            Thread.sleep(10);
        }
        demand(left(all) == 2 && probe.getClassLoader() != null, "the held one has gone: " + left(all));
        probe = null;
        while (left(all) > 0) {
            System.gc();
            Thread.sleep(10);
        }
    }

    private static String refused(String path) {
        try {
            load(path);
        } catch (IOException refused) {
            return String.valueOf(refused.getMessage());
        }
        throw new AssertionError(path + ": taken");
    }

    private static void refusedWith(Path path, String words) {
        String said = refused(path.toString());
        demand(said.startsWith(path.toString()) && said.contains(words), said);
    }

    /** A jar that is cut anywhere is refused, and with words. */
    private static void cut(Path jar, Path to) throws IOException {
        byte[] whole = Files.readAllBytes(jar);
        for (int length = 0; length < whole.length; length += 1 + length / 64) {
            Files.write(to, Arrays.copyOf(whole, length));
            demand(!refused(to.toString()).isEmpty(), "no words");
        }
        int taken = 0;
        int others = 0;
        for (int at = 0; at < whole.length; at += 3) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 0x41;
            Files.write(to, damaged);
            try {
                load(to.toString());
                taken++;
            } catch (IOException refused) {
                others++;
            }
        }
        demand(taken != 0 && others != 0, taken + " taken, " + others + " refused");
    }

    private static void bomb(Path to) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(to))) {
            out.putNextEntry(new ZipEntry("zeros"));
            byte[] zeros = new byte[1 << 20];
            for (int i = 0; i < 64; i++) {
                out.write(zeros);
            }
            out.closeEntry();
        }
        demand(Files.size(to) < 1 << 20, "no bomb");
        refusedWith(to, "more than a probe may have");
    }

    /**
     * Tries it.
     *
     * @param args a jar, a folder and a class of the probe, then a place for files
     */
    public static void main(String[] args) throws Exception {
        Path jar = Paths.get(args[0]);
        Path place = Paths.get(args[3]);
        works(args[0], "held", 3);
        works(args[1], "held", 3);
        outlives(jar, place.resolve("away.jar"));
        /* Of a class alone those that are nested in it come with it. */
        ProbeLoader single = load(args[2]);
        demand(single.classFiles().length == 2, "a class: " + single.classFiles().length);
        demand(single.probeClass(NAME).getClassLoader() == single, "a class: another loader");
        demand(Class.forName(NAME).getField("IS_OF_APPLICATION").getBoolean(null), "the application has it, too");
        collected(args[0]);
        collected(args[1]);
        refusedWith(place.resolve("nowhere.jar"), "there is no such file");
        Path text = Files.write(place.resolve("text.jar"), "no jar".getBytes("US-ASCII"));
        refusedWith(text, "is no jar, or not a whole one");
        Path noClass = Files.write(place.resolve("text.class"), "no class".getBytes("US-ASCII"));
        refusedWith(noClass, "does not take it");
        demand(new File(place.toFile(), "empty").mkdir(), "no folder");
        refusedWith(place.resolve("empty"), "no class is in it");
        cut(jar, place.resolve("cut.jar"));
        bomb(place.resolve("bomb.jar"));
        System.out.println("ok probe loaders");
    }
}
