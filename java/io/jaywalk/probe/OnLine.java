package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called where a line of the source begins: at the lowest place in a method's code that is of that line, as a debugger
 * stops there. Class files that were compiled without lines have none; a line of a lambda is in a method of its own, which is
 * synthetic ({@code lift synthetic}).
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnLine {
    /**
     * The line, as the class file tells it.
     *
     * @return from 1 to 65,535
     */
    int line();

    /**
     * Which methods it is put into: rules, one a line, as {@link OnEntry#value} has them.
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
