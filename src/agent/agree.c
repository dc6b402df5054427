/* Compares stacks of our own walker with what JVMTI says of them, on the thread whose they are; control, hook. */
#include "agent/agree.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "arch/arch.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "recording/recording.h"
#include "vm/vm_method.h"
#include "walk/walk.h"

#define LOOK_EVERY_NS JW_NS_PER_SECOND

bool agree_is_text(const struct vm_text *text, const char *told)
{
    const uint32_t length_bytes = text->length_bytes;
    char copy[256];

    if (strlen(told) != length_bytes)
        return false;
    for (uint32_t at = 0; at < length_bytes; at += (uint32_t)sizeof copy) {
        const size_t left = length_bytes - at;
        const size_t part = left < sizeof copy ? left : sizeof copy;

        if (!safe_load_bytes(copy, text->addr + at, part) || memcmp(copy, told + at, part) != 0)
            return false;
    }
    return true;
}

/* Name and signature as JVMTI has them; the ids of methods are numbers from JDK 26 on. */
static bool is_same_method(jvmtiEnv *jvmti, vm_addr walked, jmethodID told)
{
    struct vm_method method;
    char *name = NULL, *signature = NULL;

    if (vm_method_of_id(told) == walked)
        return true;
    if ((*jvmti)->GetMethodName(jvmti, told, &name, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    const bool is_same = vm_method_read(walked, &method) && agree_is_text(&method.name, name) &&
                         agree_is_text(&method.signature, signature);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    return is_same;
}

static bool is_same_place(const struct vm_call_frame *walked, const jvmtiFrameInfo *told)
{
    if (told->location == -1)
        return walked->bci == JW_BCI_NATIVE;
    return walked->bci == told->location;
}

enum agree_outcome agree_compare(jvmtiEnv *jvmti, JNIEnv *jni, struct agree_room *room,
                                 uint32_t depth_max, struct agree_found *found,
                                 struct jw_error *why)
{
    struct walk_java_result result;
    jint told = 0;

    *found = (struct agree_found){.told = 0};
    if ((*jvmti)->GetStackTrace(jvmti, NULL, 0, (jint)depth_max, room->told, &told) !=
            JVMTI_ERROR_NONE ||
        told <= 0) {
        jw_error_set(why, "JVMTI tells no stack");
        return AGREE_NOTHING;
    }
    walk_own_stack(jni, room->walked, depth_max, &result);
    found->told = (uint32_t)told;
    found->frames = result.frame_count;
    if (result.frame_count == 0 && !result.is_frozen) {
        jw_error_set(why, "a walk over a stack of %d frames failed: %s, in %s", told,
                     walk_code_text(result.code), vm_place_text(result.failed_at));
        return AGREE_UNWALKED;
    }
    if (found->frames > found->told || (found->frames < found->told && !result.is_frozen)) {
        jw_error_set(why, "a stack has %d frames by JVMTI and %u by our walk", told, found->frames);
        return AGREE_DIFFERENT;
    }
    for (uint32_t i = 0; i < found->frames; i++) {
        const struct vm_call_frame *walked = &room->walked[i];

        if (!is_same_method(jvmti, (vm_addr)walked->method, room->told[i].method) ||
            !is_same_place(walked, &room->told[i])) {
            jw_error_set(why, "frame %u of %d, at bci %d, is at %lld by JVMTI or of another method",
                         i, told, walked->bci, (long long)room->told[i].location);
            return AGREE_DIFFERENT;
        }
        found->compiled += walked->kind == JW_FRAME_COMPILED || walked->kind == JW_FRAME_INLINED;
    }
    return AGREE_EQUAL;
}

/* ---- while a session runs ---- */

/* Relaxed, but has_why: whether to look is a hint, the time of the next look a figure. */
static struct {
    struct agree_room room; /* of who has is_busy */
    _Atomic bool is_wanted, is_busy, has_why;
    _Atomic uint64_t due_ns; /* when a look is due, were there no burst */
    struct jw_error why;     /* of the first difference */
    bool is_told;            /* of the agent's thread */
} live;

void agree_open(bool is_wanted)
{
    jw_store_relaxed(&live.is_wanted, is_wanted);
}

/* One look in a second; what was not used of the last seconds, up to a burst, may be used at once. */
static bool is_due(void)
{
    const uint64_t now_ns = jw_now_ns();
    uint64_t due_ns = jw_load_relaxed(&live.due_ns);

    if (due_ns > now_ns + (AGREE_BURST - 1) * LOOK_EVERY_NS)
        return false;
    return jw_cas_relaxed(&live.due_ns, &due_ns,
                          (due_ns > now_ns ? due_ns : now_ns) + LOOK_EVERY_NS);
}

static void count(enum agree_outcome outcome, const struct agree_found *found,
                  const struct jw_error *why)
{
    if (outcome == AGREE_NOTHING)
        return;
    jw_count(JW_COUNT_STACKS_COMPARED);
    if (outcome == AGREE_EQUAL) {
        jw_count(JW_COUNT_STACKS_EQUAL);
        jw_count_add(JW_COUNT_FRAMES_EQUAL, found->frames);
        return;
    }
    jw_count(outcome == AGREE_DIFFERENT ? JW_COUNT_STACKS_DIFFERENT : JW_COUNT_STACKS_UNWALKED);
    /* order AGREE_WHY: acquires what another look released; releases the text. */
    if (outcome == AGREE_DIFFERENT && !jw_load_acquire(&live.has_why)) {
        live.why = *why;
        jw_store_release(&live.has_why, true);
    }
}

void agree_look(jvmtiEnv *jvmti, JNIEnv *jni)
{
    struct agree_found found;
    struct jw_error why = {{0}};

    if (!jw_load_relaxed(&live.is_wanted) || run_generations() == NULL || !is_due())
        return;
    /* order AGREE_ROOM: acquires what the last look released, the room and `why`. */
    if (jw_exchange_acq_rel(&live.is_busy, true))
        return;
    count(agree_compare(jvmti, jni, &live.room, AGREE_LIVE_FRAMES, &found, &why), &found, &why);
    /* order AGREE_ROOM: releases the room and `why`. */
    jw_store_release(&live.is_busy, false);
}

const char *agree_reason(void)
{
    /* order AGREE_WHY: acquires the text. */
    return jw_load_acquire(&live.has_why) ? live.why.message : "";
}

void agree_turn(struct recording *recording)
{
    const char *reason = agree_reason();

    if (reason[0] == '\0' || live.is_told)
        return;
    live.is_told = true;
    agent_log(OPTIONS_LOGLEVEL_WARN,
              "a stack of the program is not as JVMTI tells it, please report it: %s", reason);
    recording_set_now(recording, "agreement", reason);
}

void agree_tell(void)
{
    const uint64_t compared = jw_counter(JW_COUNT_STACKS_COMPARED);
    const uint64_t different = jw_counter(JW_COUNT_STACKS_DIFFERENT);
    const uint64_t unwalked = jw_counter(JW_COUNT_STACKS_UNWALKED);

    if (compared == 0)
        return;
    agent_log(OPTIONS_LOGLEVEL_INFO,
              "Compared with JVMTI: %llu stacks, %llu equal, %llu different, %llu not walked%s%s",
              (unsigned long long)compared, (unsigned long long)jw_counter(JW_COUNT_STACKS_EQUAL),
              (unsigned long long)different, (unsigned long long)unwalked,
              different == 0 ? "" : "; the first: ", agree_reason());
}
