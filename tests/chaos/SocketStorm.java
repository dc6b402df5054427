import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.zip.CRC32;

/**
 * Connections that come and go while threads come and go, each on threads of their own: what a profiler reads from a
 * descriptor that became another's is missing here. Every byte must come back.
 */
final class SocketStorm implements Storm {
    private static final int LINGER_MS = 30_000;

    @Override
    public String name() {
        return "sockets";
    }

    @Override
    public void run(Run run) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            Thread acceptor = new Thread(() -> accept(run, server), "sockets-acceptor");
            acceptor.setDaemon(true);
            acceptor.start();
            while (run.goesOn()) {
                Thread[] clients = new Thread[2 * run.intensity()];
                for (int i = 0; i < clients.length; i++) {
                    boolean isChannel = run.random().nextBoolean();
                    byte[] content = new byte[1 + run.random().nextInt(20_000)];
                    run.random().nextBytes(content);
                    clients[i] = new Thread(
                            () -> run.guarded(() -> talk(run, server, content, isChannel)), "sockets-client");
                    clients[i].start();
                }
                for (Thread client : clients) {
                    client.join();
                }
                run.did(clients.length);
                run.rest();
            }
        }
    }

    private static void accept(Run run, ServerSocket server) {
        try {
            while (true) {
                Socket socket = server.accept();
                Thread echo = new Thread(() -> run.guarded(() -> echo(socket)), "sockets-echo");
                echo.setDaemon(true);
                echo.start();
            }
        } catch (IOException e) {
            if (!server.isClosed()) {
                run.violated("accept: " + e);
            }
        }
    }

    private static void echo(Socket socket) throws IOException {
        try {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            byte[] some = new byte[3000];
            for (int length = in.read(some); length > 0; length = in.read(some)) {
                out.write(some, 0, length);
            }
        } finally {
            socket.close();
        }
    }

    private static void talk(Run run, ServerSocket server, byte[] content, boolean isChannel) throws IOException {
        byte[] back = new byte[content.length];
        if (isChannel) {
            try (SocketChannel channel = SocketChannel.open(
                         new InetSocketAddress(server.getInetAddress(), server.getLocalPort()))) {
                ByteBuffer out = ByteBuffer.wrap(content);
                while (out.hasRemaining()) {
                    channel.write(out);
                }
                channel.shutdownOutput();
                ByteBuffer in = ByteBuffer.wrap(back);
                while (in.hasRemaining() && channel.read(in) >= 0) {
                    Thread.yield();
                }
                check(run, content, back, in.position());
            }
            return;
        }
        try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
            socket.setSoTimeout(LINGER_MS);
            OutputStream out = socket.getOutputStream();
            for (int at = 0; at < content.length;) {
                int piece = Math.min(content.length - at, 1 + run.random().nextInt(4000));
                out.write(content, at, piece);
                at += piece;
            }
            socket.shutdownOutput();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            int got = 0;
            for (int length = in.read(back, got, back.length - got); length > 0;
                    length = in.read(back, got, back.length - got)) {
                got += length;
            }
            check(run, content, back, got);
        }
    }

    private static void check(Run run, byte[] content, byte[] back, int got) {
        CRC32 sent = new CRC32();
        sent.update(content);
        CRC32 received = new CRC32();
        received.update(back);
        // m69: no byte is eaten
        if (got != content.length || sent.getValue() != received.getValue()) {
            run.violated("of " + content.length + " bytes " + got + " came back"
                    + (got == content.length ? ", others than were sent" : ""));
        }
    }
}
