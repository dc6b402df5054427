package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called before the first instruction of a method. In a constructor the object is not there yet, so {@link This} and
 * {@code @OnEntry} do not go together there.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnEntry {
    /**
     * Which methods it is for: rules, one a line. Exclusive rules come first, in order, then the first inclusive rule that is met
     * owns a method.
     *
     * <pre>{@code
     * @OnEntry({"exclude method name=toString|hashCode",
     *     "include class name=com.acme.**Service extends=com.acme.Transactional method is=public"})
     * }</pre>
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
