/* What attaching and telling share. Context: the agent's thread, unless a function says otherwise. */
#ifndef JW_INSTRUMENT_INSTRUMENT_ATTACH_INTERNAL_H
#define JW_INSTRUMENT_INSTRUMENT_ATTACH_INTERNAL_H

#include "instrument/instrument_internal.h"

extern struct instrument_attach *instrument_attaches[INSTRUMENT_PROBES_LIMIT];
extern uint32_t instrument_attach_count;

void instrument_begin_out(JNIEnv *jni, struct instrument_attach *attach);

/* instrument_read.c: the one class with @Probe among those of a loader. NULL and `err`: there is none, or more. */
struct probe *instrument_read_probe(JNIEnv *jni, jobject loader, const char *path,
                                    struct jw_error *err);
/* instrument_rules.c: those of the file that it is attached with, if there is one, in the places of the probe's. */
JW_MUST_CHECK bool instrument_replace_rules(struct instrument_attach *attach, struct jw_error *err);
/* The rules of all its handlers, and back. */
JW_MUST_CHECK bool instrument_parse_rules(struct instrument_attach *attach, struct jw_error *err);
void instrument_close_rules(struct instrument_attach *attach);
/* instrument_events.c: types of its events, and their calls in its class, which is not loaded yet; and back. */
JW_MUST_CHECK bool instrument_open_events(JNIEnv *jni, struct instrument_attach *attach,
                                          struct jw_error *err);
void instrument_close_events(struct instrument_attach *attach);
struct instrument_event_figures instrument_figures_of_event(const struct instrument_attach *attach,
                                                            uint32_t event);
/* Whether this JVM drops compiled code when it is asked for retransformation after its start. */
bool instrument_drops_code(void);

/* instrument_tell.c: what came of an attach, a line at a time. */
void instrument_tell_attached(struct instrument_attach *attach,
                              const struct instrument_batches *batches, instrument_say *say,
                              void *context);
void instrument_refresh(JNIEnv *jni); /* what instrument_tell says */
/* How far the classes of one are that is on its way in or out, until the next instrument_refresh. */
void instrument_tell_progress(const struct instrument_attach *attach,
                              const struct instrument_batches *so_far);

#endif
