/* Which methods of a class call which handlers. Context: hook, control, tool. */
#include "probe/probe_weave_internal.h"

#include <string.h>

static struct classfile_text text_of(const char *text)
{
    return (struct classfile_text){text, (uint32_t)strlen(text)};
}

/*
 * Classes that calls of handlers go through themselves, or that run where no Java code may be added: what links method handles, what is boxed,
 * and the switching of virtual threads, in the midst of which a thread that had to wait for a monitor could wait for itself.
 * Source: OpenJDK 21 to 28, java.lang.VirtualThread, jdk.internal.vm.Continuation: what they call while they mount.
 */
static bool is_beneath(struct classfile_text name)
{
    static const char *const beneath[] = {"java/lang/invoke/",
                                          "java/lang/VirtualThread",
                                          "java/lang/BaseVirtualThread",
                                          "java/lang/System$",
                                          "jdk/internal/vm/",
                                          "jdk/internal/access/",
                                          "jdk/internal/misc/CarrierThread",
                                          "java/lang/Boolean",
                                          "java/lang/Byte",
                                          "java/lang/Character",
                                          "java/lang/Short",
                                          "java/lang/Integer",
                                          "java/lang/Long",
                                          "java/lang/Float",
                                          "java/lang/Double",
                                          "sun/reflect/Generated",
                                          "jdk/internal/reflect/Generated"};

    for (size_t i = 0; i < JW_COUNT_OF(beneath); i++) {
        const size_t length = strlen(beneath[i]);

        if (name.length_bytes >= length && memcmp(name.bytes, beneath[i], length) == 0)
            return true;
    }
    return false;
}

/* The same of single methods of java.lang.Thread, of which others are worth knowing. */
static bool is_of_switching(const struct classfile *file, struct classfile_text method)
{
    static const char *const names[] = {"getContinuation", "setContinuation", "setCurrentThread",
                                        "scopedValueBindings"};

    if (!classfile_is_text(classfile_name(file), "java/lang/Thread"))
        return false;
    for (size_t i = 0; i < JW_COUNT_OF(names); i++) {
        if (classfile_is_text(method, names[i]))
            return true;
    }
    return false;
}

/*
 * Of hidden classes the JVM does not tell; those of lambdas and of reflection that it does tell of have names of their own.
 * Source: OpenJDK, InnerClassLambdaMetafactory (8 to 14), MethodAccessorGenerator.
 */
bool probe_weave_is_left_alone(const char *name)
{
    return name == NULL || name[0] == '[' || strstr(name, "$$Lambda") != NULL ||
           strchr(name, '.') != NULL || strncmp(name, "java/lang/Jaywalk", 17) == 0 ||
           strncmp(name, "io/jaywalk/", 11) == 0 ||
           strncmp(name, "sun/reflect/Generated", 21) == 0 ||
           strncmp(name, "jdk/internal/reflect/Generated", 30) == 0;
}

bool probe_weave_may_touch(const struct probe_weave_handler *handlers, uint32_t count,
                           const char *name, const struct rules_supers *above)
{
    if (is_beneath(text_of(name)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (rules_may_touch_named(handlers[i].rules, text_of(name), above))
            return true;
    }
    return false;
}

bool probe_weave_asks_above(const struct probe_weave_handler *handlers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rules_ask_above(handlers[i].rules))
            return true;
    }
    return false;
}

/* ---- which handlers a method has ---- */

/* Behind the beginning of the method: what is kept from there. */
static bool keeps(const struct probe_handler *handler)
{
    return handler->place != PROBE_ENTRY &&
           (handler->is_paired || probe_weave_asks(handler, PROBE_DURATION) ||
            probe_weave_asks(handler, PROBE_ARGUMENT) ||
            probe_weave_asks(handler, PROBE_ARGUMENTS) || probe_weave_asks(handler, PROBE_THIS));
}

static bool is_wanted(struct probe_weaving *at, const struct rules_subject *subject,
                      uint32_t handler, uint16_t method, uint32_t *rule)
{
    const struct probe_weave_handler *one = &at->handlers[handler];
    const struct classfile_member *member = &at->file.methods[method];
    const struct rules_decision decision = rules_decide(one->rules, subject, method);

    at->woven[handler].untold += decision.outcome == RULES_UNTOLD;
    at->woven[handler].above += decision.outcome == RULES_UNTOLD &&
                                decision.key == RULES_KEY_EXTENDS && subject->above == NULL;
    if (decision.outcome != RULES_TAKEN ||
        is_of_switching(&at->file, classfile_text_of(&at->file, member->name_index)))
        return false;
    *rule = (uint32_t)decision.rule;
    const enum probe_fit fit = probe_fit_method(one->handler, &at->file, member);
    at->woven[handler].placeless += fit == PROBE_FIT_NO_PLACE;
    at->woven[handler].unfit += fit != PROBE_FIT_NO_PLACE && fit != PROBE_FIT_GOOD;
    return fit == PROBE_FIT_GOOD;
}

