/*
 * lock_class - what of the classes that threads are parked for is a lock.
 *
 * For      telling waits for a lock from waits for something to happen, everywhere alike.
 * Callers  agent, recording, cli.   Context  hook, dump, tool.   Memory  none.
 *
 * Locks and semaphores park for an object of a class FairSync or NonfairSync of their own, and StampedLock for itself. Latches, conditions, queues,
 * futures and pools park for others. Source: OpenJDK, java.util.concurrent and its package locks, JDK 8 to 28.
 */
#ifndef JW_BASE_LOCK_CLASS_H
#define JW_BASE_LOCK_CLASS_H

#include "base/jw.h"

/* `name`: with dots or slashes. */
bool jw_lock_class_is(const char *name, size_t length_bytes);

#endif
