package io.jaywalk;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Map;

/**
 * Finds libjaywalk.so: as an agent of this JVM, where the JVM itself looks for its functions; else mapped by this process, from where
 * it is loaded once more for these classes; else in the jar. There is never a second copy of it in a process on account of this class.
 */
final class Library {
    private static final String NAME = "libjaywalk.so";
    private static final String DIRECTORY_PROPERTY = "io.jaywalk.directory";
    private static final String PATH_PROPERTY = "io.jaywalk.library";
    private static final int MODE_OF_OTHERS = 077;

    /** One in the JVM, however many class loaders have these classes. */
    private static final Object ONE_AT_A_TIME = "io.jaywalk.Library: one at a time".intern();

    private Library() {}

    /** The functions of the library can be called. Costs some microseconds when they cannot. */
    static boolean isLinked() {
        int theirs;
        try {
            theirs = Native.interfaceNumber();
        } catch (UnsatisfiedLinkError missing) {
            return false;
        }
        if (theirs != Native.INTERFACE) {
            throw new JaywalkException("the library " + NAME + " in this JVM and jaywalk.jar are of different versions (interface "
                + theirs + " and " + Native.INTERFACE + "); use both of one release");
        }
        return true;
    }

    /** Links these classes with a library that the process has already. False: it has none. */
    static boolean findLoaded() {
        synchronized (ONE_AT_A_TIME) {
            if (isLinked()) {
                return true;
            }
            String path = findMapped();
            if (path == null) {
                return false;
            }
            loadMapped(path);
            return true;
        }
    }

    /** Links these classes with the library, which is loaded when the process has none. */
    static void load() {
        synchronized (ONE_AT_A_TIME) {
            if (findLoaded()) {
                return;
            }
            String named = System.getProperty(PATH_PROPERTY);
            Path path = named != null ? Paths.get(named).toAbsolutePath() : extract();
            try {
                System.load(path.toString());
            } catch (UnsatisfiedLinkError refused) {
                throw new JaywalkException("cannot load " + path + ": " + refused.getMessage() + "; " + (named != null
                    ? "the property " + PATH_PROPERTY + " names it"
                    : "if its file system is mounted noexec, name another directory with -D" + DIRECTORY_PROPERTY
                        + "=DIR, or load the agent with -agentpath"), refused);
            }
            demandLinked(path.toString());
        }
    }

    private static void demandLinked(String path) {
        if (!isLinked()) {
            throw new JaywalkException(path + " lacks the functions of jaywalk.jar; use both of one release");
        }
    }

    /** Path of the library as this process maps it; null: it does not. */
    private static String findMapped() {
        try (BufferedReader maps = Files.newBufferedReader(Paths.get("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                int slash = line.indexOf('/');
                if (slash > 0 && (line.endsWith('/' + NAME) || line.endsWith('/' + NAME + " (deleted)"))) {
                    byte[] path = line.substring(slash).getBytes(StandardCharsets.ISO_8859_1);
                    return new String(path, StandardCharsets.UTF_8);
                }
            }
            return null;
        } catch (IOException unreadable) {
            return null;
        }
    }

    private static void loadMapped(String path) {
        if (path.endsWith(" (deleted)")) {
            throw new JaywalkException("this process has a jaywalk agent whose file is gone, " + path
                + "; it cannot be used from Java: leave the file where it is, or load the agent with -agentpath");
        }
        try {
            System.load(path);
        } catch (UnsatisfiedLinkError taken) {
            loadThroughLink(path, taken);
        }
        demandLinked(path);
    }

    /**
     * A JVM loads a file for one class loader alone. By another name it is another file to the JVM, and the same library to the
     * system.
     */
    private static void loadThroughLink(String path, UnsatisfiedLinkError taken) {
        Path link = null;
        try {
            link = privateDirectory().resolve("link-" + Long.toHexString(System.nanoTime()) + '-' + NAME);
            Files.createLink(link, Paths.get(path));
            System.load(link.toString());
        } catch (IOException | UnsatisfiedLinkError refused) {
            throw new JaywalkException("cannot use " + path + " for a second class loader: " + taken.getMessage() + "; "
                + refused.getMessage() + "; load the agent with -agentpath, or put jaywalk.jar where both share it", refused);
        } finally {
            deleteQuietly(link);
        }
    }

    private static void deleteQuietly(Path path) {
        try {
            if (path != null) {
                Files.deleteIfExists(path);
            }
        } catch (IOException stays) {
            /* A second name in a directory of our own harms nobody. */
        }
    }

    // The library of the jar -------------------------------------------------------------------------------------------------

    private static String platform() {
        String system = System.getProperty("os.name", "?");
        String processor = System.getProperty("os.arch", "?");
        if (system.equals("Linux") && (processor.equals("amd64") || processor.equals("x86_64"))) {
            return "linux-x64";
        }
        if (system.equals("Linux") && processor.equals("aarch64")) {
            return "linux-arm64";
        }
        throw new JaywalkException("jaywalk runs on Linux, on x86-64 and aarch64; this is " + system + " on " + processor
            + " (Jaywalk.ifPresent() gives an API that does nothing)");
    }

    /** Into DIRECTORY/jaywalk-UID/HASH/, unless it is there already. */
    private static Path extract() {
        String resource = "/io/jaywalk/" + platform() + '/' + NAME;
        Path at = null;
        try (InputStream in = Library.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new JaywalkException("no agent is loaded, and this jaywalk.jar carries none for this machine (" + resource
                    + "); load it with -agentpath:/path/to/" + NAME + " or name it with -D" + PATH_PROPERTY + "=PATH");
            }
            byte[] library = readAll(in);
            at = privateDirectory().resolve(hash(library));
            makePrivate(at);
            at = at.resolve(NAME);
            if (!isThere(at, library)) {
                write(at, library);
            }
            return at;
        } catch (IOException failed) {
            throw new JaywalkException("cannot write the agent that jaywalk.jar carries" + (at == null ? "" : " to " + at) + ": "
                + failed + "; name another directory with -D" + DIRECTORY_PROPERTY + "=DIR, or load the agent with -agentpath",
                failed);
        }
    }

