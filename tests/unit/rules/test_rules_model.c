/* Seeded rules and classes against a plain model: sets of methods that rules take from, one after the other. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "support/class_maker.h"

#define ROUNDS  3000
#define METHODS 6
#define MOST    7 /* rules */

TestSuite(rules_model, .timeout = 1800);

static uint64_t state;

/* xorshift64* */
static uint32_t random_below(uint32_t limit)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

struct model_rule {
    bool is_exclusive, lifts_constructors;
    const char *class_pattern; /* NULL: no term of the class */
    bool is_class_turned;
    const char *method_pattern; /* NULL: none */
    bool is_method_turned;
    int is_static; /* -1: not asked */
};

struct model_method {
    const char *name;
    bool is_static;
};

static const char *const class_names[] = {"a/b/C", "a/C", "a/b/c/D", "C"};
static const char *const class_patterns[] = {"a.b.*", "a.**",    "**C",    "C",
                                             "*.C",   "**.b.**", "a.b.C|C"};
static const char *const method_names[] = {"get", "getAll", "put", "putAll", "<init>", "x"};
static const char *const method_patterns[] = {"get*", "*All", "put|x", "<init>", "*", "?", "**t"};

/* Recursion, and no cleverness. */
static bool glob(const char *pattern, const char *end, const char *text)
{
    if (pattern == end)
        return *text == '\0';
    if (*pattern == '*') {
        const bool is_wide = pattern + 1 < end && pattern[1] == '*';

        for (;; text++) {
            if (glob(pattern + (is_wide ? 2 : 1), end, text))
                return true;
            if (*text == '\0' || (*text == '/' && !is_wide))
                return false;
        }
    }
    if (*text == '\0' || (*pattern == '?' && *text == '/'))
        return false;
    if (*pattern != '?' && *pattern != (*text == '/' ? '.' : *text))
        return false;
    return glob(pattern + 1, end, text + 1);
}

static bool any_glob(const char *patterns, const char *text)
{
    for (const char *end;; patterns = end + 1) {
        end = strchrnul(patterns, '|');
        if (glob(patterns, end, text))
            return true;
        if (*end == '\0')
            return false;
    }
}

static bool is_class_met(const struct model_rule *rule, const char *name)
{
    return rule->class_pattern == NULL ||
           any_glob(rule->class_pattern, name) != rule->is_class_turned;
}

static bool is_method_met(const struct model_rule *rule, const struct model_method *method)
{
    if (rule->method_pattern != NULL &&
        any_glob(rule->method_pattern, method->name) == rule->is_method_turned)
        return false;
    return rule->is_static < 0 || rule->is_static == method->is_static;
}

/* Owner of each method: number of the rule, -1 none, -2 excluded. */
static void model(const struct model_rule *all, int count, const char *class_name,
                  const struct model_method *methods, int *owners)
{
    bool is_visible[METHODS];

    for (int m = 0; m < METHODS; m++) {
        is_visible[m] = true;
        owners[m] = -1;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < count; r++) {
            if (all[r].is_exclusive != (pass == 0) || !is_class_met(&all[r], class_name))
                continue;
            for (int m = 0; m < METHODS; m++) {
                if (!is_visible[m] || !is_method_met(&all[r], &methods[m]))
                    continue;
                if (pass == 1 && strcmp(methods[m].name, "<init>") == 0 &&
                    !all[r].lifts_constructors)
                    continue;
                is_visible[m] = false;
                owners[m] = pass == 0 ? -2 : r;
            }
        }
    }
}

#define ONE_OF(list) list[random_below(sizeof(list) / sizeof((list)[0]))]

static struct model_rule make_rule(void)
{
    struct model_rule rule = {.is_exclusive = random_below(3) == 0,
                              .is_class_turned = random_below(4) == 0,
                              .is_method_turned = random_below(4) == 0,
                              .is_static = (int)random_below(4) - 2};

