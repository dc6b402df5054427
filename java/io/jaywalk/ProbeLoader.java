package io.jaywalk;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;

/**
 * The classes and resources of one probe that is attached. All of it is read when the loader is made: the file may be replaced
 * afterwards. Nothing but the probe's own objects refers to it, so that it goes when the probe has gone.
 *
 * <p>The agent makes it, and defines this very class where there is no jaywalk.jar. That is why it uses nothing but classes of
 * {@code java}, and is one class file.
 */
final class ProbeLoader extends ClassLoader {
    private static final String CLASS = ".class";
    private static final long BYTES_MOST = 16L << 20;
    private static final int ENTRIES_MOST = 65536;
    private static final int DEPTH_MOST = 32;
    private static final int END_BYTES = 22;
    private static final int COMMENT_BYTES_MOST = 65535;

    static {
        registerAsParallelCapable();
    }

    private final String path;

    /** By the name of an entry, com/acme/Slow.class. */
    private final Map<String, byte[]> entries = new TreeMap<>();
    private long bytes;

    /**
     * Reads the probe.
     *
     * @param parent of the API, or of the application where it has no API
     * @param path a jar, a folder as the root of packages, or the class of a probe, with which its nested classes are taken
     * @throws IOException what cannot be read, why, and what to do
     */
    ProbeLoader(ClassLoader parent, String path) throws IOException {
        super(parent);
        this.path = path;
        Path file = Paths.get(path);
        if (Files.isDirectory(file)) {
            takeFolder(file, "", 0);
        } else if (path.endsWith(CLASS)) {
            takeClass(file);
        } else {
            takeJar(file);
        }
        if (classFiles().length == 0) {
            throw new IOException(path + ": no class is in it; a probe is a jar, a folder with classes, or a class file");
        }
    }

    /** One that names a class, and goes. */
    private ProbeLoader(ClassLoader parent) {
        super(parent);
        path = "";
    }

