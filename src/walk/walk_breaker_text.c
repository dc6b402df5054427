/* What is said of the walkers and their breakers; any, dump. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "walk/walk_breaker_internal.h"

const char *walk_breaker_name(enum walk_walker walker, enum walk_standing standing)
{
    static const char *const names[WALK_WALKER_LIMIT][2] = {
        [WALK_AGCT] = {"agct", "agct on trial"},
        [WALK_VM] = {"vm", "vm on trial"},
        [WALK_NATIVE] = {"native", "native on trial"},
    };

    return walker < WALK_WALKER_LIMIT ? names[walker][standing == WALK_TRIAL] : "none";
}

/* Where and why most walks of the batch failed. */
static uint64_t find_most(enum walk_walker walker, const struct walk_batch *batch, int32_t *code,
                          enum vm_place *place, uint64_t *failed)
{
    uint64_t most = 0;

    *failed = 0;
    for (int32_t row = 0; row < WALK_CODE_COUNT; row++) {
        for (uint32_t i = 0; i < VM_PLACE_LIMIT; i++) {
            const uint64_t count =
                walk_failures(walker, -row, (enum vm_place)i) - batch->failures[row][i];

            if (!walk_code_is_bad(-row))
                continue;
            *failed += count;
            if (count <= most)
                continue;
            most = count;
            *code = -row;
            *place = (enum vm_place)i;
        }
    }
    return most;
}

void walk_breaker_reason(enum walk_walker walker, const struct walk_batch *batch, char *text,
                         size_t room_bytes)
{
    const unsigned pct = (unsigned)(batch->bad * 100 / batch->walks);
    const unsigned long long walks = batch->walks;
    enum vm_place place = VM_PLACE_UNKNOWN;
    int32_t code = 0;
    uint64_t failed;

    if (find_most(walker, batch, &code, &place, &failed) == 0 || failed < batch->bad / 2)
        snprintf(text, room_bytes, "in %u %% of %llu walks memory could not be read", pct, walks);
    else
        snprintf(text, room_bytes, "%u %% of %llu walks failed, most in: %s, with: %s", pct, walks,
                 vm_place_text(place), walk_code_text(code));
}

void walk_breaker_get(enum walk_walker walker, struct walk_breaker_counts *out)
{
    struct walk_breaker_view view;

    walk_breaker_view(walker, &view);
    *out = (struct walk_breaker_counts){
        .standing = view.standing,
        .is_in_use = view.is_in_use,
        .walks = view.walks,
        .bad = view.bad,
    };
}

/* Text of a growing size; what does not fit is cut. */
struct sentence {
    char *text;
    size_t used, room_bytes;
};

static void add(struct sentence *sentence, const char *format, ...) JW_PRINTF(2, 3);
static void add(struct sentence *sentence, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(sentence->text + sentence->used,
                                 sentence->room_bytes - sentence->used, format, arguments);
    va_end(arguments);
    sentence->used += (size_t)length;
    if (sentence->used >= sentence->room_bytes)
        sentence->used = sentence->room_bytes - 1;
}

static unsigned long long seconds(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (to_ns - from_ns + JW_NS_PER_SECOND / 2) / JW_NS_PER_SECOND : 0;
}

static void add_walker(struct sentence *sentence, enum walk_walker walker, uint64_t now_ns)
{
    const char *name = walk_walker_text(walker);
    const char *before = sentence->used == 0 ? "" : "; ";
    struct walk_breaker_view view;

    walk_breaker_view(walker, &view);
    if (view.standing == WALK_ABSENT && view.reason[0] != '\0')
        add(sentence, "%s%s cannot be used: %s", before, name, view.reason);
    else if (view.standing == WALK_TRIAL)
        add(sentence, "%s%s is on trial since %llu s, after: %s", before, name,
            seconds(view.since_ns, now_ns), view.reason);
    else if (view.standing == WALK_OUT && view.retry_ns > now_ns)
        add(sentence, "%s%s was given up %llu s ago: %s; it is tried again in %llu s", before, name,
            seconds(view.since_ns, now_ns), view.reason, seconds(now_ns, view.retry_ns));
    else if (view.standing == WALK_IN && view.is_in_use && view.odd_pct != 0)
        add(sentence,
            "%s%u %% of the walks by %s failed lately, nearly all of one thread: it stays", before,
            view.odd_pct, name);
}

bool walk_breaker_tell(enum walk_part part, uint64_t now_ns, char *text, size_t room_bytes)
{
    struct sentence sentence = {.text = text, .room_bytes = room_bytes};

    text[0] = '\0';
    if (part == WALK_PART_NATIVE) {
        add_walker(&sentence, WALK_NATIVE, now_ns);
    } else {
        add_walker(&sentence, WALK_VM, now_ns);
        add_walker(&sentence, WALK_AGCT, now_ns);
    }
    return sentence.used > 0;
}
