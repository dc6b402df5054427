package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called in a method right behind a read of a field, whose {@link Value} and {@link Receiver} it can be given. Reflection,
 * method handles and constants that the compiler has put in are no reads.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnRead {
    /**
     * Which field: class, point and name, held against the access as it stands in the class file. Its class is that which the compiler took
     * the object to be of. Patterns are those of {@link OnCall#of}.
     *
     * @return such as {@code com.acme.Order.state}
     */
    String of();

    /**
     * Which methods it is put into: rules, one a line, as {@link OnEntry#value} has them.
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
