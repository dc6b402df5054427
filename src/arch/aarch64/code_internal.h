/* aarch64: reading instructions of prologues and epilogues. Room arch only. */
#ifndef JW_ARCH_AARCH64_CODE_INTERNAL_H
#define JW_ARCH_AARCH64_CODE_INTERNAL_H

#include "arch/arch.h"

#define CODE_BYTES sizeof(uint32_t)

/* Longest way from the end of a frame to its ret: poll, branch, ret, and some to spare. */
#define CODE_WINDOW_WORDS ((size_t)8)

#define CODE_STP_PUSH   0xa9bf7bfdu /* stp x29,x30,[sp,#-16]! */
#define CODE_LDP_POP    0xa8c17bfdu /* ldp x29,x30,[sp],#16 */
#define CODE_MOV_FP_SP  0x910003fdu /* mov x29,sp */
#define CODE_RET        0xd65f03c0u
#define CODE_NOP        0xd503201fu
#define CODE_BLR        0xd63f0000u /* blr x0: the register by its number, from bit 5 on */
#define CODE_SUB_SP_X8  0xcb2863ffu /* sub sp,sp,x8 */
#define CODE_SUB_SP_IMM 0xd10003ffu /* sub sp,sp,#0: the amount is added in by code_amount */
#define CODE_ADD_SP_IMM 0x910003ffu /* add sp,sp,#0 */
#define CODE_STP_AT     0xa9007bfdu /* stp x29,x30,[sp,#0]: the offset by code_pair_offset */
#define CODE_LDP_AT     0xa9407bfdu /* ldp x29,x30,[sp,#0] */

/* Field of an add or sub immediate; only amounts below 4096 are encoded in one instruction. */
#define CODE_AMOUNT_LIMIT 4096u
JW_SIGNAL_SAFE static inline uint32_t code_amount(size_t amount_bytes)
{
    return (uint32_t)amount_bytes << 10;
}

/* Field of an ldp or stp of two words; for offsets of up to 504 bytes. */
#define CODE_PAIR_OFFSET_LIMIT 504u
JW_SIGNAL_SAFE static inline uint32_t code_pair_offset(size_t offset_bytes)
{
    return (uint32_t)(offset_bytes / 8) << 15;
}

/* Copies up to `room_words` instructions from `from_pc`, not beyond `end_pc`; their number. */
JW_SIGNAL_SAFE size_t code_load(uint32_t *to, size_t room_words, uintptr_t from_pc,
                                uintptr_t end_pc);

/*
 * True when these instructions do nothing but return: polls and clearing of x0 may stand before the
 * ret, or a poll has been taken and they go to its handler. The frame is gone then, and x30 is the
 * return address.
 */
JW_SIGNAL_SAFE bool code_leads_to_return(const uint32_t *code, size_t count);

/* At the branch to the safepoint blob, behind the store of the poll's address, or at that behind a return, to where exceptions are
 * forwarded (`code[-1]` is read): without a frame too. */
JW_SIGNAL_SAFE bool code_is_last_branch(const uint32_t *code);

/* Bytes that this instruction takes off the stack with registers other than the link register, below 0 where it puts them there;
 * 0: neither. */
JW_SIGNAL_SAFE int32_t code_popped_bytes(uint32_t code);

/* Behind it another instruction may run than the next one; calls are of these, barriers and the like (d5) are not. */
JW_SIGNAL_SAFE static inline bool code_is_branch(uint32_t code)
{
    return (code & 0x1c000000) == 0x14000000 && code >> 24 != 0xd5;
}

/* The pair {fp, return address} is at [sp]. */
JW_SIGNAL_SAFE bool code_step_pushed(struct arch_regs *regs);

#endif
