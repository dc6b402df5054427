package io.jaywalk;

/**
 * Something that jaywalk was asked for could not be done. The message says what, why, and what to try.
 *
 * @since 0.1.0
 */
public final class JaywalkException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    JaywalkException(String message) {
        super(message);
    }

    JaywalkException(String message, Throwable cause) {
        super(message, cause);
    }
}
