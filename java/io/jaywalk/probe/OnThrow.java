package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This handler is called when an exception leaves a method. It is thrown on, whatever the handler does. In a constructor exceptions
 * are seen from behind the call of the constructor above.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface OnThrow {
    /**
     * Which methods it is for: rules, one a line. Exclusive rules come first, in order, then the first inclusive rule that is met
     * owns a method.
     *
     * <pre>{@code
     * @OnThrow({"exclude method name=toString|hashCode",
     *     "include class name=com.acme.**Service extends=com.acme.Transactional method is=public"})
     * }</pre>
     *
     * @return empty: those of {@link Probe#rules}
     */
    String[] value() default {};
}
