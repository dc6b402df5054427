package jaywalk.hooks;

import java.io.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;

/** Packs classes: {@code Pack OUT jrt:MODULE|jrt:*|JAR|JAR!PREFIX|FOLDER...}: a length of four bytes and as many bytes for each. */
public class Pack {
    public static void main(String[] args) throws Exception {
        int count = 0;
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(args[0]), 1 << 20))) {
            for (int i = 1; i < args.length; i++)
                count += args[i].startsWith("jrt:") ? ofModules(args[i].substring(4), out)
                        : args[i].contains(".jar") ? ofJar(args[i].split("!"), out) : ofFolder(Paths.get(args[i]), out);
        }
        System.out.println("packed " + count);
    }

    static int ofModules(String name, DataOutputStream out) throws IOException {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        return ofFolder(name.equals("*") ? modules : modules.resolve(name), out);
    }

    static int ofFolder(Path folder, DataOutputStream out) throws IOException {
        List<Path> classes;
        try (Stream<Path> all = Files.walk(folder)) {
            classes = all.filter(p -> p.toString().endsWith(".class")).sorted().collect(Collectors.toList());
        }
        for (Path path : classes)
            put(Files.readAllBytes(path), out);
        return classes.size();
    }

    static int ofJar(String[] jar, DataOutputStream out) throws IOException {
        int count = 0;
        try (ZipFile zip = new ZipFile(jar[0])) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                if (!entry.getName().endsWith(".class") || (jar.length > 1 && !entry.getName().startsWith(jar[1])))
                    continue;
                try (DataInputStream in = new DataInputStream(zip.getInputStream(entry))) {
                    byte[] bytes = new byte[(int) entry.getSize()];
                    in.readFully(bytes);
                    put(bytes, out);
                    count++;
                }
            }
        }
        return count;
    }

    static void put(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
