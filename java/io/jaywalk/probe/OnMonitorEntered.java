package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called in a method when a synchronized statement has taken its {@link Lock}. Where the class file does not protect the lock
 * from there on, as compilers of Java do, the place is left out, and counted.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnMonitorEntered {
    /**
     * Which methods it is put into: rules, one a line, as {@link OnEntry#value} has them.
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
