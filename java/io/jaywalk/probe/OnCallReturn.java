package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called in a method right behind a call of another one, when that has returned; not when it throws. What it has
 * {@link Returned}, its {@link Receiver} and its {@link CallArgument}s as they were given can be had. Of a constructor
 * ({@code of = "com.acme.Order.<init>"}) the receiver is the new object.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnCallReturn {
    /**
     * What is called: class, point and method, held against the call as it stands in the class file: its class is that which the compiler
     * took the receiver to be of, an interface for instance, not that which has the method. In a pattern {@code *} stands for anything
     * within one part of a name, {@code **} for anything, {@code ?} for one character. A constructor is {@code <init>}.
     *
     * @return such as {@code java.sql.Statement.execute*} or {@code **.Order.<init>}
     */
    String of();

    /**
     * Which methods it is put into: rules, one a line, as {@link OnEntry#value} has them.
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
