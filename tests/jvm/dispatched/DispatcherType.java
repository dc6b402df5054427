package jakarta.servlet;

/** Why a request is handed to a servlet, so far as it matters here. */
public enum DispatcherType {
    REQUEST,
    ASYNC
}
