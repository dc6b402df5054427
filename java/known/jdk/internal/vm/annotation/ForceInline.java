package jdk.internal.vm.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The JVM's own, so that classes for JDK 8 can be compiled with it: compiled into its callers, whatever it and they have come to. It is no part of the library. */
@Retention(RetentionPolicy.RUNTIME)
public @interface ForceInline {
}
