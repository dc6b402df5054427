/*
 * criterion (small) - the part of Criterion's interface that our unit tests use, in plain C.
 *
 * For      machines for which no Criterion is at hand: the aarch64 lane, cross-compiled and run
 *          under an emulator of processes. Criterion starts each test as a new program, which such
 *          an emulator cannot do without help from the kernel; here each test is a fork.
 * Callers  test files, which say #include <criterion/criterion.h> whichever it is.
 *
 * A use that is missing here fails to compile; add it, or leave the test out of that lane.
 */
#ifndef JW_TESTS_SMALL_CRITERION_H
#define JW_TESTS_SMALL_CRITERION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct cr_options {
    void (*init)(void);
    void (*fini)(void);
    double timeout; /* seconds; 0: the default of the runner */
    int signal;     /* the test is to end by this signal */
    int exit_code;  /* the test is to end with this status */
    bool disabled;
    const char *description;
};

struct cr_test {
    const char *suite;
    const char *name; /* NULL: the options of the whole suite */
    void (*run)(void);
    struct cr_options options;
    struct cr_test *next;
};

void cr_register(struct cr_test *test);

/* Says why, with the text of the condition and an optional message; ends the test when `fatal`. */
void cr_tell_failed(bool fatal, const char *file, int line, const char *condition,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void cr_skip(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define TestSuite(suite_name, ...)                                                                 \
    static struct cr_test cr_suite_##suite_name = {.suite = #suite_name,                           \
                                                   .options = {__VA_ARGS__}};                      \
    __attribute__((constructor)) static void cr_suite_register_##suite_name(void)                  \
    {                                                                                              \
        cr_register(&cr_suite_##suite_name);                                                       \
    }                                                                                              \
    _Static_assert(1, "takes the semicolon")

#define Test(suite_name, test_name, ...)                                                           \
    static void suite_name##_##test_name##_impl(void);                                             \
    static struct cr_test cr_test_##suite_name##_##test_name = {                                   \
        .suite = #suite_name,                                                                      \
        .name = #test_name,                                                                        \
        .run = suite_name##_##test_name##_impl,                                                    \
        .options = {__VA_ARGS__}};                                                                 \
    __attribute__((constructor)) static void cr_register_##suite_name##_##test_name(void)          \
    {                                                                                              \
        cr_register(&cr_test_##suite_name##_##test_name);                                          \
    }                                                                                              \
    static void suite_name##_##test_name##_impl(void)

/* The string before the arguments makes the message optional. */
#define CR_CHECK(fatal, condition, ...)                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            cr_tell_failed(fatal, __FILE__, __LINE__, #condition, " " __VA_ARGS__);                \
    } while (0)

#define cr_fail(...)        cr_tell_failed(false, __FILE__, __LINE__, "failure", " " __VA_ARGS__)
#define cr_assert_fail(...) cr_tell_failed(true, __FILE__, __LINE__, "failure", " " __VA_ARGS__)
#define cr_fatal(...)       cr_tell_failed(true, __FILE__, __LINE__, "failure", " " __VA_ARGS__)
#define cr_skip_test(...)   cr_skip(" " __VA_ARGS__)
#define cr_skip(...)        cr_skip(" " __VA_ARGS__)
#define cr_log_info(...)    ((void)fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr))
#define cr_log_warn         cr_log_info
#define cr_log_error        cr_log_info

#define cr_assert(condition, ...)          CR_CHECK(true, condition, __VA_ARGS__)
#define cr_assert_not(condition, ...)      CR_CHECK(true, !(condition), __VA_ARGS__)
#define cr_assert_eq(a, b, ...)            CR_CHECK(true, (a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)           CR_CHECK(true, (a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)            CR_CHECK(true, (a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...)           CR_CHECK(true, (a) <= (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)            CR_CHECK(true, (a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)           CR_CHECK(true, (a) >= (b), __VA_ARGS__)
#define cr_assert_null(a, ...)             CR_CHECK(true, (a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)         CR_CHECK(true, (a) != NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)        CR_CHECK(true, strcmp(a, b) == 0, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...)       CR_CHECK(true, strcmp(a, b) != 0, __VA_ARGS__)
#define cr_assert_str_empty(a, ...)        CR_CHECK(true, *(a) == '\0', __VA_ARGS__)
#define cr_assert_arr_eq(a, b, bytes, ...) CR_CHECK(true, memcmp(a, b, bytes) == 0, __VA_ARGS__)
#define cr_assert_float_eq(a, b, epsilon, ...)                                                     \
    CR_CHECK(true, (a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), __VA_ARGS__)

#define cr_expect(condition, ...)          CR_CHECK(false, condition, __VA_ARGS__)
#define cr_expect_not(condition, ...)      CR_CHECK(false, !(condition), __VA_ARGS__)
#define cr_expect_eq(a, b, ...)            CR_CHECK(false, (a) == (b), __VA_ARGS__)
#define cr_expect_neq(a, b, ...)           CR_CHECK(false, (a) != (b), __VA_ARGS__)
#define cr_expect_lt(a, b, ...)            CR_CHECK(false, (a) < (b), __VA_ARGS__)
#define cr_expect_leq(a, b, ...)           CR_CHECK(false, (a) <= (b), __VA_ARGS__)
#define cr_expect_gt(a, b, ...)            CR_CHECK(false, (a) > (b), __VA_ARGS__)
#define cr_expect_geq(a, b, ...)           CR_CHECK(false, (a) >= (b), __VA_ARGS__)
#define cr_expect_null(a, ...)             CR_CHECK(false, (a) == NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...)         CR_CHECK(false, (a) != NULL, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)        CR_CHECK(false, strcmp(a, b) == 0, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)       CR_CHECK(false, strcmp(a, b) != 0, __VA_ARGS__)
#define cr_expect_str_empty(a, ...)        CR_CHECK(false, *(a) == '\0', __VA_ARGS__)
#define cr_expect_arr_eq(a, b, bytes, ...) CR_CHECK(false, memcmp(a, b, bytes) == 0, __VA_ARGS__)
#define cr_expect_float_eq(a, b, epsilon, ...)                                                     \
    CR_CHECK(false, (a) - (b) <= (epsilon) && (b) - (a) <= (epsilon), __VA_ARGS__)

#endif
