package served;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;

/**
 * Requests to a servlet behind a filter, as a container would make them, without one: each endpoint a known number of times and for a known time, by a
 * method of its own name; some end with an exception, some forward to another path, one thread goes deep and comes back by an exception.
 */
public final class Served {
    private static final int REQUESTS = 60;
    private static final long BURN_NS = 3_000_000;

    private static volatile long sink;

    private Served() {
    }

    private static void burn() {
        final long begin = System.nanoTime();

        while (System.nanoTime() - begin < BURN_NS) {
            sink++;
        }
    }

    private static void inOrders() {
        burn();
    }

    private static void inSearch() {
        burn();
    }

    private static void inFailing() {
        burn();
        throw new IllegalStateException("as it has to");
    }

    /** Through the servlet's own door each time, until there is no stack for it. */
    private static void deeper(Shop shop, ServletRequest request) {
        shop.service(request, null);
        sink++; // this is no call at the end
    }

    private static void outside() {
        burn();
    }

    private static final class Request implements HttpServletRequest {
        private final String method, uri;

        Request(String method, String uri) {
            this.method = method;
            this.uri = uri;
        }

        @Override
        public String getMethod() {
            return method;
        }

        @Override
        public String getRequestURI() {
            return uri;
        }
    }

    private static final class Shop extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request) {
            if (request.getRequestURI().startsWith("/forward")) {
                service(new Request("GET", "/search"), null); // is a part of the first one
            } else if (request.getRequestURI().startsWith("/orders")) {
                inOrders();
            } else if (request.getRequestURI().startsWith("/search")) {
                inSearch();
            } else if (request.getRequestURI().startsWith("/deep")) {
                deeper(this, request);
            } else {
                inFailing();
            }
        }
    }

    private static final class LogFilter implements Filter {
        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) {
            chain.doFilter(request, response);
        }
    }

    private static void ask(Filter filter, HttpServlet servlet, String method, String uri) {
        try {
            filter.doFilter(new Request(method, uri), null, servlet::service);
        } catch (IllegalStateException | StackOverflowError expected) {
            sink++;
        }
        outside();
    }

    public static void main(String[] arguments) {
        final Filter filter = new LogFilter();
        final HttpServlet shop = new Shop();

        for (int i = 0; i < REQUESTS; i++) {
            ask(filter, shop, "GET", "/orders/" + (4711 + i) + "/items");
            ask(filter, shop, "GET", "/search;jsessionid=" + i);
            ask(filter, shop, "POST", "/failing/" + i);
            ask(filter, shop, "GET", "/forward");
            ask(filter, shop, "GET", "/deep");
        }
        System.out.println("ok");
    }
}
