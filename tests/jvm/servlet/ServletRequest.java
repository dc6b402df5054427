package jakarta.servlet;

/** As a container has it, so far as endpoints= looks at it. */
public interface ServletRequest {
}
