package mvc;

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

/** The application in Tomcat: rounds. */
public final class OnTomcat {
    private OnTomcat() {
    }

    private static void add(Context to, String path, Servlet servlet) {
        final Wrapper wrapper = Tomcat.addServlet(to, path, servlet);

        wrapper.setAsyncSupported(true);
        to.addServletMappingDecoded(path, path);
    }

    private static void addErrorPage(Context to, int code) {
        final ErrorPage page = new ErrorPage();

        page.setErrorCode(code);
        page.setLocation("/api/error");
        to.addErrorPage(page);
    }

    private static void addFilter(Context to) {
        final FilterDef filter = new FilterDef();
        final FilterMap map = new FilterMap();

        filter.setFilterName("watch");
        filter.setFilter(new Mvc.Watch());
        filter.setAsyncSupported("true");
        to.addFilterDef(filter);
        map.setFilterName("watch");
        map.addURLPattern("/*");
        map.setDispatcher("REQUEST");
        map.setDispatcher("ASYNC");
        to.addFilterMap(map);
    }

    public static void main(String[] arguments) throws Exception {
        final Path files = Paths.get("tomcat-base").toAbsolutePath();
        final Tomcat tomcat = new Tomcat();

        Logger.getLogger("").setLevel(Level.OFF);
        tomcat.setBaseDir(files.toString());
        tomcat.setPort(0);

        final Context shop = tomcat.addContext("/shop", null);

        add(shop, "/api/*", Mvc.servlet());
        add(shop, "/page", new Mvc.Page());
        addErrorPage(shop, 404);
        addErrorPage(shop, 500);
        addFilter(shop);
        tomcat.getConnector();
        tomcat.start();
        Mvc.serve(tomcat.getConnector().getLocalPort(), 1);
        System.out.println("serves");
        Mvc.serve(tomcat.getConnector().getLocalPort(), Integer.parseInt(arguments[0]) - 1);
        tomcat.stop();
        System.out.println("ok");
        System.exit(0); // some of its threads stay
    }
}
