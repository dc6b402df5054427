/* What belongs together in the names of the workload Churn: see Churn.java, Redefined.java and ClassBytes.java. */
#include "rules.h"

#include <string.h>

#define LINES_A_CLASS    8000 /* of redefined classes: 8 places in each of 992 versions */
#define PLACES           8
#define VERSIONS         992
#define VERSIONS_OF_CODE 4

/* The number that begins here, and where it ends; -1: none does. */
static int number_at(const char **text)
{
    int number = 0;
    const char *at = *text;

    for (; *at >= '0' && *at <= '9' && number < 100000000; at++)
        number = number * 10 + (*at - '0');
    if (at == *text)
        return -1;
    *text = at;
    return number;
}

char rules_family(const char *class_name, int *number)
{
    const char *end = class_name + 1;

    if (class_name[0] != 'C' && class_name[0] != 'H' && class_name[0] != 'R')
        return 0;
    *number = number_at(&end);
    /* What follows the name of a hidden class is up to the JVM. */
    return *number >= 0 && (*end == '\0' || *end == '/' || *end == '+' || *end == '.')
               ? class_name[0]
               : 0;
}

/* The letter of "h3_2" with its numbers; 0: the method is not named in this way. */
static char letter_of(const char *method, int *number, int *part)
{
    const char *end = method + 1;

    *part = -1;
    if (method[0] == '\0' || strchr("mhap", method[0]) == NULL)
        return 0;
    *number = number_at(&end);
    if (*number >= 0 && *end == '_') {
        end++;
        *part = number_at(&end);
    }
    return *number >= 0 && *end == '\0' ? method[0] : 0;
}

static const char *wrong_line_of_redefined(int number, char letter, int part, const char *method,
                                           int line)
{
    const int code = line - 1 - number * LINES_A_CLASS;
    const int version = code / PLACES;
    const char place = (char)('0' + code % PLACES);
    const char *places = letter == 'a'                ? "12"
                         : letter == 'h'              ? "345"
                         : letter == 'p'              ? "6"
                         : strcmp(method, "run") == 0 ? "0"
                                                      : "7";

    if (code < 0 || version >= VERSIONS)
        return "a line of another class";
    if (strchr(places, place) == NULL)
        return "a line of another method";
    if (letter == 'p' && part % (VERSIONS / VERSIONS_OF_CODE) != version / VERSIONS_OF_CODE)
        return "a line of another version";
    return NULL;
}

const char *rules_wrong_frame(const char *class_name, const char *method, int line)
{
    int number = 0, of_method = 0, part;
    const char family = rules_family(class_name, &number);
    const char letter = letter_of(method, &of_method, &part);

    if (family == 0)
        return letter != 0 && strncmp(class_name, "java/", 5) != 0 && part >= 0
                   ? "a method of another class"
                   : NULL;
    if (letter != 0 ? of_method != number || strchr(family == 'C'   ? "m"
                                                    : family == 'H' ? "h"
                                                                    : "ahp",
                                                    letter) == NULL
                    : strcmp(method, "run") != 0 && strcmp(method, "<init>") != 0)
        return "a method of another class";
    if (line < 0)
        return NULL;
    if (family == 'R')
        return wrong_line_of_redefined(number, letter, part, method, line);
    return line == number % 60000 + 1 ? NULL : "a line of another method";
}

/* ---- calls ---- */

#ifndef REDEFINED_CALL_LINE
#error "the line of the first call of Redefined.call"
#endif
#define LINES_A_CALL     3
#define VERSIONS_OF_CALL 16
#define HELPERS          4

/* A frame of a class of the workload; `version`: of its line, -1: it has none. */
struct known {
    char family, letter;
    int number, part, version, place;
};

static struct known known_of(const struct rules_frame *frame)
{
    struct known known = {.version = -1};
    int in_name;

    known.family = rules_family(frame->class_name, &known.number);
    known.letter = letter_of(frame->method, &in_name, &known.part);
    if (known.family == 'R' && frame->line > 0) {
        known.version = (frame->line - 1 - known.number * LINES_A_CLASS) / PLACES;
        known.place = (frame->line - 1) % PLACES;
    }
    return known;
}

/* Versions begin again after so many; the callee's is this one or one of the next. */
static int is_newer(int callee, int caller, int versions)
{
    return ((callee - caller) % versions + versions) % versions < versions / 2;
}

static const char *wrong_caller_of_run(const struct known *known, const struct rules_frame *caller)
{
    const char family = known->family;
    const char *type = family == 'R' ? "Redefined" : "Churn";
    const char *method = family == 'R' ? "call" : family == 'H' ? "useHidden" : "use";

    if (strcmp(caller->class_name, type) != 0 || strcmp(caller->method, method) != 0)
        return "a caller of others";
    /* The line of the call says a version that was in force before. */
    if (family == 'R' && known->version >= 0 && caller->line > 0 &&
        !is_newer(known->version, (caller->line - REDEFINED_CALL_LINE) / LINES_A_CALL,
                  VERSIONS_OF_CALL))
        return "code of a version that is no more";
    return NULL;
}

/* Both are redefined ones, of one class, and have lines. */
static const char *wrong_version(const struct known *callee, const struct known *caller)
{
    if (!is_newer(callee->version, caller->version, VERSIONS))
        return "a version calls an older one";
    if (callee->letter == 'h' &&
        (caller->place != 2 || callee->part != caller->version / VERSIONS_OF_CODE % HELPERS))
        return "a call that this version does not make";
    if (callee->letter == 'p' && (caller->place != 5 || callee->version / VERSIONS_OF_CODE !=
                                                            caller->version / VERSIONS_OF_CODE))
        return "a call that this version does not make";
    return NULL;
}

const char *rules_wrong_call(const struct rules_frame *caller, const struct rules_frame *callee)
{
    const struct known known = known_of(callee);
    const struct known by = known_of(caller);

    if (known.family == 0 || strcmp(callee->method, "<init>") == 0)
        return NULL;
    if (strcmp(callee->method, "run") == 0)
        return wrong_caller_of_run(&known, caller);
    if (by.family != known.family || by.number != known.number)
        return "a method calls one of another class";
    if (known.letter == 'h' && known.family == 'R' ? by.letter != 'a'
        : known.letter == 'p'                      ? by.letter != 'h'
                                                   : strcmp(caller->method, "run") != 0)
        return "a caller that does not call this";
    return known.version >= 0 && by.version >= 0 ? wrong_version(&known, &by) : NULL;
}
