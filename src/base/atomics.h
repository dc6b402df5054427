/*
 * atomics - the only door to shared memory: one name for each operation and order.
 *
 * For      fields that two contexts share; such a field is `_Atomic`.
 * Callers  every room. Raw atomic_* and __atomic_*, `volatile` and implicit seq_cst are refused
 *          elsewhere (tools/check-orders).
 * Context  all.
 * Memory   none.
 *
 * Every acquire and release names its pair with a tag in a comment, `order TAG: ...`, that stands
 * at both ends. seq_cst is for the epoch protocol alone (tag EPOCH_SC). A relaxed access says why
 * nothing depends on it, once, at the field.
 */
#ifndef JW_BASE_ATOMICS_H
#define JW_BASE_ATOMICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define jw_load_relaxed(field)         atomic_load_explicit((field), memory_order_relaxed)
#define jw_load_acquire(field)         atomic_load_explicit((field), memory_order_acquire)
#define jw_load_seq_cst(field)         atomic_load_explicit((field), memory_order_seq_cst)
#define jw_store_relaxed(field, value) atomic_store_explicit((field), (value), memory_order_relaxed)
#define jw_store_release(field, value) atomic_store_explicit((field), (value), memory_order_release)
#define jw_store_seq_cst(field, value) atomic_store_explicit((field), (value), memory_order_seq_cst)
#define jw_add_relaxed(field, amount)                                                              \
    atomic_fetch_add_explicit((field), (amount), memory_order_relaxed)
#define jw_sub_relaxed(field, amount)                                                              \
    atomic_fetch_sub_explicit((field), (amount), memory_order_relaxed)
#define jw_add_release(field, amount)                                                              \
    atomic_fetch_add_explicit((field), (amount), memory_order_release)
#define jw_add_acq_rel(field, amount)                                                              \
    atomic_fetch_add_explicit((field), (amount), memory_order_acq_rel)
#define jw_sub_release(field, amount)                                                              \
    atomic_fetch_sub_explicit((field), (amount), memory_order_release)
#define jw_and_release(field, bits) atomic_fetch_and_explicit((field), (bits), memory_order_release)
#define jw_or_release(field, bits)  atomic_fetch_or_explicit((field), (bits), memory_order_release)
#define jw_or_relaxed(field, bits)  atomic_fetch_or_explicit((field), (bits), memory_order_relaxed)
#define jw_and_relaxed(field, bits) atomic_fetch_and_explicit((field), (bits), memory_order_relaxed)
#define jw_exchange_acq_rel(field, value)                                                          \
    atomic_exchange_explicit((field), (value), memory_order_acq_rel)

/* Compare and swap, strong: true when `field` held `*expected`; else `*expected` is what it held. */
#define jw_cas_relaxed(field, expected, desired)                                                   \
    atomic_compare_exchange_strong_explicit((field), (expected), (desired), memory_order_relaxed,  \
                                            memory_order_relaxed)
#define jw_cas_acq_rel(field, expected, desired)                                                   \
    atomic_compare_exchange_strong_explicit((field), (expected), (desired), memory_order_acq_rel,  \
                                            memory_order_acquire)
#define jw_cas_seq_cst(field, expected, desired)                                                   \
    atomic_compare_exchange_strong_explicit((field), (expected), (desired), memory_order_seq_cst,  \
                                            memory_order_seq_cst)

/* Keeps the compiler, not the processor, from moving accesses across: for code that a signal
 * handler on the same thread interrupts. */
#define jw_signal_fence() atomic_signal_fence(memory_order_seq_cst)

#endif
