package rest;

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
import org.jboss.resteasy.plugins.server.servlet.HttpServlet30Dispatcher;

/** The application in Jetty: rounds. */
public final class OnJetty {
    private OnJetty() {
    }

    private static ServletHolder add(ServletContextHandler to, String path, Servlet servlet) {
        final ServletHolder holder = new ServletHolder(servlet);

        holder.setAsyncSupported(true);
        to.addServlet(holder, path);
        return holder;
    }

    public static void main(String[] arguments) throws Exception {
        final Server server = new Server(0);
        final ServletContextHandler shop = new ServletContextHandler(server, "/shop");
        final ErrorPageErrorHandler errors = new ErrorPageErrorHandler();
        final FilterHolder filter = new FilterHolder(new Rest.Watch());

        Logger.getLogger("").setLevel(Level.OFF);
        final ServletHolder rest = add(shop, "/api/*", new HttpServlet30Dispatcher());

        rest.setInitParameter("javax.ws.rs.Application", Rest.Application.class.getName());
        rest.setInitParameter("resteasy.servlet.mapping.prefix", "/api");
        add(shop, "/forward", new Rest.Page());
        add(shop, "/page", new Rest.Page());
        errors.addErrorPage(500, "/api/error");
        shop.setErrorHandler(errors);
        filter.setAsyncSupported(true);
        shop.addFilter(filter, "/*", EnumSet.of(DispatcherType.REQUEST));
        server.start();

        final int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();

        Rest.serve(port, 1);
        System.out.println("serves");
        Rest.serve(port, Integer.parseInt(arguments[0]) - 1);
        server.stop();
        System.out.println(Rest.answers());
        System.out.println("ok");
        System.exit(0); // some of its threads stay
    }
}
