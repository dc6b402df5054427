/* What rules would do to a list of classes: decisions, their sums, and what writing the classes anew comes to. Context: tool. */
#include "cli/cli_rules_internal.h"

#include <string.h>

#define INVOKEDYNAMIC_SINCE 51u

static bool make_memory(struct classfile_memory *memory, size_t length_bytes, struct jw_error *err)
{
    const size_t wanted = classfile_memory_bytes(length_bytes);

    memory->used_bytes = 0;
    if (memory->capacity_bytes >= wanted)
        return true;
    jw_free(memory->bytes);
    *memory = (struct classfile_memory){.bytes = jw_alloc(wanted)};
    if (memory->bytes == NULL) {
        jw_error_set(err, "no memory for a class of %zu bytes", length_bytes);
        return false;
    }
    memory->capacity_bytes = wanted;
    return true;
}

/* What stands above a class, among the others. */
static const struct classfile *find_above(void *context, struct classfile_text name)
{
    struct cli_rules_look *look = context;
    const struct cli_class *above = cli_classes_find(look->classes, name);
    struct jw_error ignored;

    if (above == NULL || !make_memory(&look->above_memory, above->length_bytes, &ignored) ||
        classfile_read(above->bytes, above->length_bytes, &look->above_memory, &look->above) !=
            CLASSFILE_OK)
        return NULL;
    return &look->above;
}

/* The smallest call that tells the places apart: as a probe would be called, where the class may have that. */
static void insert(void *context, const struct classfile_site *site,
                   struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    const struct classfile *file = context;

    classfile_put_int(snippet, (int32_t)site->pc, additions, 1);
    if (file->major < INVOKEDYNAMIC_SINCE) {
        classfile_put_call(snippet,
                           classfile_add_method(additions, "jaywalk/Probes", "probe", "(I)V"));
        return;
    }
    const uint16_t bootstrap = classfile_add_static_handle(
        additions,
        classfile_add_method(additions, "jaywalk/Probes", "bootstrap",
                             "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/"
                             "invoke/MethodType;I)Ljava/lang/invoke/CallSite;"));
    const uint16_t argument = classfile_add_int(additions, (int32_t)site->place);

    classfile_put_dynamic(
        snippet, classfile_add_call_site(additions, bootstrap, &argument, 1, "probe", "(I)V"));
}

static enum probe_fit fit_of(const struct cli_rules_look *look, const struct classfile *file,
                             uint16_t number)
{
    if (look->handler == NULL || look->decisions[number].outcome != RULES_TAKEN)
        return PROBE_FIT_GOOD;
    return probe_fit_method(look->handler, file, &file->methods[number]);
}

static bool is_taken(const struct cli_rules_look *look, const struct classfile *file,
                     uint16_t number)
{
    return look->decisions[number].outcome == RULES_TAKEN &&
           fit_of(look, file, number) == PROBE_FIT_GOOD;
}

static void count_method(struct cli_rules_look *look, const struct classfile_outcome *written)
{
    struct cli_rules_cost *cost = &look->cost;

    cost->places += written->sites;
    cost->skipped += written->sites_skipped;
    if (written->verdict != CLASSFILE_OK) {
        cost->refused[written->verdict]++;
        return;
    }
    if (written->code_bytes <= CLI_INLINE_BYTES && written->new_code_bytes > CLI_INLINE_BYTES)
        cost->past_inline++;
    if (written->code_bytes <= CLI_HOT_INLINE_BYTES &&
        written->new_code_bytes > CLI_HOT_INLINE_BYTES)
        cost->past_hot_inline++;
}

/* With the calls of the handler, as an agent would write it. */
static enum classfile_verdict weave(struct cli_rules_look *look, const struct classfile *file,
                                    struct classfile_rewritten *out)
{
    const struct probe_weave_handler one = {.handler = look->handler, .rules = look->rules};
    const struct probe_weave_class of = {.bytes = file->bytes,
                                         .length_bytes = file->length_bytes,
                                         .find = find_above,
                                         .context = look,
                                         .supers = &look->supers};
    struct probe_woven woven;
    struct jw_error ignored;

    if (!make_memory(&look->woven_memory, file->length_bytes, &ignored))
        return CLASSFILE_NO_MEMORY;

    const enum classfile_verdict verdict =
        probe_weave(&one, 1, &of, &look->woven_memory, out, &woven);
    if (verdict == CLASSFILE_OK && probe_place_named(look->handler->place) != PROBE_NAMED_WHOLE) {
        look->cost.calls += woven.places;
        look->cost.misfits += woven.misfits;
        look->cost.left_out += woven.skipped;
    }
    return verdict;
}

static enum classfile_verdict write_class(struct cli_rules_look *look, const struct classfile *file,
                                          struct classfile_rewritten *out)
{
    const struct classfile_plan plan = {
        .places = look->places, .insert = insert, .context = (void *)(uintptr_t)file};

    return look->handler != NULL ? weave(look, file, out)
                                 : classfile_rewrite(file, &plan, &look->memory, out);
}

