package dispatched;

import io.undertow.servlet.spec.HttpServletRequestImpl;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.server.HttpChannel;

/**
 * Asynchronous requests as containers make them, without one: a thread takes each in, another one goes on with it, in every order in which
 * the one may leave it and the other come to it. Each is worked for twice, so it lasts that long whatever the order.
 */
public final class Dispatched {
    private static final int REQUESTS = 6;
    private static final long WORK_MS = 3;

    private static final ExecutorService OTHER = Executors.newSingleThreadExecutor(r -> {
        final Thread thread = new Thread(r, "other");

        thread.setDaemon(true);
        return thread;
    });

    /** When the other thread comes. */
    private enum Order {
        AFTER, // it was dispatched when the first one had left
        DISPATCHED, // that was while the first one was in it
        INSIDE, // it is in it when the first one leaves
        OVERTAKING, // it is done with it before that
        NEXT, // and has taken in the next one of the connection
        ITSELF // nobody comes, the first thread goes on itself
    }

    private Dispatched() {
    }

    private static void work() {
        try {
            Thread.sleep(WORK_MS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One request in its container. */
    private interface Served {
        void startAsync();

        /** Others may come. */
        void suspend();

        void dispatch();

        /** On any thread. */
        void handle(BooleanSupplier work);

        /** The next one of the same connection. */
        Served next();
    }

    private static final class OfJetty implements Served {
        private final HttpChannel channel;

        OfJetty(HttpChannel channel, String uri) {
            this.channel = channel;
            channel.begin(uri);
        }

        @Override
        public void startAsync() {
            channel.getRequest().startAsync();
        }

        @Override
        public void suspend() {
            channel.getState().suspended();
        }

        @Override
        public void dispatch() {
            channel.getState().dispatched();
        }

        @Override
        public void handle(BooleanSupplier work) {
            channel.handle(work);
        }

        @Override
        public Served next() {
            return new OfJetty(channel, "/jetty/next/second");
        }
    }

    private static final class OfServlet extends HttpServlet implements Served {
        private final HttpServletRequestImpl request;
        private final ThreadLocal<BooleanSupplier> work = new ThreadLocal<>();

        OfServlet(String uri) {
            request = new HttpServletRequestImpl(uri);
        }

        @Override
        public void startAsync() {
            request.startAsync();
        }

        @Override
        public void suspend() {
        }

        @Override
        public void dispatch() {
            request.dispatched();
        }

        @Override
        public void handle(BooleanSupplier todo) {
            work.set(todo);
            service(request, null);
        }

        @Override
        protected void service(HttpServletRequest asked) {
            work.get().getAsBoolean();
        }

        @Override
        public Served next() {
            return new OfServlet("/servlet/next/second");
        }
    }

    private static final class Steps {
        final CountDownLatch dispatched = new CountDownLatch(1), entered = new CountDownLatch(1), done = new CountDownLatch(1),
                left = new CountDownLatch(1);
    }

    private static void goOn(Served served, Order order, Steps steps) {
        await(order == Order.AFTER || order == Order.DISPATCHED ? steps.left : steps.dispatched);
        served.handle(() -> {
            steps.entered.countDown();
            if (order == Order.INSIDE) {
                await(steps.left);
            }
            work();
            return true;
        });
        if (order != Order.NEXT) {
            steps.done.countDown();
            return;
        }

        final Served next = served.next();

        next.handle(() -> {
            next.startAsync();
            work();
            next.dispatch();
            next.suspend();
            return false;
        });
        steps.done.countDown();
        await(steps.left);
        next.handle(() -> {
            work();
            return true;
        });
    }

    private static boolean takeIn(Served served, Order order, Steps steps) {
        served.startAsync();
        work();
        if (order == Order.ITSELF) {
            served.dispatch();
            work();
            return true;
        }
        if (order != Order.AFTER) {
            served.dispatch();
        }
        served.suspend();
        steps.dispatched.countDown();
        if (order == Order.INSIDE) {
            await(steps.entered);
        } else if (order == Order.OVERTAKING || order == Order.NEXT) {
            await(steps.done);
        }
        return false;
    }

    private static void serve(Served served, Order order) throws Exception {
        final Steps steps = new Steps();
        final Future<?> other = order == Order.ITSELF ? null : OTHER.submit(() -> goOn(served, order, steps));

        served.handle(() -> takeIn(served, order, steps));
        if (order == Order.AFTER) {
            served.dispatch();
        }
        steps.left.countDown();
        if (other != null) {
            other.get();
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (Order order : Order.values()) {
            final String name = order.name().toLowerCase(Locale.ROOT);
            final HttpChannel channel = new HttpChannel();

            for (int i = 0; i < REQUESTS; i++) {
                serve(new OfJetty(channel, "/jetty/" + name), order);
                if (order != Order.ITSELF) { // what a thread does itself with a servlet's request it does in a call of its own
                    serve(new OfServlet("/servlet/" + name), order);
                }
            }
        }
        System.out.println("ok");
    }
}
