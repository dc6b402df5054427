package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * This class is a probe: a public class with handlers, under one name. A jar holds one, beside classes that it uses.
 *
 * <p>A probe that goes past one of its limits is taken out of the program, and that is said. Choose them by what the program can
 * spare: the defaults together allow a second of CPU time in each second.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface Probe {
    /**
     * By which it is listed and taken out: 1 to 63 ASCII letters, digits, points, hyphens and underscores, not beginning with one of
     * the last three.
     *
     * @return empty: the name of the class without its package
     */
    String name() default "";

    /**
     * Rules for the handlers that have none of their own, one a line; what rules are is told by {@link OnEntry#value}.
     *
     * @return empty: each handler has its own
     */
    String[] rules() default {};

    /**
     * What a call of its handlers may take, as the mean of all calls of one second, in two seconds one after the other: one call that
     * lost its processor is no reason. Seconds in which they took less than ten milliseconds in all, a hundredth of a processor, are
     * not judged by it: a few calls of code that is not compiled yet are dear, and harm nobody.
     *
     * @return nanoseconds; 0: without limit
     */
    long maxNanosPerCall() default 10_000;

    /**
     * How often its handlers may be called in one second, all threads together.
     *
     * @return 0: without limit
     */
    int maxCallsPerSecond() default 100_000;

    /**
     * How many exceptions its handlers may let out in all. None of them reaches the application.
     *
     * @return 0: without limit
     */
    int maxThrows() default 10;
}