static enum classfile_verdict decide_method(struct probe_weaving *at,
                                            const struct rules_subject *subject,
                                            const uint16_t *candidates, uint32_t candidate_count,
                                            uint16_t method)
{
    uint16_t taken[PROBE_WEAVE_LIMIT];
    uint32_t rules[PROBE_WEAVE_LIMIT];
    uint16_t count = 0;

    for (uint32_t i = 0; i < candidate_count; i++) {
        if (is_wanted(at, subject, candidates[i], method, &rules[count]))
            taken[count++] = candidates[i];
    }
    if (count == 0)
        return CLASSFILE_OK;
    at->wants[method] = classfile_memory_take(at->memory, sizeof(struct probe_weave_want) * count);
    if (at->wants[method] == NULL)
        return CLASSFILE_NO_MEMORY;
    at->want_counts[method] = count;
    for (uint16_t i = 0; i < count; i++) {
        const struct probe_handler *handler = at->handlers[taken[i]].handler;

        at->wants[method][i] = (struct probe_weave_want){.handler = taken[i], .rule = rules[i]};
        if (handler->line != 0 &&
            !classfile_line_begins(&at->file, &at->file.methods[method], handler->line,
                                   &at->wants[method][i].line_pc))
            at->wants[method][i].line_pc = UINT32_MAX;
        at->places[method] |=
            probe_place_at(handler->place) | (keeps(handler) ? CLASSFILE_AT(ENTRY) : 0);
    }
    return CLASSFILE_OK;
}

static enum classfile_verdict decide(struct probe_weaving *at, bool *is_any)
{
    const struct rules_subject subject = {.file = &at->file,
                                          .loader = at->of->loader,
                                          .module = at->of->module,
                                          .find = at->of->find,
                                          .context = at->of->context,
                                          .supers = at->of->supers,
                                          .above = at->of->above};
    const size_t methods = (size_t)at->file.method_count + 1;
    uint16_t candidates[PROBE_WEAVE_LIMIT];
    uint32_t candidate_count = 0;
    enum classfile_verdict verdict = CLASSFILE_OK;

    for (uint32_t i = 0; i < at->count; i++) {
        if (rules_may_touch(at->handlers[i].rules, &subject))
            candidates[candidate_count++] = (uint16_t)i;
    }
    *is_any = candidate_count != 0;
    if (!*is_any)
        return CLASSFILE_OK;
    at->wants = classfile_memory_take(at->memory, sizeof *at->wants * methods);
    at->want_counts = classfile_memory_take(at->memory, sizeof *at->want_counts * methods);
    at->places = classfile_memory_take(at->memory, sizeof *at->places * methods);
    if (at->wants == NULL || at->want_counts == NULL || at->places == NULL)
        return CLASSFILE_NO_MEMORY;
    memset(at->want_counts, 0, sizeof *at->want_counts * methods);
    memset(at->places, 0, sizeof *at->places * methods);
    *is_any = false;
    for (uint16_t i = 0; i < at->file.method_count && verdict == CLASSFILE_OK; i++) {
        verdict = decide_method(at, &subject, candidates, candidate_count, i);
        *is_any |= at->want_counts[i] != 0;
    }
    return verdict;
}

static void count_woven(struct probe_weaving *at, const struct classfile_rewritten *out)
{
    for (uint16_t i = 0; i < at->file.method_count; i++) {
        for (uint16_t j = 0; j < at->want_counts[i]; j++) {
            const struct probe_weave_want *want = &at->wants[i][j];
            struct probe_woven *woven = &at->woven[want->handler];

            if (out->methods[i].verdict != CLASSFILE_OK) {
                woven->refused++;
                continue;
            }
            woven->misfits += want->misfits;
            woven->skipped += want->skipped;
            if (want->places != 0) {
                woven->methods++;
                woven->places += want->places;
            }
        }
    }
}

enum classfile_verdict probe_weave(const struct probe_weave_handler *handlers, uint32_t count,
                                   const struct probe_weave_class *of,
                                   struct classfile_memory *memory, struct classfile_rewritten *out,
                                   struct probe_woven *woven)
{
    struct probe_weaving at = {
        .handlers = handlers, .count = count, .of = of, .memory = memory, .woven = woven};
    enum classfile_verdict verdict = classfile_read(of->bytes, of->length_bytes, memory, &at.file);
    bool is_any = false;

    *out = (struct classfile_rewritten){.bytes = of->bytes,
                                        .length_bytes = (uint32_t)of->length_bytes};
    memset(woven, 0, sizeof *woven * count);
    if (verdict != CLASSFILE_OK || is_beneath(classfile_name(&at.file)))
        return verdict;
    verdict = decide(&at, &is_any);
    if (verdict != CLASSFILE_OK || !is_any)
        return verdict;

    const struct classfile_plan plan = {.places = at.places,
                                        .insert = probe_weave_insert,
                                        .skip = probe_weave_skip,
                                        .context = &at};
    verdict = classfile_rewrite(&at.file, &plan, memory, out);
    if (verdict == CLASSFILE_OK)
        count_woven(&at, out);
    return verdict;
}
