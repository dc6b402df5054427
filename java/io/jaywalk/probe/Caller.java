package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, a {@code String}, is the method that called the one that is probed, {@code com.acme.Cart.fill}; null where nothing of
 * Java did. Method handles and reflection in between are passed over. A look at the stack costs about a microsecond.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Caller {}