    /**
     * The bytes of all classes that it has of its own.
     *
     * @return in the order of their names
     */
    byte[][] classFiles() {
        List<byte[]> found = new ArrayList<>();
        for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
            if (entry.getKey().endsWith(CLASS)) {
                found.add(entry.getValue());
            }
        }
        return found.toArray(new byte[0][]);
    }

    /**
     * The bytes of a class are others from now on. It is not loaded yet.
     *
     * @param name with slashes, com/acme/Slow
     */
    void replace(String name, byte[] content) {
        entries.put(name + CLASS, content);
    }

    /**
     * A class of the probe, which is not initialised by that.
     *
     * @param name with points, com.acme.Slow
     * @return never one of the parent's
     * @throws ClassNotFoundException it has none of that name
     */
    Class<?> probeClass(String name) throws ClassNotFoundException {
        Class<?> found = loadClass(name, false);
        if (found.getClassLoader() != this) {
            throw new ClassNotFoundException(name + " is of " + found.getClassLoader() + ", not of " + this);
        }
        return found;
    }

    // Reading ----------------------------------------------------------------------------------------------------------------

    private IOException tooMuch() {
        return new IOException(path + ": more than a probe may have, " + (BYTES_MOST >> 20) + " MiB or " + ENTRIES_MOST
            + " files; leave out what it does not need");
    }

    private void put(String name, byte[] content) throws IOException {
        bytes += content.length;
        if (entries.size() == ENTRIES_MOST) {
            throw tooMuch();
        }
        if (!entries.containsKey(name)) {
            entries.put(name, content);
        }
    }

    private byte[] read(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[1 << 14];
        for (int count = in.read(part); count >= 0; count = in.read(part)) {
            out.write(part, 0, count);
            if (bytes + out.size() > BYTES_MOST) {
                throw tooMuch();
            }
        }
        return out.toByteArray();
    }

    private byte[] readFile(Path file) throws IOException {
        /* What blocks, a pipe, would keep the agent waiting. */
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + ": " + (Files.exists(file) ? "no file that can be read whole" : "there is no such file"));
        }
        if (Files.size(file) > BYTES_MOST) {
            throw tooMuch();
        }
        try (InputStream in = Files.newInputStream(file)) {
            return read(in);
        }
    }

    /**
     * How many entries the directory at its end names; -1: there is none. A jar that is cut has lost it.
     * Source: APPNOTE.TXT of PKWARE, 4.3.16.
     */
    private static int entriesOf(byte[] jar) {
        int first = Math.max(0, jar.length - END_BYTES - COMMENT_BYTES_MOST);
        for (int at = jar.length - END_BYTES; at >= first; at--) {
            if (jar[at] == 'P' && jar[at + 1] == 'K' && jar[at + 2] == 5 && jar[at + 3] == 6) {
                return (jar[at + 10] & 0xff) | (jar[at + 11] & 0xff) << 8;
            }
        }
        return -1;
    }

    /* Not by ZipFile: on JDK 8 it maps the file, and a JVM does not survive one that shrinks meanwhile. */
    private void takeJar(Path file) throws IOException {
        byte[] content = readFile(file);
        int left = entriesOf(content);
        if (left < 0) {
            throw new IOException(path + ": is no jar, or not a whole one");
        }
        try (ZipInputStream jar = new ZipInputStream(new ByteArrayInputStream(content))) {
            for (ZipEntry entry = jar.getNextEntry(); entry != null; entry = jar.getNextEntry()) {
                left--;
                String name = entry.getName();
                /* Other versions of classes, for later JVMs, would be found as classes of another name. */
                if (!entry.isDirectory() && !name.startsWith("META-INF/versions/")) {
                    put(name, read(jar));
                }
            }
        } catch (ZipException | EOFException | IllegalArgumentException damaged) {
            throw new IOException(path + ": cannot be read as a jar: " + damaged.getMessage(), damaged);
        }
        if (left != 0) {
            throw new IOException(path + ": cannot be read as a jar: its directory and what lies before it do not agree");
        }
    }

    private void takeFolder(Path folder, String prefix, int depth) throws IOException {
        if (depth == DEPTH_MOST) {
            throw new IOException(folder + ": more than " + DEPTH_MOST + " folders deep");
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = prefix + file.getFileName();
                if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    takeFolder(file, name + '/', depth + 1);
                } else if (Files.isRegularFile(file)) {
                    put(name, readFile(file));
                }
            }
        }
    }

    /** A class says itself what its name is: the file need not lie in folders of its package. */
    private void takeClass(Path file) throws IOException {
        byte[] content = readFile(file);
        String name;
        try {
            name = new ProbeLoader(getParent()).defineClass(null, content, 0, content.length).getName();
        } catch (LinkageError refused) {
            throw new IOException(path + ": this JVM does not take it: " + refused, refused);
        } catch (SecurityException refused) {
            throw new IOException(path + ": this JVM does not take it: " + refused.getMessage(), refused);
        }
        String prefix = name.substring(0, name.lastIndexOf('.') + 1).replace('.', '/');
        put(name.replace('.', '/') + CLASS, content);
        Path folder = file.toAbsolutePath().getParent();
        String nested = name.substring(prefix.length()) + '$';
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path other : files) {
                String its = other.getFileName().toString();
                if (its.startsWith(nested) && its.endsWith(CLASS) && Files.isRegularFile(other)) {
                    put(prefix + its, readFile(other));
                }
            }
        }
    }

    // Loading ----------------------------------------------------------------------------------------------------------------

    /**
     * Its own classes first, since the application may have others of the same name; but for those of the API, which there is once.
     */
    @Override
    protected Class<?> loadClass(String name, boolean isResolved) throws ClassNotFoundException {
        if (name.equals(ProbeEvents.class.getName())) {
            return ProbeEvents.class;
        }
        if (name.equals(ProbeContext.class.getName())) {
            return ProbeContext.class;
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> found = findLoadedClass(name);
            if (found == null && !name.startsWith("java.") && !name.startsWith("io.jaywalk.")
                && entries.containsKey(name.replace('.', '/') + CLASS)) {
                found = findClass(name);
            }
            if (found == null) {
                return super.loadClass(name, isResolved);
            }
            if (isResolved) {
                resolveClass(found);
            }
            return found;
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] content = entries.get(name.replace('.', '/') + CLASS);
        if (content == null) {
            throw new ClassNotFoundException(name + " (" + this + ')');
        }
        int point = name.lastIndexOf('.');
        if (point > 0) {
            try {
                definePackage(name.substring(0, point), null, null, null, null, null, null, null); /* JDK 8 does not by itself */
            } catch (IllegalArgumentException there) {
                /* By an earlier class. */
            }
        }
        return defineClass(name, content, 0, content.length);
    }

    @Override
    public InputStream getResourceAsStream(String name) {
        byte[] content = entries.get(name);
        return content != null ? new ByteArrayInputStream(content) : super.getResourceAsStream(name);
    }

    @Override
    public String toString() {
        return "probe " + path;
    }
}
