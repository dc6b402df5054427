package shop;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.servlet.Servlet;
import org.apache.catalina.Context;
import org.apache.catalina.Wrapper;
import org.apache.catalina.servlets.DefaultServlet;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/** The application in Tomcat: folder of its files, rounds; and a file: as long as that is there they are asked again, and at the end it says what was answered. */
public final class OnTomcat {
    private OnTomcat() {
    }

    private static void add(Context to, String path, Servlet servlet) {
        final Wrapper wrapper = Tomcat.addServlet(to, path, servlet);

        wrapper.setAsyncSupported(true);
        to.addServletMappingDecoded(path, path);
    }

    private static void addErrorPage(Context to, int code) {
        final org.apache.tomcat.util.descriptor.web.ErrorPage page = new org.apache.tomcat.util.descriptor.web.ErrorPage();

        page.setErrorCode(code);
        page.setLocation("/error");
        to.addErrorPage(page);
    }

    private static void addFilter(Context to) {
        final FilterDef filter = new FilterDef();
        final FilterMap map = new FilterMap();

        filter.setFilterName("watch");
        filter.setFilter(new Shop.Watch());
        filter.setAsyncSupported("true");
        to.addFilterDef(filter);
        map.setFilterName("watch");
        map.addURLPattern("/*");
        to.addFilterMap(map);
    }

    public static void main(String[] arguments) throws Exception {
        final Path files = Paths.get(arguments[0]).toAbsolutePath();
        final Tomcat tomcat = new Tomcat();

        Logger.getLogger("").setLevel(Level.WARNING);
        tomcat.setBaseDir(files.resolveSibling("tomcat-base").toString());
        tomcat.setPort(0);

        final Context shop = tomcat.addContext("", files.toString());

        add(shop, "/orders/*", new Shop.Orders());
        add(shop, "/items", new Shop.Items());
        add(shop, "/forward", new Shop.Forward());
        add(shop, "/forwarded", new Shop.Forward());
        add(shop, "/failing", new Shop.Failing());
        add(shop, "/error", new Shop.ErrorPage());
        add(shop, "/async/*", new Shop.Async());
        add(shop, "/", new DefaultServlet());
        addErrorPage(shop, 404);
        addErrorPage(shop, 503);
        addFilter(shop);
        tomcat.getConnector();
        tomcat.start();
        Shop.serve(tomcat.getConnector().getLocalPort(), 1);
        System.out.println("serves");
        while (arguments.length > 2 && Files.exists(Paths.get(arguments[2]))) {
            Shop.serve(tomcat.getConnector().getLocalPort(), Integer.parseInt(arguments[1]) - 1);
        }
        Shop.serve(tomcat.getConnector().getLocalPort(), Integer.parseInt(arguments[1]) - 1);
        if (arguments.length > 2) {
            Shop.tell();
        }
        Logger.getLogger("").setLevel(Level.SEVERE); // it warns of threads that it finds
        tomcat.stop();
        System.out.println("ok");
        System.exit(0); // some of its threads stay
    }
}
