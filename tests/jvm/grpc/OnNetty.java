package calls;

import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The same calls, by the network: rounds. */
public final class OnNetty {
    private OnNetty() {
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);

        final ExecutorService pool = Executors.newCachedThreadPool();
        final Server server = Calls.builder(NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0)), pool).build().start();

        Calls.serve(server, NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build(), pool, Integer.parseInt(arguments[0]));
    }
}
