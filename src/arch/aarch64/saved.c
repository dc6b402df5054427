/* aarch64: calls: what is saved around one, where one goes. Every context. */
#include "arch/arch.h"

#include "arch/aarch64/code_internal.h"

#define SAVED_BYTES_MAX  4096
#define INSTRUCTIONS_MAX ((size_t)96)

#define REG_LINK 30
#define REG_SP   31

/* A bl, and what is read before a blr: a page and its offset, or a constant in three parts. */
#define CALL_WORDS     ((size_t)4)
#define PAGE_BYTES     4096
#define CODE_LDR_NEXT8 0x58000048u /* ldr x8,#8 */
#define CODE_BR_X8     0xd61f0100u

struct pattern {
    uint32_t mask;
    uint32_t bits;
};

/* What a barrier's way passes around its call: nothing that writes to the stack pointer. */
static const struct pattern passing[] = {
    {0xffe0ffe0, 0xaa0003e0}, /* mov xN,xM */
    {0xffe0ffe0, 0x2a0003e0}, /* mov wN,wM */
    {0x1f800000, 0x12800000}, /* movn, movz, movk */
    {0xfffffc1f, 0xd63f0000}, /* blr */
    {0xfc000000, 0x94000000}, /* bl */
    {0xff3ffc10, 0x2518e000}, /* ptrue */
    {0xffffffff, 0xd503201f}, /* nop */
    {0xffc003e0, 0xf94003e0}, /* ldr xN,[sp,#n] */
    {0xffc003e0, 0xa94003e0}, /* ldp xN,xM,[sp,#n] */
    {0xffc003e0, 0xfd4003e0}, /* ldr dN,[sp,#n] */
    {0xffc003e0, 0x3dc003e0}, /* ldr qN,[sp,#n] */
    {0xffc003e0, 0x6d4003e0}, /* ldp dN,dM,[sp,#n] */
    {0xffc003e0, 0xad4003e0}, /* ldp qN,qM,[sp,#n] */
    {0xffc0e3e0, 0x858043e0}, /* ldr zN,[sp,#n,mul vl] */
    {0xffc003e0, 0xf90003e0}, /* and the stores */
    {0xffc003e0, 0xa90003e0}, /* */
    {0xffc003e0, 0xfd0003e0}, /* */
    {0xffc003e0, 0x3d8003e0}, /* */
    {0xffc003e0, 0x6d0003e0}, /* */
    {0xffc003e0, 0xad0003e0}, /* */
    {0xffc0e3e0, 0xe58043e0}, /* */
    {0xffe00fe0, 0xf84003a0}, /* ldur xN,[x29,#n]: a native wrapper's result */
};

/* A load or store of xN and x30 at [sp,#n]: the method's own frame goes or comes. */
JW_SIGNAL_SAFE static bool is_frame_edge(uint32_t code)
{
    return (code & 0xff807fe0) == (0xa90003e0 | REG_LINK << 10);
}

JW_SIGNAL_SAFE static bool is_passing(uint32_t code)
{
    if (is_frame_edge(code))
        return false;
    for (size_t i = 0; i < JW_COUNT_OF(passing); i++)
        if ((code & passing[i].mask) == passing[i].bits)
            return true;
    /* add or sub of a constant, or of a register that is moved through sp: the result lies elsewhere. */
    return (code & 0x1f800000) == 0x11000000 && (code & 31) != REG_SP;
}

int32_t code_popped_bytes(uint32_t code)
{
    const uint32_t first = code & 31, second = code >> 10 & 31;
    const int32_t pair = (int32_t)(code << 10) >> 25; /* its signed offset, in registers */
    const int32_t single = (int32_t)(code << 11) >> 23;
    const int32_t constant = (int32_t)(code >> 10 & 0xfff) << ((code >> 22 & 1) != 0 ? 12 : 0);

    if ((code & 0xff8003ff) == 0x910003ff) /* add sp,sp,#n */
        return constant;
    if ((code & 0xff8003ff) == 0xd10003ff) /* sub sp,sp,#n */
        return -constant;
    /* ldp xN,xM,[sp],#n; stp xN,xM,[sp,#-n]! */
    if ((code & 0xffc003e0) == 0xa8c003e0 || (code & 0xffc003e0) == 0xa98003e0)
        return first == REG_LINK || second == REG_LINK ? 0 : pair * 8;
    if ((code & 0xffc003e0) == 0x6cc003e0 || (code & 0xffc003e0) == 0x6d8003e0) /* of dN, dM */
        return pair * 8;
    if ((code & 0xffc003e0) == 0xacc003e0 || (code & 0xffc003e0) == 0xad8003e0) /* of qN, qM */
        return pair * 16;
    /* ldr xN,[sp],#n; str xN,[sp,#-n]!; the same of dN and qN */
    if ((code & 0xffe00fe0) == 0xf84007e0 || (code & 0xffe00fe0) == 0xf8000fe0)
        return first == REG_LINK ? 0 : single;
    if ((code & 0xffe00fe0) == 0xfc4007e0 || (code & 0xffe00fe0) == 0xfc000fe0 ||
        (code & 0xffe00fe0) == 0x3cc007e0 || (code & 0xffe00fe0) == 0x3c800fe0)
        return single;
    if ((code & 0xffffffe0) == 0x0cdf2fe0) /* ld1 {vN.1d to vN+3.1d},[sp],#32 */
        return 32;
    return (code & 0xffffffe0) == 0x4cdf2fe0 ? 64 : 0;
}

