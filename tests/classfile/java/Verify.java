package jaywalk.hooks;

import java.io.*;
import java.lang.instrument.*;
import java.net.*;
import java.security.ProtectionDomain;
import java.util.*;

/**
 * An agent that gives the JVM the written classes in place of the read ones, and a program that has all of them verified:
 * {@code -javaagent:verify.jar=READ:WRITTEN -Xverify:all -cp verify.jar jaywalk.hooks.Verify [JAR...]}.
 */
public class Verify implements ClassFileTransformer {
    static final Map<String, byte[][]> classes = new HashMap<>();
    static int replaced, foreign;
    static boolean isOff;
    static Instrumentation instrumentation;

    static byte[] read(DataInputStream in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    public static void premain(String argument, Instrumentation given) throws Exception {
        String[] names = argument.split(":");
        try (DataInputStream read = new DataInputStream(new BufferedInputStream(new FileInputStream(names[0]), 1 << 20));
                DataInputStream written = new DataInputStream(new BufferedInputStream(new FileInputStream(names[1]), 1 << 20))) {
            while (true) {
                byte[] old = read(read);
                classes.putIfAbsent(nameOf(old), new byte[][] {old, read(written)});
            }
        } catch (EOFException end) {
            // all are read
        }
        /* As the dispatcher of probes does: handlers are given values in boxes. */
        Object boxes = Arrays.asList((byte) 0, '0', (short) 0, 0, 0L);
        instrumentation = boxes == null ? null : given;
        given.addTransformer(new Verify(), true);
        List<Class<?>> loaded = new ArrayList<>();
        for (Class<?> one : given.getAllLoadedClasses()) {
            if (given.isModifiableClass(one) && classes.containsKey(one.getName().replace('.', '/')))
                loaded.add(one);
        }
        given.retransformClasses(loaded.toArray(new Class<?>[0]));
        System.out.println("retransformed " + loaded.size());
    }

    /** Name of the class in such bytes. */
    static String nameOf(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        in.skipBytes(8);
        int count = in.readUnsignedShort();
        Object[] constants = new Object[count];
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            if (tag == 1)
                constants[i] = in.readUTF();
            else if (tag == 7)
                constants[i] = in.readUnsignedShort();
            else if (tag == 5 || tag == 6) {
                in.skipBytes(8);
                i++;
            } else
                in.skipBytes(tag == 15 ? 3 : tag == 8 || tag == 16 || tag == 19 || tag == 20 ? 2 : 4);
        }
        in.skipBytes(2);
        return (String) constants[(Integer) constants[in.readUnsignedShort()]];
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        byte[][] pair = name == null || isOff ? null : classes.get(name);
        if (pair == null)
            return null;
        // Of a class that is loaded the JVM makes up bytes, which are others and mean the same.
        if (redefined == null && !Arrays.equals(pair[0], bytes)) {
            foreign++;
            return null;
        }
        replaced++;
        return pair[1];
    }

    /** Refused as it was read, too: what it stands on is another version, of another jar. */
    static boolean isRefusedAnyway(String name, URL[] urls) {
        ClassLoader loader = new URLClassLoader(urls, ClassLoader.getSystemClassLoader());
        Class<?> plain = null;
        isOff = true;
        try {
            plain = Class.forName(name.replace('/', '.'), false, loader);
            plain.getDeclaredMethods();
        } catch (VerifyError bad) {
            return plain.getClassLoader() == loader;
        } catch (Throwable other) {
            return false;
        } finally {
            isOff = false;
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        URL[] urls = new URL[args.length];
        for (int i = 0; i < args.length; i++)
            urls[i] = new File(args[i]).toURI().toURL();
        ClassLoader loader = new URLClassLoader(urls, ClassLoader.getSystemClassLoader());
        int linked = 0, missing = 0, refused = 0, unfit = 0;
        for (String name : new TreeSet<>(classes.keySet())) {
            try {
                Class.forName(name.replace('/', '.'), false, loader).getDeclaredMethods();
                linked++;
            } catch (ClassNotFoundException | NoClassDefFoundError gone) {
                missing++;
            } catch (VerifyError | ClassFormatError bad) {
                if (isRefusedAnyway(name, urls)) {
                    unfit++;
                    continue;
                }
                refused++;
                System.out.println("refused " + name + ": " + bad.toString().replace('\n', ' '));
            } catch (Throwable other) {
                missing++;
                if (System.getenv("VERBOSE") != null)
                    System.out.println("other " + name + ": " + other);
            }
        }
        for (int i = 0; i < 500; i++) {
            try {
                Class.forName("no.such.Class" + i, false, loader);
            } catch (ClassNotFoundException wanted) {
                // it passes through methods of the class loaders
            }
        }
        System.out.println("linked " + linked + "\nmissing " + missing + "\nrefused_by_jvm " + refused + "\nrefused_anyway " + unfit + "\nreplaced " + replaced
                + "\nforeign " + foreign);
        System.out.println("entries " + Hooks.entries + "\nreturns " + Hooks.returns + "\nexceptions " + Hooks.exceptions
                + "\nthrowing " + Hooks.throwing + "\nobjects " + Hooks.objects + "\ncalls " + Hooks.calls + "\nfields " + Hooks.fields
                + "\nlines " + Hooks.lines + "\nallocations " + Hooks.allocations + "\nlocks " + Hooks.locks + "\nunlocks " + Hooks.unlocks);
        System.out.println("asked " + Hooks.asked + "\nanswered " + Hooks.answered + "\nlined " + Hooks.lined + "\nread " + Hooks.read
                + "\nwritten " + Hooks.written + "\nmade " + Hooks.made + "\nentering " + Hooks.entering + "\nentered " + Hooks.entered
                + "\nexited " + Hooks.exited);
    }
}