    private static byte[] readAll(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 20);
        byte[] part = new byte[1 << 16];
        for (int count = in.read(part); count >= 0; count = in.read(part)) {
            out.write(part, 0, count);
        }
        return out.toByteArray();
    }

    private static String hash(byte[] bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 12; i++) {
                text.append(String.format("%02x", digest[i]));
            }
            return text.toString();
        } catch (NoSuchAlgorithmException missing) {
            throw new JaywalkException("this Java runtime has no SHA-256", missing);
        }
    }

    private static int user() throws IOException {
        return (Integer) Files.getAttribute(Paths.get("/proc/self"), "unix:uid");
    }

    private static Path privateDirectory() throws IOException {
        String place = System.getProperty(DIRECTORY_PROPERTY, System.getProperty("java.io.tmpdir", "/tmp"));
        Path directory = Paths.get(place).toAbsolutePath().resolve("jaywalk-" + user());
        makePrivate(directory);
        return directory;
    }

    /** Nobody else can put something there: what lies in it is code that we run. */
    private static void makePrivate(Path directory) throws IOException {
        try {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException there) {
            /* Looked at like a new one. */
        }
        Map<String, Object> found = Files.readAttributes(directory, "unix:isDirectory,mode,uid", LinkOption.NOFOLLOW_LINKS);
        if (!(Boolean) found.get("isDirectory") || (Integer) found.get("uid") != user()
            || ((Integer) found.get("mode") & MODE_OF_OTHERS) != 0) {
            throw new JaywalkException(directory + " is no directory that this user alone can enter (mode 0700), so no library is "
                + "loaded from there; remove it, or name another place with -D" + DIRECTORY_PROPERTY + "=DIR");
        }
    }

    private static boolean isThere(Path file, byte[] wanted) throws IOException {
        try {
            Map<String, Object> found = Files.readAttributes(file, "unix:isRegularFile,mode,uid", LinkOption.NOFOLLOW_LINKS);
            return (Boolean) found.get("isRegularFile") && (Integer) found.get("uid") == user()
                && ((Integer) found.get("mode") & MODE_OF_OTHERS) == 0 && Arrays.equals(Files.readAllBytes(file), wanted);
        } catch (NoSuchFileException missing) {
            return false;
        }
    }

    /** Whole or not at all, also when two processes do it at the same time. */
    private static void write(Path file, byte[] bytes) throws IOException {
        Path unfinished = Files.createTempFile(file.getParent(), NAME, ".new");
        try {
            Files.write(unfinished, bytes);
            Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            deleteQuietly(unfinished);
        }
    }
}
