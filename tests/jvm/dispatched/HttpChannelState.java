package org.eclipse.jetty.server;

/** As Jetty has it, so far as endpoints= looks at it. */
public final class HttpChannelState {
    private volatile boolean isInitial = true;
    private volatile boolean isAsyncStarted;

    public boolean isInitial() {
        return isInitial;
    }

    boolean isAsyncStarted() {
        return isAsyncStarted;
    }

    void startAsync() {
        isAsyncStarted = true;
    }

    /** From here on another thread may dispatch it, or has. */
    public void suspended() {
        isInitial = false;
    }

    public void dispatched() {
        isAsyncStarted = false;
    }

    void recycle() {
        isInitial = true;
        isAsyncStarted = false;
    }
}
