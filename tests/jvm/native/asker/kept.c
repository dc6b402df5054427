/* What was told, and what is wrong: tables to which handlers of signals add without a lock. */
#include "asker.h"

#include <stdio.h>
#include <string.h>

#define CLASSES_MAX 131072
#define PROBES      64
#define WRONGS_MAX  48
#define ALIKE_MAX   3 /* shown of a kind */

struct kept kept_methods[KEPT_MAX];
static struct kept_class kept_classes[CLASSES_MAX];
atomic_uint event_now, event_over;
atomic_long figures[FIGURES];

static struct {
    const char *what;
    char first[200];
    char second[200];
    uint64_t number;
    atomic_int is_ready;
} wrongs[WRONGS_MAX];
static atomic_uint wrong_count, shown_count;

void count(enum figure figure)
{
    atomic_fetch_add(&figures[figure], 1);
}

static void copy(char *to, size_t room, const char *from)
{
    size_t length = 0;

    for (; from != NULL && from[length] != '\0' && length < room - 1; length++)
        to[length] = from[length];
    to[length] = '\0';
}

void wrong(const char *what, const char *first, const char *second, uint64_t number)
{
    unsigned alike = 0, place;

    atomic_fetch_add(&wrong_count, 1);
    for (size_t i = 0; i < WRONGS_MAX; i++)
        alike += atomic_load(&wrongs[i].is_ready) && wrongs[i].what == what;
    if (alike >= ALIKE_MAX)
        return;
    place = atomic_fetch_add(&shown_count, 1);
    if (place >= WRONGS_MAX)
        return;
    wrongs[place].what = what;
    copy(wrongs[place].first, sizeof wrongs[place].first, first);
    copy(wrongs[place].second, sizeof wrongs[place].second, second);
    wrongs[place].number = number;
    atomic_store(&wrongs[place].is_ready, 1);
}

void report(FILE *out)
{
    static const char *const names[FIGURES] = {
        [SAMPLES] = "samples",
        [FRAMES] = "frames",
        [SHORT_LIVED_FRAMES] = "short-lived frames",
        [HIDDEN_FRAMES] = "hidden frames",
        [REDEFINED_FRAMES] = "redefined frames",
        [NO_JAVA] = "no Java",
        [BROKEN] = "broken",
        [UNTOLD_METHODS] = "frames without method",
        [GONE_AT_ONCE] = "gone at once",
        [NESTED] = "nested",
        [NESTED_BROKEN] = "nested and broken",
        [ASKED_AGAIN] = "asked again",
        [GONE_AGAIN] = "gone again",
        [CONVERTED] = "converted",
        [BODIES_OF_ONE_NUMBER] = "bodies of one number",
        [UNLOADS] = "unloads",
        [REDEFINITIONS] = "redefinitions",
        [METHODS_ENDED] = "methods ended",
        [TRANSIENT_CALLS] = "transient calls",
        [COMPARED_FRAMES] = "compared frames",
    };

    for (size_t i = 0; i < FIGURES; i++)
        fprintf(out, "%s %ld\n", names[i], atomic_load(&figures[i]));
    fprintf(out, "wrong %u\n", atomic_load(&wrong_count));
    for (size_t i = 0; i < WRONGS_MAX; i++) {
        if (atomic_load(&wrongs[i].is_ready))
            fprintf(out, "WRONG %s: %s | %s | %llx\n", wrongs[i].what, wrongs[i].first,
                    wrongs[i].second, (unsigned long long)wrongs[i].number);
    }
}

static size_t hash_of(uint64_t id)
{
    return (size_t)((id * 0x9e3779b97f4a7c15u) >> 40);
}

struct kept *kept_add(jaywalk_method method)
{
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct kept *kept = &kept_methods[(hash_of(method) + probe) % KEPT_MAX];
        jaywalk_method there = 0;

        if (atomic_compare_exchange_strong(&kept->method, &there, method) || there == method)
            return kept;
    }
    wrong("the test has no room for a method", NULL, NULL, method);
    return NULL;
}

