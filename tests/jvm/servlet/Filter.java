package jakarta.servlet;

/** Stands before servlets. */
public interface Filter {
    void doFilter(ServletRequest request, ServletResponse response, FilterChain chain);
}
