/* x86-64: reading instructions of prologues and epilogues. Room arch only. */
#ifndef JW_ARCH_X86_64_CODE_INTERNAL_H
#define JW_ARCH_X86_64_CODE_INTERNAL_H

#include "arch/arch.h"

/* Longest way from the end of a frame to its ret: poll, jump, ret, and some to spare. */
#define CODE_WINDOW_BYTES ((size_t)32)

/* Copies up to CODE_WINDOW_BYTES of code from `from_pc`, not beyond `end_pc`; the number of bytes. */
JW_SIGNAL_SAFE size_t code_load(uint8_t *to, uintptr_t from_pc, uintptr_t end_pc);

/* mov %rsp,%rbp: 48 8b ec as HotSpot writes it, 48 89 e5 as compilers do. */
JW_SIGNAL_SAFE bool code_is_mov_rsp_rbp(const uint8_t *code, size_t length_bytes);

/*
 * True when these instructions do nothing but return: polls, vzeroupper and clearing of eax may
 * stand before the ret, or a poll has been taken and they go to its handler. The frame is gone then.
 */
JW_SIGNAL_SAFE bool code_leads_to_return(const uint8_t *code, size_t length_bytes);

/* At a jump right behind the end of a frame, to the stub that forwards exceptions or to a method: no frame is there. */
JW_SIGNAL_SAFE bool code_is_behind_frame_jump(const uint8_t *here, size_t before_bytes,
                                              size_t left_bytes);

/* At the jump to forward_exception with which a native method's wrapper ends: jne over the ret before it, behind the frame. At least
 * a byte is at `here`. */
JW_SIGNAL_SAFE bool code_is_behind_return_jump(const uint8_t *here, size_t before_bytes);

/* The saved rbp is at [sp], the return address behind it. */
JW_SIGNAL_SAFE bool code_step_pushed(struct arch_regs *regs);

#endif
