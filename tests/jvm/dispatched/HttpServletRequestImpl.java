package io.undertow.servlet.spec;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;

/** A request of a container whose requests are no longer asynchronous as soon as somebody has dispatched them. */
public final class HttpServletRequestImpl implements HttpServletRequest {
    private final String uri;
    private volatile DispatcherType type = DispatcherType.REQUEST;
    private volatile boolean isAsyncStarted;

    public HttpServletRequestImpl(String uri) {
        this.uri = uri;
    }

    @Override
    public String getMethod() {
        return "GET";
    }

    @Override
    public String getRequestURI() {
        return uri;
    }

    public DispatcherType getDispatcherType() {
        return type;
    }

    public boolean isAsyncStarted() {
        return isAsyncStarted;
    }

    public AsyncContext startAsync() {
        isAsyncStarted = true;
        return new AsyncContext() {
        };
    }

    /** By AsyncContext.dispatch. */
    public void dispatched() {
        isAsyncStarted = false;
        type = DispatcherType.ASYNC;
    }
}
