package rest;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.servlet.Servlet;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.ErrorPage;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.jboss.resteasy.plugins.server.servlet.HttpServlet30Dispatcher;

/** The application in Tomcat: rounds. */
public final class OnTomcat {
    private OnTomcat() {
    }

    private static Wrapper add(Context to, String path, Servlet servlet) {
        final Wrapper wrapper = Tomcat.addServlet(to, path, servlet);

        wrapper.setAsyncSupported(true);
        to.addServletMappingDecoded(path, path);
        return wrapper;
    }

    private static void addErrorPage(Context to) {
        final ErrorPage page = new ErrorPage();

        page.setErrorCode(500);
        page.setLocation("/api/error");
        to.addErrorPage(page);
    }

    private static void addFilter(Context to) {
        final FilterDef filter = new FilterDef();
        final FilterMap map = new FilterMap();

        filter.setFilterName("watch");
        filter.setFilter(new Rest.Watch());
        filter.setAsyncSupported("true");
        to.addFilterDef(filter);
        map.setFilterName("watch");
        map.addURLPattern("/*");
        to.addFilterMap(map);
    }

    public static void main(String[] arguments) throws Exception {
        final Path files = Paths.get("tomcat-base").toAbsolutePath();
        final Tomcat tomcat = new Tomcat();

        Logger.getLogger("").setLevel(Level.OFF);
        tomcat.setBaseDir(files.toString());
        tomcat.setPort(0);

        final Context shop = tomcat.addContext("/shop", null);
        final Wrapper rest = add(shop, "/api/*", new HttpServlet30Dispatcher());

        rest.addInitParameter("javax.ws.rs.Application", Rest.Application.class.getName());
        rest.addInitParameter("resteasy.servlet.mapping.prefix", "/api");
        add(shop, "/forward", new Rest.Page());
        add(shop, "/page", new Rest.Page());
        addErrorPage(shop);
        addFilter(shop);
        tomcat.getConnector();
        tomcat.start();
        Rest.serve(tomcat.getConnector().getLocalPort(), 1);
        System.out.println("serves");
        Rest.serve(tomcat.getConnector().getLocalPort(), Integer.parseInt(arguments[0]) - 1);
        tomcat.stop();
        System.out.println(Rest.answers());
        System.out.println("ok");
        System.exit(0); // some of its threads stay
    }
}
