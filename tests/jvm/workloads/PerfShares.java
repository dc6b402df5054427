import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A thread that computes and one that has the kernel fill its memory with zeros, each for so many milliseconds of CPU time, and
 * an account of it; beside them connections on threads of their own, so that numbers of descriptors and threads are used again and
 * again while all are signalled. Each byte must come back.
 *
 *     java PerfShares MILLISECONDS
 */
final class PerfShares {
    private static final int BYTES = 2000;
    private static final int CLIENTS = 4;

    static volatile long sink;
    private static final AtomicInteger ECHOES = new AtomicInteger();
    private static final AtomicInteger INCOMPLETE = new AtomicInteger();

    private interface Work {
        void run(long cpuNs) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        long cpuNs = Long.parseLong(args[0]) * 1_000_000;
        Thread compute = start("share-compute", PerfShares::compute, cpuNs);
        Thread zeros = start("share-zeros", PerfShares::readZeros, cpuNs);
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            while (compute.isAlive() || zeros.isAlive()) {
                exchange(server);
            }
        }
        Threads.printAccounts();
        System.out.println("echoes " + ECHOES + " incomplete " + INCOMPLETE);
    }

    private static Thread start(String name, Work work, long cpuNs) {
        Thread thread = new Thread(() -> {
            try {
                work.run(cpuNs);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            Threads.account(name);
        }, name);
        thread.start();
        return thread;
    }

    private static void compute(long cpuNs) {
        while (Threads.cpuNs() < cpuNs) {
            long value = sink;
            for (int i = 0; i < 20_000; i++) {
                value = value * 6364136223846793005L + 1442695040888963407L;
            }
            sink = value;
        }
    }

    private static void readZeros(long cpuNs) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
        try (FileChannel zero = FileChannel.open(Paths.get("/dev/zero"), StandardOpenOption.READ)) {
            while (Threads.cpuNs() < cpuNs) {
                fill(zero, buffer);
            }
        }
    }

    static void fill(FileChannel zero, ByteBuffer buffer) throws Exception {
        for (int i = 0; i < 20; i++) {
            buffer.clear();
            zero.read(buffer, 0);
        }
    }

    private static void exchange(ServerSocket server) throws Exception {
        Thread[] threads = new Thread[2 * CLIENTS];
        for (int i = 0; i < CLIENTS; i++) {
            threads[2 * i] = new Thread(() -> echo(server));
            threads[2 * i + 1] = new Thread(() -> talk(server));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void echo(ServerSocket server) {
        try (Socket socket = server.accept()) {
            byte[] some = new byte[BYTES];
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            for (int length = in.read(some); length > 0; length = in.read(some)) {
                out.write(some, 0, length);
            }
        } catch (Exception e) {
            INCOMPLETE.incrementAndGet();
        }
    }

    private static void talk(ServerSocket server) {
        byte[] sent = new byte[BYTES];
        byte[] back = new byte[BYTES];
        Arrays.fill(sent, (byte) 7);
        try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
            socket.getOutputStream().write(sent);
            socket.shutdownOutput();
            InputStream in = socket.getInputStream();
            int length = 0;
            for (int more = 0; more >= 0; more = in.read(back, length, BYTES - length)) {
                length += more;
                if (length == BYTES) {
                    break;
                }
            }
            if (length != BYTES || !Arrays.equals(sent, back)) {
                INCOMPLETE.incrementAndGet();
            }
        } catch (Exception e) {
            INCOMPLETE.incrementAndGet();
        }
        ECHOES.incrementAndGet();
    }
}
