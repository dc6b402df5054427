/*
 * Criterion's newer assertions, cr_assert(eq(int, a, b)), for the small one beside: each turns into
 * the plain condition. Types: those of the standard, and str, ptr, sz, u8 ... u64, i8 ... i64, mem.
 */
#ifndef JW_TESTS_SMALL_ASSERT_H
#define JW_TESTS_SMALL_ASSERT_H

#include <criterion/criterion.h>

struct cr_mem {
    const void *data;
    size_t size;
};

static inline int cr_compare_mem(struct cr_mem a, struct cr_mem b)
{
    return a.size != b.size ? 1 : memcmp(a.data, b.data, a.size);
}

#define CR_OP_chr(op, a, b)    ((char)(a)op(char)(b))
#define CR_OP_int(op, a, b)    ((int)(a)op(int)(b))
#define CR_OP_uint(op, a, b)   ((unsigned)(a)op(unsigned)(b))
#define CR_OP_long(op, a, b)   ((long)(a)op(long)(b))
#define CR_OP_ulong(op, a, b)  ((unsigned long)(a)op(unsigned long)(b))
#define CR_OP_llong(op, a, b)  ((long long)(a)op(long long)(b))
#define CR_OP_ullong(op, a, b) ((unsigned long long)(a)op(unsigned long long)(b))
#define CR_OP_sz(op, a, b)     ((size_t)(a)op(size_t)(b))
#define CR_OP_ptr(op, a, b)    ((const volatile void *)(a)op(const volatile void *)(b))
#define CR_OP_iptr(op, a, b)   ((intptr_t)(a)op(intptr_t)(b))
#define CR_OP_uptr(op, a, b)   ((uintptr_t)(a)op(uintptr_t)(b))
#define CR_OP_u8(op, a, b)     ((uint8_t)(a)op(uint8_t)(b))
#define CR_OP_u16(op, a, b)    ((uint16_t)(a)op(uint16_t)(b))
#define CR_OP_u32(op, a, b)    ((uint32_t)(a)op(uint32_t)(b))
#define CR_OP_u64(op, a, b)    ((uint64_t)(a)op(uint64_t)(b))
#define CR_OP_i8(op, a, b)     ((int8_t)(a)op(int8_t)(b))
#define CR_OP_i16(op, a, b)    ((int16_t)(a)op(int16_t)(b))
#define CR_OP_i32(op, a, b)    ((int32_t)(a)op(int32_t)(b))
#define CR_OP_i64(op, a, b)    ((int64_t)(a)op(int64_t)(b))
#define CR_OP_flt(op, a, b)    ((float)(a)op(float)(b))
#define CR_OP_dbl(op, a, b)    ((double)(a)op(double)(b))
#define CR_OP_str(op, a, b)    (strcmp(a, b) op 0)
#define CR_OP_mem(op, a, b)    (cr_compare_mem(a, b) op 0)

/* One argument after the type where the condition is plain: eq(a, b) of any scalars. */
#define CR_PICK(a, b, c, name, ...) name
#define CR_TYPED(op, type, a, b)    CR_OP_##type(op, a, b)
#define CR_PLAIN(op, a, b)          ((a)op(b))

#define eq(...) CR_PICK(__VA_ARGS__, CR_TYPED, CR_PLAIN, )(==, __VA_ARGS__)
#define ne(...) CR_PICK(__VA_ARGS__, CR_TYPED, CR_PLAIN, )(!=, __VA_ARGS__)
#define lt(...) CR_PICK(__VA_ARGS__, CR_TYPED, CR_PLAIN, )(<, __VA_ARGS__)
#define le(...) CR_PICK(__VA_ARGS__, CR_TYPED, CR_PLAIN, )(<=, __VA_ARGS__)
#define gt(...) CR_PICK(__VA_ARGS__, CR_TYPED, CR_PLAIN, )(>, __VA_ARGS__)
#define ge(...) CR_PICK(__VA_ARGS__, CR_TYPED, CR_PLAIN, )(>=, __VA_ARGS__)
#define not(condition) (!(condition))
#define zero(type, a) eq(type, a, 0)
#define epsilon_eq(type, a, b, epsilon)                                                            \
    ((double)(a) - (double)(b) <= (epsilon) && (double)(b) - (double)(a) <= (epsilon))

#endif
