package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, a {@code String}, is the endpoint of the root span that the thread works for, if {@code Jaywalk.endpoint} was told it by now; else
 * null. At most 232 bytes of it. Of more than a thousand requests at once some are not known.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Endpoint {}
