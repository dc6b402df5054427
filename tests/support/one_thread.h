/*
 * one_thread - tests of one thread that go through each allocation or each call there is.
 *
 * For      their time: thread sanitizer has nothing to find there and makes them ten times as long. The plain lane and
 *          address sanitizer run them.
 */
#ifndef JW_SUPPORT_ONE_THREAD_H
#define JW_SUPPORT_ONE_THREAD_H

#include <criterion/criterion.h>

#if defined(__SANITIZE_THREAD__)
#define LEAVE_TO_ADDRESS_SANITIZER() return
#else
#define LEAVE_TO_ADDRESS_SANITIZER() ((void)0)
#endif

#endif
