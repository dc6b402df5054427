package org.eclipse.jetty.server;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;

/** As Jetty has it, so far as endpoints= looks at it. */
public final class Request implements HttpServletRequest {
    private final HttpChannel channel;
    private volatile String uri;

    Request(HttpChannel channel) {
        this.channel = channel;
    }

    void begin(String of) {
        uri = of;
    }

    @Override
    public String getMethod() {
        return "GET";
    }

    @Override
    public String getRequestURI() {
        return uri;
    }

    public HttpChannel getHttpChannel() {
        return channel;
    }

    public boolean isAsyncStarted() {
        return channel.getState().isAsyncStarted();
    }

    public AsyncContext startAsync() {
        channel.getState().startAsync();
        return new AsyncContext() {
        };
    }
}
