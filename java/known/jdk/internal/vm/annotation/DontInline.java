package jdk.internal.vm.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The JVM's own, as ForceInline: compiled into none of its callers. */
@Retention(RetentionPolicy.RUNTIME)
public @interface DontInline {
}
