package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called when a method returns, with what it returns at hand; not when an exception leaves it ({@link OnThrow}). One
 * handler can carry both.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnReturn {
    /**
     * Which methods it is for: rules, one a line. Exclusive rules come first, in order, then the first inclusive rule that is met
     * owns a method.
     *
     * <pre>{@code
     * @OnReturn({"exclude method name=toString|hashCode",
     *     "include class name=com.acme.**Service extends=com.acme.Transactional method is=public"})
     * }</pre>
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
