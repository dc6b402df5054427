package jakarta.servlet.http;

import jakarta.servlet.ServletRequest;

/** What is asked for. */
public interface HttpServletRequest extends ServletRequest {
    String getMethod();

    String getRequestURI();
}
