package org.eclipse.jetty.server;

import java.util.function.BooleanSupplier;

/** As Jetty has it, so far as endpoints= looks at it: one for all requests of a connection. What it does for a request comes with the call. */
public final class HttpChannel {
    private final Request request = new Request(this);
    private final HttpChannelState state = new HttpChannelState();

    public Request getRequest() {
        return request;
    }

    public HttpChannelState getState() {
        return state;
    }

    public void begin(String uri) {
        state.recycle();
        request.begin(uri);
    }

    /** Returns whether the request is over. */
    public boolean handle(BooleanSupplier work) {
        return work.getAsBoolean();
    }
}
