package mvc;

import java.util.EnumSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.servlet.DispatcherType;
import javax.servlet.Servlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.servlet.ErrorPageErrorHandler;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/** The application in Jetty: rounds. */
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
        final ServletContextHandler shop = new ServletContextHandler(server, "/shop");
        final ErrorPageErrorHandler errors = new ErrorPageErrorHandler();
        final FilterHolder filter = new FilterHolder(new Mvc.Watch());

        Logger.getLogger("").setLevel(Level.OFF);
        add(shop, "/api/*", Mvc.servlet());
        add(shop, "/page", new Mvc.Page());
        errors.addErrorPage(404, "/api/error");
        errors.addErrorPage(500, "/api/error");
        shop.setErrorHandler(errors);
        filter.setAsyncSupported(true);
        shop.addFilter(filter, "/*", EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC));
        server.start();

        final int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();

        Mvc.serve(port, 1);
        System.out.println("serves");
        Mvc.serve(port, Integer.parseInt(arguments[0]) - 1);
        server.stop();
        System.out.println("ok");
        System.exit(0); // some of its threads stay
    }
}
