package java.lang;

import jdk.internal.vm.annotation.Stable;

/** Calls one handler; classes for each type of a handler and for each handler are made by the agent. */
public abstract class JaywalkGate {
    @Stable
    final JaywalkHandler handler;

    protected JaywalkGate(JaywalkHandler handler) {
        this.handler = handler;
    }
}
