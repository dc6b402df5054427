/*
 * agree - does our own walker say of a stack what JVMTI says of it?
 *
 * For      the self-check at the start, on a stack that is known; and, while a session runs, stacks of the program: at
 *          classes that are prepared, where the thread is in the JVM's hands and its stack stands still.
 * Callers  selfcheck.c, hooks.c, run.c, output.c, tell.c.
 * Context  agree_compare: control, hook, on the thread whose stack it is. agree_look: hook. agree_turn: dump.
 *          agree_open: control, with no engine running. agree_tell, agree_reason: any.
 * Memory   static: one look at a time; who comes meanwhile is not looked at.
 *
 * A look takes what two walks of at most AGREE_LIVE_FRAMES frames take, on the thread that loads a class; there is one in a
 * second, and at most AGREE_BURST at once. JVMTI walks the calling thread as it stands: no safepoint, no handshake.
 */
#ifndef JW_AGENT_AGREE_H
#define JW_AGENT_AGREE_H

#include <jvmti.h>

#include "base/jw.h"
#include "vm/vm_code.h"

#define AGREE_FRAMES_MAX  256
#define AGREE_LIVE_FRAMES 128
#define AGREE_BURST       8

/* Frames of both walks; written by whoever compares. */
struct agree_room {
    struct vm_call_frame walked[AGREE_FRAMES_MAX];
    jvmtiFrameInfo told[AGREE_FRAMES_MAX];
};

struct agree_found {
    uint32_t told, frames; /* by JVMTI, by our walk: as many as were asked for, at most */
    uint32_t compiled;     /* of our frames */
};

enum agree_outcome {
    AGREE_NOTHING, /* no Java frame, or JVMTI does not tell */
    AGREE_EQUAL, /* method and place of each frame; of a stack that ends in [frozen] those before it */
    AGREE_DIFFERENT, /* `why` says where */
    AGREE_UNWALKED,  /* our walk failed: `why` */
};

enum agree_outcome agree_compare(jvmtiEnv *jvmti, JNIEnv *jni, struct agree_room *room,
                                 uint32_t depth_max, struct agree_found *found,
                                 struct jw_error *why);

/* Does the text in the JVM read so? Contained loads. */
struct vm_text;
bool agree_is_text(const struct vm_text *text, const char *told);

/* From now on stacks are looked at, or not. */
void agree_open(bool is_wanted);

/* A class is prepared on this thread. */
void agree_look(jvmtiEnv *jvmti, JNIEnv *jni);

/* Logs the first difference of this process, and hands it to the recording. */
struct recording;
void agree_turn(struct recording *recording);

/* The line of `status`. */
void agree_tell(void);

/* Setting `agreement` of a recording: how the first stack differed, "" while none did. */
const char *agree_reason(void);

#endif
