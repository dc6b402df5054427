package shop;

import java.nio.file.Paths;
import java.util.EnumSet;
import javax.servlet.DispatcherType;
import javax.servlet.Servlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.DefaultServlet;
import org.eclipse.jetty.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** The application in Jetty: folder of its files, rounds. */
public final class OnJetty {
    private OnJetty() {
    }

    private static void add(ServletContextHandler to, String path, Servlet servlet) {
        final ServletHolder holder = new ServletHolder(servlet);

        holder.setAsyncSupported(true);
        to.addServlet(holder, path);
    }

    public static void main(String[] arguments) throws Exception {
        final Server server = new Server(0);
        final ServletContextHandler shop = new ServletContextHandler();
        final ErrorPageErrorHandler errors = new ErrorPageErrorHandler();
        final FilterHolder filter = new FilterHolder(new Shop.Watch());

        shop.setResourceBase(Paths.get(arguments[0]).toAbsolutePath().toString());
        add(shop, "/orders/*", new Shop.Orders());
        add(shop, "/items", new Shop.Items());
        add(shop, "/forward", new Shop.Forward());
        add(shop, "/forwarded", new Shop.Forward());
        add(shop, "/failing", new Shop.Failing());
        add(shop, "/error", new Shop.ErrorPage());
        add(shop, "/async/*", new Shop.Async());
        add(shop, "/", new DefaultServlet());
        errors.addErrorPage(404, "/error");
        errors.addErrorPage(503, "/error");
        shop.setErrorHandler(errors);
        filter.setAsyncSupported(true);
        shop.addFilter(filter, "/*", EnumSet.of(DispatcherType.REQUEST));
        server.setHandler(shop);
        server.start();

        final int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();

        Shop.serve(port, 1);
        System.out.println("serves");
        Shop.serve(port, Integer.parseInt(arguments[1]) - 1);
        server.stop();
        System.out.println("ok");
        System.exit(0); // some of its threads stay
    }
}
