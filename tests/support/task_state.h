/*
 * task_state - what the kernel says that a thread of this process does.
 *
 * For      tests that go on only when a thread waits, without a guess at how long that takes.
 * Callers  tests.   Context  tool.   Memory  none.
 */
#ifndef JW_TESTS_SUPPORT_TASK_STATE_H
#define JW_TESTS_SUPPORT_TASK_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* True when the thread sleeps in the kernel; false also when it is gone. */
bool task_is_asleep(uint32_t tid);

#endif