    rule.lifts_constructors = !rule.is_exclusive && random_below(3) == 0;
    if (random_below(3) != 0)
        rule.class_pattern = ONE_OF(class_patterns);
    if (random_below(4) != 0 || rule.class_pattern == NULL)
        rule.method_pattern = ONE_OF(method_patterns);
    if (rule.is_static < 0)
        rule.is_static = -1;
    return rule;
}

static size_t put_rule(char *text, size_t room, const struct model_rule *rule)
{
    size_t used = (size_t)snprintf(text, room, "%s", rule->is_exclusive ? "exclude" : "include");

    if (rule->class_pattern != NULL)
        used += (size_t)snprintf(text + used, room - used, " class %sname=%s",
                                 rule->is_class_turned ? "!" : "", rule->class_pattern);
    if (rule->method_pattern != NULL || rule->is_static >= 0)
        used += (size_t)snprintf(text + used, room - used, " method");
    if (rule->method_pattern != NULL)
        used += (size_t)snprintf(text + used, room - used, " %sname=%s",
                                 rule->is_method_turned ? "!" : "", rule->method_pattern);
    if (rule->is_static >= 0)
        used += (size_t)snprintf(text + used, room - used, " %sis=static",
                                 rule->is_static != 0 ? "" : "!");
    if (rule->lifts_constructors)
        used += (size_t)snprintf(text + used, room - used, " lift constructors");
    return used +
           (size_t)snprintf(text + used, room - used, "%s", random_below(2) == 0 ? "\n" : "; ");
}

Test(rules_model, methods_belong_to_the_rules_that_the_model_says)
{
    static const uint8_t code[] = {3, 87, 177};
    struct class_maker maker = {.name = 0};
    struct classfile_memory memory = {.capacity_bytes = classfile_memory_bytes(4096)};
    unsigned taken = 0, excluded = 0, neither = 0;

    memory.bytes = malloc(memory.capacity_bytes);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct model_rule all[MOST];
        struct model_method methods[METHODS];
        struct jw_error err = {{0}};
        struct classfile file;
        char text[4096];
        size_t used = 0;
        int owners[METHODS];

        state = seed * 0x9e3779b97f4a7c15ull;

        const int count = (int)random_below(MOST + 1);
        const char *class_name = ONE_OF(class_names);
        text[0] = '\0';
        for (int r = 0; r < count; r++) {
            all[r] = make_rule();
            used += put_rule(text + used, sizeof text - used, &all[r]);
        }
        class_maker_begin(&maker, 52, class_name, "java/lang/Object");
        for (int m = 0; m < METHODS; m++) {
            methods[m] = (struct model_method){ONE_OF(method_names), random_below(2) == 0};
            class_maker_method(&maker, methods[m].is_static ? 9 : 1, methods[m].name, "()V",
                               &(struct class_maker_code){
                                   .stack = 1, .locals = 1, .bytes = code, .length = sizeof code});
        }

        const struct class_maker_bytes whole = class_maker_end(&maker);
        memory.used_bytes = 0;
        cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);

        struct rules *rules = rules_parse(text, used, &err);
        cr_assert(rules != NULL, "seed %llu: %s", (unsigned long long)seed, err.message);
        model(all, count, class_name, methods, owners);
        for (int m = 0; m < METHODS; m++) {
            const struct rules_decision got =
                rules_decide(rules, &(struct rules_subject){.file = &file}, (uint16_t)m);
            const int owner = got.outcome == RULES_TAKEN      ? (int)got.rule
                              : got.outcome == RULES_EXCLUDED ? -2
                                                              : -1;

            cr_assert(owner == owners[m], "seed %llu, %s.%s: %d, not %d, by\n%s",
                      (unsigned long long)seed, class_name, methods[m].name, owner, owners[m],
                      text);
            taken += owner >= 0;
            excluded += owner == -2;
            neither += owner == -1;
        }
        rules_close(rules);
    }
    /* The generator reaches all sides. */
    cr_assert(taken > ROUNDS && excluded > ROUNDS / 2 && neither > ROUNDS, "%u %u %u", taken,
              excluded, neither);
    free(memory.bytes);
    class_maker_free(&maker);
}