size_t arch_saved_bytes(uintptr_t pc, uintptr_t code_end)
{
    uint32_t code[INSTRUCTIONS_MAX];
    const size_t count =
        pc % CODE_BYTES == 0 ? code_load(code, JW_COUNT_OF(code), pc, code_end) : 0;
    int32_t saved_bytes = 0;
    uint32_t before;

    if (count == 0 || (safe_load_u32(pc - CODE_BYTES, &before) && is_frame_edge(before)))
        return 0;
    for (size_t i = 0; i < count && saved_bytes <= SAVED_BYTES_MAX; i++) {
        const int32_t bytes = code_popped_bytes(code[i]);

        if ((code[i] & 0xfc000000) == 0x14000000) /* b: back to the main path */
            return saved_bytes > 0 && saved_bytes % 16 == 0 ? (size_t)saved_bytes : 0;
        if (bytes == 0 && !is_passing(code[i]))
            return 0;
        saved_bytes += bytes;
    }
    return 0;
}

size_t arch_pushed_all_bytes(uintptr_t sp, uintptr_t fp)
{
    (void)sp;
    (void)fp;
    return 0;
}

/* A field of `bits` bits from `low` on, with its sign. */
JW_SIGNAL_SAFE static intptr_t field_of(uint32_t code, unsigned low, unsigned bits)
{
    return (intptr_t)((int32_t)(code << (32 - low - bits)) >> (32 - bits));
}

/* What the instructions before a blr put into its register; 0: not told. `code`: the last one is the blr. */
JW_SIGNAL_SAFE static uintptr_t constant_of(const uint32_t code[CALL_WORDS], uintptr_t blr_pc)
{
    const uint32_t reg = code[3] >> 5 & 31;
    const uint32_t page = code[1], offset = code[2];

    /* adrp xN,page; add xN,xN,#offset */
    if ((page & 0x9f00001f) == (0x90000000 | reg) &&
        (offset & 0xffc003ff) == (0x91000000 | reg << 5 | reg)) {
        const intptr_t pages =
            field_of(page, 5, 19) * 4 + (intptr_t)(page >> 29 & 3); /* two low bits stand apart */

        return ((blr_pc - 2 * CODE_BYTES) & ~(uintptr_t)(PAGE_BYTES - 1)) +
               (uintptr_t)(pages * PAGE_BYTES) + (offset >> 10 & 0xfff);
    }
    /* mov xN,#low; movk xN,#middle,lsl #16; movk xN,#high,lsl #32 */
    if ((code[0] & 0xffe0001f) == (0xd2800000 | reg) &&
        (code[1] & 0xffe0001f) == (0xf2a00000 | reg) &&
        (code[2] & 0xffe0001f) == (0xf2c00000 | reg))
        return (uintptr_t)(code[0] >> 5 & 0xffff) | (uintptr_t)(code[1] >> 5 & 0xffff) << 16 |
               (uintptr_t)(code[2] >> 5 & 0xffff) << 32;
    return 0;
}

uintptr_t arch_call_target(uintptr_t return_pc)
{
    const uintptr_t call_pc = return_pc - CODE_BYTES;
    uint32_t code[CALL_WORDS], far[2];
    uintptr_t target = 0;

    if (return_pc % CODE_BYTES != 0 || !safe_load_u32(call_pc, &code[3]))
        return 0;
    if ((code[3] & 0xfc000000) == 0x94000000) /* bl */
        target = call_pc + (uintptr_t)(field_of(code[3], 0, 26) * (intptr_t)CODE_BYTES);
    else if ((code[3] & 0xfffffc1f) == CODE_BLR &&
             safe_load_bytes(code, call_pc - 3 * CODE_BYTES, 3 * CODE_BYTES))
        target = constant_of(code, call_pc);
    /* What is too far for a bl is reached by way of a few words behind the method's code. */
    if (target != 0 && safe_load_bytes(far, target, sizeof far) && far[0] == CODE_LDR_NEXT8 &&
        far[1] == CODE_BR_X8 && !safe_load_word(target + sizeof far, &target))
        return 0;
    return target;
}

bool arch_is_call_of(uintptr_t return_pc, uintptr_t target)
{
    return target != 0 && arch_call_target(return_pc) == target;
}

bool arch_is_behind_call(uintptr_t return_pc)
{
    uint32_t code;

    return safe_load_u32(return_pc - sizeof code, &code) &&
           ((code & 0xfc000000) == 0x94000000 || /* bl */
            (code & 0xfefff800) == 0xd63f0800 || /* blraa, blrab and their like */
            (code & 0xfffffc1f) == 0xd63f0000);  /* blr */
}
