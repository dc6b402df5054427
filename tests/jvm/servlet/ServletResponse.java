package jakarta.servlet;

/** As a container has it. */
public interface ServletResponse {
}