struct kept_class *kept_class_add(jaywalk_class klass)
{
    for (size_t probe = 0; probe < PROBES; probe++) {
        struct kept_class *kept = &kept_classes[(hash_of(klass) + probe) % CLASSES_MAX];
        jaywalk_class there = 0;

        if (atomic_compare_exchange_strong(&kept->klass, &there, klass) || there == klass)
            return kept;
    }
    wrong("the test has no room for a class", NULL, NULL, klass);
    return NULL;
}

/* Text, end and length agree. */
static void check_text(const struct jaywalk_text *text)
{
    const size_t length = strnlen(text->bytes, text->room_bytes);
    const size_t most = text->room_bytes - 1;

    if (length != (text->length_bytes < most ? text->length_bytes : most))
        wrong("a text of another length", text->bytes, NULL, text->length_bytes);
}

int answers_ask(jaywalk_method method, struct answers *answers, int *is_class_gone)
{
    struct jaywalk_method_info info = {
        .name = {answers->name, sizeof answers->name, 0},
        .signature = {answers->signature, sizeof answers->signature, 0},
    };
    struct jaywalk_class_info type = {
        .name = {answers->class_name, sizeof answers->class_name, 0},
        .source_file = {answers->source, sizeof answers->source, 0},
    };
    int result = jaywalk_method_info(method, &info);

    *is_class_gone = 0;
    if (result != JAYWALK_OK)
        return result;
    check_text(&info.name);
    check_text(&info.signature);
    answers->klass = info.klass;
    answers->modifiers = info.modifiers;
    result = jaywalk_class_info(info.klass, &type);
    if (result != JAYWALK_OK) {
        *is_class_gone = 1;
        return result;
    }
    check_text(&type.name);
    check_text(&type.source_file);
    answers->class_modifiers = type.modifiers;
    answers->is_hidden = type.is_hidden;
    answers->class_idnum = jaywalk_class_idnum(info.klass);
    if (answers->class_idnum == 0) {
        *is_class_gone = 1;
        return JAYWALK_GONE;
    }
    answers->idnum = jaywalk_method_idnum(method);
    if (answers->idnum < 0 && answers->idnum != JAYWALK_UNSUPPORTED)
        return answers->idnum;
    memset(answers->lines, 0, sizeof answers->lines);
    answers->line_count = jaywalk_method_line_numbers(method, answers->lines, LINES_KEPT);
    return answers->line_count < 0 ? answers->line_count : JAYWALK_OK;
}

int answers_equal(const struct answers *one, const struct answers *other)
{
    return one->klass == other->klass && one->class_idnum == other->class_idnum &&
           one->idnum == other->idnum && one->modifiers == other->modifiers &&
           one->is_hidden == other->is_hidden && one->line_count == other->line_count &&
           memcmp(one->lines, other->lines, sizeof one->lines) == 0 &&
           strcmp(one->class_name, other->class_name) == 0 && strcmp(one->name, other->name) == 0 &&
           strcmp(one->signature, other->signature) == 0 && strcmp(one->source, other->source) == 0;
}

void check_told(jaywalk_method method, const char *what)
{
    const struct kept *kept = kept_add(method);

    if (kept != NULL && atomic_load(&kept->told_in) == 0)
        wrong("a method is gone, and no handler was told", what, kept->first.name, method);
}

void check_class_told(jaywalk_class klass, const char *what)
{
    const struct kept_class *kept = kept_class_add(klass);

    if (kept != NULL && atomic_load(&kept->unloaded_in) == 0)
        wrong("a class is gone, and no handler was told", what, NULL, klass);
}

void check_due(void)
{
    for (size_t i = 0; i < CLASSES_MAX; i++) {
        if (atomic_load(&kept_classes[i].is_due) && atomic_load(&kept_classes[i].unloaded_in) == 0)
            wrong("a class is gone, and no handler was ever told", NULL, NULL,
                  kept_classes[i].klass);
    }
}
