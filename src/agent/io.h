/*
 * io - files and sockets that are read and written: io= of a session, from its begin to its end.
 *
 * For      jdk.FileRead, jdk.FileWrite, jdk.FileForce, jdk.SocketRead, jdk.SocketWrite.
 * Callers  begin.c (begin), run.c (end).
 * Context  the agent's thread.
 * Memory   that of room instrument.
 */
#ifndef JW_AGENT_IO_H
#define JW_AGENT_IO_H

#include <jni.h>

#include "options/options.h"

void io_begin(JNIEnv *jni, const struct options *options); /* likewise where it is on already */
void io_end(JNIEnv *jni);                                  /* the classes are written back */
void io_leave(void); /* the JVM ends: no class is written back */

#endif
