package jakarta.servlet.http;

import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;

/** As a container calls it. */
public abstract class HttpServlet {
    public void service(ServletRequest request, ServletResponse response) {
        service((HttpServletRequest) request);
    }

    protected abstract void service(HttpServletRequest request);
}
