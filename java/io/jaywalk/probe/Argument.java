package io.jaywalk.probe;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The parameter is one argument of the method, as it was called: what its code makes of the variable afterwards changes nothing of that,
 * nor at its return. An {@code Object} takes every type, primitive ones in a box, which costs an allocation; a primitive type takes that type
 * alone, and methods with another one there are left alone and counted.
 *
 * @since 0.1.0
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.PARAMETER)
public @interface Argument {
    /**
     * Which one, {@code this} not counted.
     *
     * @return from 0 to 254
     */
    int value();
}
