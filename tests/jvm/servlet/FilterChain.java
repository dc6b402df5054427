package jakarta.servlet;

/** What comes behind a filter. */
public interface FilterChain {
    void doFilter(ServletRequest request, ServletResponse response);
}
