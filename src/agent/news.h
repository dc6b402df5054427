/*
 * news - objects that are made, by their class: event=new: of a session, from its begin to its end.
 *
 * For      jaywalk.NewObject, jaywalk.ObjectCount, and graphs of objects.
 * Callers  begin.c (choose, begin), run.c (the rest).
 * Context  the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_NEWS_H
#define JW_AGENT_NEWS_H

#include <jni.h>

#include "options/options.h"

struct recording;

/* False and `err`: a pattern is none. */
JW_MUST_CHECK bool news_choose(const struct options *options, struct jw_error *err);

void news_begin(JNIEnv *jni, const struct options *options); /* likewise where it is on already */
void news_turn(JNIEnv *jni, struct recording *recording);
void news_look(JNIEnv *jni, struct recording *recording); /* as methods_look, and so on */
void news_cut(JNIEnv *jni, struct recording *recording);
void news_end(JNIEnv *jni, struct recording *recording);
void news_leave(JNIEnv *jni, struct recording *recording);

#endif
