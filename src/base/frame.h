/*
 * frame - one frame of a stack, in eight bytes, as handlers store it and the dump thread reads it.
 *
 *     63      56 55                    32 31                             0
 *     +---------+------------------------+-------------------------------+
 *     |  kind   |  bci + 4 (24 bits)     |  method: id in `methods`      |   Java kinds, COMPILING
 *     +---------+------------------------+-------------------------------+
 *     |  kind   |  pc (56 bits)                                          |   NATIVE, KERNEL, ADDRESS
 *     +---------+--------------------------------------------------------+
 *     |  kind   |  number of an enum jw_mark                             |   MARK
 *     +---------+--------------------------------------------------------+
 *     |  kind   |  class: id in `classes`                                |   CLASS
 *     +---------+--------------------------------------------------------+
 *
 * An id means something only in the generation that gave it.
 */
#ifndef JW_BASE_FRAME_H
#define JW_BASE_FRAME_H

#include "base/jw.h"

typedef uint64_t jw_frame;

/* The first four are JFR's own frame types, in its order. */
enum jw_frame_kind {
    JW_FRAME_INTERPRETED = 0,
    JW_FRAME_COMPILED = 1,
    JW_FRAME_INLINED = 2,
    JW_FRAME_JAVA_NATIVE = 3, /* a Java method marked native */
    JW_FRAME_NATIVE = 4,      /* C or C++ code, by pc */
    JW_FRAME_KERNEL = 5,
    JW_FRAME_MARK = 6,  /* not code: says what is missing, and why */
    JW_FRAME_CLASS = 7, /* not code: the class of the object on which a method is being looked up */
    JW_FRAME_COMPILING = 8, /* not code: the Java method that the code above compiles */
    JW_FRAME_ADDRESS =
        9, /* not code: where the thread was interrupted, Java or native code below */
};
#define JW_FRAME_KIND_LIMIT ((size_t)JW_FRAME_ADDRESS + 1)

/* Names that stand in a stack where code should; users of other profilers already search for some. */
enum jw_mark {
#define JW_MARK(name, text) JW_MARK_##name,
#include "base/marks.def"
#undef JW_MARK
    JW_MARK_LIMIT
};

#define JW_BCI_UNKNOWN (-1)
#define JW_BCI_NATIVE  (-3) /* as AsyncGetCallTrace marks a native method */
#define JW_BCI_BIAS    4

JW_SIGNAL_SAFE static inline jw_frame jw_frame_java(enum jw_frame_kind kind, uint32_t method,
                                                    int bci)
{
    const uint64_t stored = (uint64_t)(uint32_t)(bci + JW_BCI_BIAS) & 0xffffff;

    return (uint64_t)kind << 56 | stored << 32 | method;
}

JW_SIGNAL_SAFE static inline jw_frame jw_frame_native(uintptr_t pc)
{
    return (uint64_t)JW_FRAME_NATIVE << 56 | ((uint64_t)pc & 0xffffffffffffffull);
}

JW_SIGNAL_SAFE static inline jw_frame jw_frame_address(uintptr_t pc)
{
    return (uint64_t)JW_FRAME_ADDRESS << 56 | ((uint64_t)pc & 0xffffffffffffffull);
}

/* The upper half of the address space is the kernel's: what is cut off of it are ones. */
JW_SIGNAL_SAFE static inline jw_frame jw_frame_kernel(uint64_t address)
{
    return (uint64_t)JW_FRAME_KERNEL << 56 | (address & 0xffffffffffffffull);
}

JW_SIGNAL_SAFE static inline jw_frame jw_frame_mark(enum jw_mark mark)
{
    return (uint64_t)JW_FRAME_MARK << 56 | (uint64_t)mark;
}

JW_SIGNAL_SAFE static inline jw_frame jw_frame_class(uint32_t class_name)
{
    return (uint64_t)JW_FRAME_CLASS << 56 | class_name;
}

JW_SIGNAL_SAFE static inline enum jw_frame_kind jw_frame_kind_of(jw_frame frame)
{
    return (enum jw_frame_kind)(frame >> 56);
}

JW_SIGNAL_SAFE static inline uint32_t jw_frame_method(jw_frame frame)
{
    return (uint32_t)frame;
}

static inline uint32_t jw_frame_class_name(jw_frame frame)
{
    return (uint32_t)frame;
}

static inline int jw_frame_bci(jw_frame frame)
{
    return (int)(frame >> 32 & 0xffffff) - JW_BCI_BIAS;
}

static inline uintptr_t jw_frame_pc(jw_frame frame)
{
    return (uintptr_t)(frame & 0xffffffffffffffull);
}

static inline enum jw_mark jw_frame_mark_of(jw_frame frame)
{
    return (enum jw_mark)(frame & 0xffffffff);
}

/* Whether such a pc is of the kernel, and where it is there; 0: no. */
static inline uint64_t jw_kernel_address(uintptr_t pc)
{
    return pc >> 55 == 1 ? (uint64_t)pc | UINT64_C(0xff) << 56 : 0;
}

/* Text of a mark, "[GC active]"; "[unknown]" for a number that is none. Context: dump, tool. */
const char *jw_mark_text(enum jw_mark mark);

#endif