/* Writes the methods that are taken. Outcomes of the methods by number; NULL: none could be written, or none is taken. */
static const struct classfile_outcome *write_taken(struct cli_rules_look *look,
                                                   const struct classfile *file)
{
    /* Where there is a handler, room probe asks it for its places. */
    const uint32_t without_handler =
        CLASSFILE_AT(ENTRY) | CLASSFILE_AT(RETURN) | CLASSFILE_AT(THROW);
    struct classfile_rewritten written;
    uint32_t taken = 0;

    for (uint16_t i = 0; i < file->method_count; i++) {
        look->places[i] = is_taken(look, file, i) ? without_handler : 0;
        taken += look->places[i] != 0;
    }
    if (taken == 0)
        return NULL;
    look->taken_classes++;

    const enum classfile_verdict verdict = write_class(look, file, &written);
    if (verdict != CLASSFILE_OK || written.methods == NULL) {
        look->cost.refused[verdict] += taken;
        return NULL;
    }
    look->cost.class_bytes += file->length_bytes;
    look->cost.written_bytes += written.length_bytes;
    for (uint16_t i = 0; i < file->method_count; i++) {
        if (look->places[i] != 0)
            count_method(look, &written.methods[i]);
    }
    return written.methods;
}

static void count_decision(struct cli_rules_look *look, const struct rules_decision *decision,
                           enum probe_fit fit, uint64_t class_number)
{
    look->methods++;
    if (fit != PROBE_FIT_GOOD) {
        look->unfit[fit]++;
        return;
    }
    look->outcomes[decision->outcome]++;
    if (decision->outcome == RULES_NO_RULE)
        return;

    struct cli_rules_rule *rule = &look->each[decision->rule];
    rule->outcomes[decision->outcome]++;
    if (decision->outcome == RULES_AGAINST)
        look->nevers[decision->never]++;
    if (decision->outcome == RULES_UNTOLD)
        look->keys[decision->key]++;
    if (decision->outcome == RULES_TAKEN && rule->last_class != class_number) {
        rule->last_class = class_number;
        rule->classes++;
    }
}

static bool decide_class(struct cli_rules_look *look, size_t number, cli_rules_visit *visit,
                         void *context, struct jw_error *err)
{
    const struct cli_class *one = &look->classes->all[number];
    struct classfile file;
    const struct rules_subject subject = {
        .file = &file, .find = find_above, .context = look, .supers = &look->supers};

    if (!make_memory(&look->memory, one->length_bytes, err))
        return false;
    if (classfile_read(one->bytes, one->length_bytes, &look->memory, &file) != CLASSFILE_OK)
        return true; /* it was read before */

    const bool is_touched = rules_may_touch(look->rules, &subject);
    look->touched_classes += is_touched;
    for (uint16_t i = 0; i < file.method_count; i++) {
        look->decisions[i] = is_touched ? rules_decide(look->rules, &subject, i)
                                        : (struct rules_decision){.outcome = RULES_NO_RULE};
        count_decision(look, &look->decisions[i], fit_of(look, &file, i), number + 1);
    }
    const struct classfile_outcome *written = write_taken(look, &file);
    for (uint16_t i = 0; i < file.method_count; i++) {
        const bool has_calls = is_taken(look, &file, i) && written != NULL;
        const struct cli_rules_method method = {.file = &file,
                                                .place = look->classes->places[one->place],
                                                .number = i,
                                                .decision = look->decisions[i],
                                                .fit = fit_of(look, &file, i),
                                                .written = has_calls ? &written[i] : NULL};

        if (method.decision.outcome == RULES_TAKEN || look->shows == CLI_RULES_ALL ||
            (look->shows == CLI_RULES_TOUCHED && is_touched))
            visit(context, look, &method);
    }
    return true;
}

bool cli_rules_decide(struct cli_rules_look *look, cli_rules_visit *visit, void *context,
                      struct jw_error *err)
{
    for (size_t i = 0; i < look->classes->count; i++) {
        if (!decide_class(look, i, visit, context, err))
            return false;
    }
    return true;
}

bool cli_rules_is_idle(const struct cli_rules_look *look, size_t rule)
{
    const struct cli_rules_rule *one = &look->each[rule];

    return one->outcomes[RULES_UNTOLD] == 0 &&
           one->outcomes[rules_is_exclusive(look->rules, rule) ? RULES_EXCLUDED : RULES_TAKEN] == 0;
}

void cli_rules_close(struct cli_rules_look *look)
{
    jw_free(look->memory.bytes);
    jw_free(look->above_memory.bytes);
    jw_free(look->woven_memory.bytes);
}

void cli_rules_why(const struct cli_rules_look *look, const struct cli_rules_method *method,
                   char *text, size_t room_bytes)
{
    const struct rules_decision *decision = &method->decision;
    const char *rule =
        decision->outcome == RULES_NO_RULE ? "" : rules_name(look->rules, decision->rule);
    const char *word;

    text[0] = '\0';
    switch (decision->outcome) {
    case RULES_TAKEN:
        if (method->fit != PROBE_FIT_GOOD)
            snprintf(text, room_bytes, "not what the handler asks for: %s",
                     probe_fit_text(method->fit));
        else if (method->written == NULL)
            snprintf(text, room_bytes, "the class cannot be written anew");
        else if (method->written->verdict != CLASSFILE_OK)
            snprintf(text, room_bytes, "cannot be probed: %s",
                     classfile_verdict_text(method->written->verdict));
        break;
    case RULES_EXCLUDED:
        snprintf(text, room_bytes, "excluded by %s", rule);
        break;
    case RULES_AGAINST:
        word = rules_never_word(decision->never);
        snprintf(text, room_bytes, "%s%s%s", rules_never_text(decision->never),
                 word[0] == '\0' ? "" : "; to have it, let the rule lift ", word);
        break;
    case RULES_UNTOLD:
        snprintf(text, room_bytes, "%s asks for %s, which is not known here", rule,
                 decision->key == RULES_KEY_EXTENDS ? "super classes, of which one is not at hand"
                                                    : rules_key_text(decision->key));
        break;
    case RULES_NO_RULE:
        snprintf(text, room_bytes, "no rule");
        break;
    }
}
