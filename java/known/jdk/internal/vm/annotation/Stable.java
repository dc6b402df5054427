package jdk.internal.vm.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The JVM's own, as ForceInline: a field that is set once, so that of an object that the compiler knows it is a constant. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Stable {
}
