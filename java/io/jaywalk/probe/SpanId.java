package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter, a {@code long}, is the span that the thread works for, as {@code io.jaywalk.Jaywalk} or {@code jaywalk.h} was told; 0 where
 * it has none.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface SpanId {}
