import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads and writes files and sockets of its own by each way that there is, some number of times each. Prints how often each was read or written, and how many bytes.
 *
 *     java Io platform|virtual|serve DIRECTORY
 *
 * <p>Lines: `TYPE NAME COUNT BYTES`, the name being that of the file, or the address.
 */
public final class Io {
    private static final int ROUNDS = 10, BYTES = 100;
    private static final long WAIT_MS = 30;

    private static final Map<String, long[]> DONE = new TreeMap<>();

    private static File directory;

    private Io() {
    }

    private static synchronized void did(String what, long bytes) {
        final long[] one = DONE.computeIfAbsent(what, key -> new long[2]);

        one[0]++;
        one[1] += Math.max(0, bytes);
    }

    private static File file(String name) throws IOException {
        final File file = new File(directory, name);

        try (RandomAccessFile empty = new RandomAccessFile(file, "rw")) {
            empty.setLength(10 * BYTES); // no byte is written
        }
        return file;
    }

    private static ByteBuffer[] two() {
        return new ByteBuffer[] {ByteBuffer.allocate(BYTES / 2), ByteBuffer.allocate(BYTES)};
    }

    // ---- files ----

    private static void readStream() throws IOException {
        final byte[] bytes = new byte[BYTES];

        try (InputStream in = new FileInputStream(file("in"))) {
            in.read();
            did("jdk.FileRead in", 1);
            did("jdk.FileRead in", in.read(bytes));
            did("jdk.FileRead in", in.read(bytes, 1, BYTES - 1));
        }
        try (InputStream in = new FileInputStream(File.createTempFile("none", "", directory))) {
            did("jdk.FileRead none", in.read());
            did("jdk.FileRead none", in.read(bytes));
        }
    }

    private static void writeStream() throws IOException {
        try (OutputStream out = new FileOutputStream(file("out"))) {
            out.write(1);
            did("jdk.FileWrite out", 1);
            out.write(new byte[BYTES]);
            did("jdk.FileWrite out", BYTES);
            out.write(new byte[BYTES], 1, BYTES - 1);
            did("jdk.FileWrite out", BYTES - 1);
        }
    }

    private static void random() throws IOException {
        final byte[] bytes = new byte[BYTES];

        try (RandomAccessFile file = new RandomAccessFile(file("random"), "rw")) {
            file.read();
            did("jdk.FileRead random", 1);
            did("jdk.FileRead random", file.read(bytes));
            did("jdk.FileRead random", file.read(bytes, 1, BYTES - 1));
            file.write(1);
            did("jdk.FileWrite random", 1);
            file.write(bytes);
            did("jdk.FileWrite random", BYTES);
            file.write(bytes, 1, BYTES - 1);
            did("jdk.FileWrite random", BYTES - 1);
        }
    }

    private static void channel() throws IOException {
        try (FileChannel channel = FileChannel.open(file("channel").toPath(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            did("jdk.FileRead channel", channel.read(ByteBuffer.allocate(BYTES)));
            did("jdk.FileRead channel", channel.read(ByteBuffer.allocate(BYTES), 2));
            did("jdk.FileRead channel", channel.read(two()));
            did("jdk.FileWrite channel", channel.write(ByteBuffer.allocate(BYTES)));
            did("jdk.FileWrite channel", channel.write(ByteBuffer.allocate(BYTES), 2));
            did("jdk.FileWrite channel", channel.write(two()));
            channel.force(true);
            did("jdk.FileForce channel", 0);
        }
    }

    /** A file that is closed can be read no more: that fails, and is told. */
    private static void closed() throws IOException {
        final FileInputStream in = new FileInputStream(file("closed"));

        in.close();
        try {
            in.read(new byte[BYTES]);
            throw new IllegalStateException("a closed file was read");
        } catch (IOException expected) {
            did("jdk.FileRead closed", 0);
        }
    }

    // ---- sockets ----

    private static String read(InetAddress by) {
        return "jdk.SocketRead " + by.getHostAddress();
    }

    private static String written(InetAddress by) {
        return "jdk.SocketWrite " + by.getHostAddress();
    }

    private static void sockets(InetAddress address) throws IOException {
        final byte[] bytes = new byte[BYTES];

        try (ServerSocket server = new ServerSocket(0, 1, address);
                Socket client = new Socket(address, server.getLocalPort());
                Socket accepted = server.accept()) {
            final OutputStream out = client.getOutputStream();
            final InputStream in = accepted.getInputStream();
            final InetAddress other = accepted.getInetAddress();

            out.write(bytes);
            did(written(address), BYTES);
            out.write(1);
            did(written(address), 1);
            for (int got = 0; got < BYTES + 1;) {
                final int now = in.read(bytes, 0, bytes.length);

                did(read(other), now);
                got += now;
            }
            accepted.setSoTimeout((int) WAIT_MS);
            try {
                in.read();
                throw new IllegalStateException("there was nothing to be read");
            } catch (SocketTimeoutException expected) {
                did(read(other), 0);
            }
            client.shutdownOutput();
            did(read(other), in.read(bytes));
        }
    }

    private static void channels(InetAddress address) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(address, 0));
                SocketChannel client = SocketChannel.open(server.getLocalAddress());
                SocketChannel accepted = server.accept()) {
            final InetAddress other = ((InetSocketAddress) accepted.getRemoteAddress()).getAddress();

            did(written(address), client.write(ByteBuffer.allocate(BYTES)));
            did(read(other), accepted.read(ByteBuffer.allocate(BYTES)));
            did(written(address), client.write(two()));
            did(read(other), accepted.read(two()));
            client.shutdownOutput();
            did(read(other), accepted.read(ByteBuffer.allocate(1)));
        }
    }

    /** Null: this machine has no such addresses. */
    private static InetAddress six() throws IOException {
        final InetAddress six = InetAddress.getByName("::1");

        try {
            new ServerSocket(0, 1, six).close();
            return six;
        } catch (IOException e) {
            return null;
        }
    }

    private static void all() {
        try {
            final InetAddress six = six();

            for (int i = 0; i < ROUNDS; i++) {
                readStream();
                writeStream();
                random();
                channel();
                closed();
                sockets(InetAddress.getByAddress("here", new byte[] {127, 0, 0, 1}));
                channels(InetAddress.getByAddress("here", new byte[] {127, 0, 0, 2}));
                if (six != null) {
                    channels(six);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Virtual threads are there since JDK 21 alone. */
    private static Thread thread(String kind) throws ReflectiveOperationException {
        if (!kind.equals("virtual")) {
            return new Thread(Io::all, "io");
        }
        final Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        final Method unstarted = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);

        return (Thread) unstarted.invoke(builder, (Runnable) Io::all);
    }

    public static void main(String[] args) throws Exception {
        directory = new File(args[1]);
        if (args[0].equals("serve")) {
            System.out.println("serves");
            for (;;) {
                readStream();
                Thread.sleep(1);
            }
        }
        final Thread thread = thread(args[0]);

        thread.start();
        thread.join();
        final ByteArrayOutputStream lines = new ByteArrayOutputStream();
        for (Map.Entry<String, long[]> one : DONE.entrySet()) {
            lines.write((one.getKey() + " " + one.getValue()[0] + " " + one.getValue()[1] + "\n").getBytes("UTF-8"));
        }
        System.out.write(lines.toByteArray(), 0, lines.size());
        System.out.flush();
    }
}
