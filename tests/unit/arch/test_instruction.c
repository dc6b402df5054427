/* Where instructions lead, and how long they are: code as HotSpot writes it. */
#include <criterion/criterion.h>
#include <string.h>

#include "arch/arch.h"

TestSuite(arch_instruction, .timeout = 1800);

#define PC 0x7f0000001000u

struct row {
    const char *text;
    const char *bytes;
    size_t length_bytes;
    enum arch_leads kind;
    enum arch_poll poll;
    intptr_t target; /* from PC; 0: none */
};

#define ROW(text, bytes, ...)                                                                      \
    {                                                                                              \
        text, bytes, sizeof(bytes) - 1, __VA_ARGS__                                                \
    }
#define ON(text, bytes) ROW(text, bytes, ARCH_LEADS_ON, ARCH_POLL_NONE, 0)

#if defined(__x86_64__)

static const struct row rows[] = {
    ON("nop", "\x90"),
    ON("nopw 0x0(%rax,%rax)", "\x66\x0f\x1f\x84\0\0\0\0\0"),
    ON("mov %eax,-0x14000(%rsp)", "\x89\x84\x24\0\xc0\xfe\xff"),
    ON("sub $0x18,%rsp", "\x48\x81\xec\x18\0\0\0"),
    ON("cmpl $1,0x20(%r15)", "\x41\x81\x7f\x20\x01\0\0\0"),
    ON("movabs $0x1122334455667788,%r10", "\x49\xba\x88\x77\x66\x55\x44\x33\x22\x11"),
    ON("mov $0x61a80,%ecx", "\xb9\x80\x1a\x06\0"),
    ON("mov $7,%cx", "\x66\xb9\x07\0"),
    ON("testb $1,0x8(%rax)", "\xf6\x40\x08\x01"),
    ON("test $0x100,%ecx", "\xf7\xc1\0\1\0\0"),
    ON("neg %r11d", "\x41\xf7\xdb"),
    ON("imul $31,%r9d,%r9d", "\x45\x6b\xc9\x1f"),
    ON("movslq %r8d,%r10", "\x4d\x63\xd0"),
    ON("movabs %al,0x1122334455667788", "\xa2\x88\x77\x66\x55\x44\x33\x22\x11"),
    ON("lea -0x1(%r10,%rcx,1),%rbx", "\x49\x8d\x5c\x0a\xff"),
    ON("mov 0x0(,%rax,8),%rax", "\x48\x8b\x04\xc5\0\0\0\0"),
    ON("lock cmpxchg %r10,(%rdi)", "\xf0\x4c\x0f\xb1\x17"),
    ON("shl $5,%r11d", "\x41\xc1\xe3\x05"),
    ON("pshufd $0,%xmm0,%xmm0", "\x66\x0f\x70\xc0\0"),
    ON("pmulld %xmm1,%xmm0", "\x66\x0f\x38\x40\xc1"),
    ON("palignr $8,%xmm1,%xmm0", "\x66\x0f\x3a\x0f\xc1\x08"),
    ON("vzeroupper", "\xc5\xf8\x77"),
    ON("vmovdqu 0x10(%r11,%r8,4),%ymm0", "\xc4\x81\x7e\x6f\x44\x83\x10"),
    ON("vpermq $0,%ymm1,%ymm0", "\xc4\xe3\xfd\x00\xc1\0"),
    ON("vpslld $5,%ymm1,%ymm0", "\xc5\xfd\x72\xf1\x05"),
    ON("vmovdqu32 0x40(%r10),%zmm0", "\x62\xd1\x7e\x48\x6f\x42\x01"),
    ON("vpternlogd $255,%zmm1,%zmm1,%zmm1", "\x62\xf3\x75\x48\x25\xc9\xff"),
    ON("test %eax,0xc(%r10)", "\x41\x85\x42\x0c"),
    ON("test %r10d,(%r10)", "\x45\x85\x12"),
    ON("test %rax,(%r10)", "\x49\x85\x02"),
    ON("cmp 0x10(%r14),%rsp", "\x49\x3b\x66\x10"),
    ON("mov 0x10(%rdi),%r10", "\x4c\x8b\x57\x10"),
    ROW("test %eax,(%r10)", "\x41\x85\x02", ARCH_LEADS_ON, ARCH_POLL_TEST, 0),
    ROW("test %eax,(%rbx)", "\x85\x03", ARCH_LEADS_ON, ARCH_POLL_TEST, 0),
    ROW("test %eax,(%r12)", "\x41\x85\x04\x24", ARCH_LEADS_ON, ARCH_POLL_TEST, 0),
    ROW("test %eax,0x0(%r13)", "\x41\x85\x45\0", ARCH_LEADS_ON, ARCH_POLL_TEST, 0),
    ROW("test %eax,0x1000(%rip)", "\x85\x05\0\x10\0\0", ARCH_LEADS_ON, ARCH_POLL_TEST, 0),
    ROW("cmp 0x458(%r15),%rsp", "\x49\x3b\xa7\x58\4\0\0", ARCH_LEADS_ON, ARCH_POLL_RETURN, 0),
    ROW("cmp 0x28(%r15),%rsp", "\x49\x3b\x67\x28", ARCH_LEADS_ON, ARCH_POLL_RETURN, 0),
    ROW("mov 0x448(%r15),%r11", "\x4d\x8b\x9f\x48\4\0\0", ARCH_LEADS_ON, ARCH_POLL_LOAD, 0),
    ROW("mov 0x28(%r15),%rbx", "\x49\x8b\x5f\x28", ARCH_LEADS_ON, ARCH_POLL_LOAD, 0),
    ROW("ja +0x20", "\x77\x20", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, 0x22),
    ROW("jl -0x10", "\x7c\xf0", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, -0x0e),
    ROW("ja +0x100", "\x0f\x87\0\1\0\0", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, 0x106),
    ROW("jmp -0x30", "\xeb\xd0", ARCH_LEADS_JUMP, ARCH_POLL_NONE, -0x2e),
    ROW("jmp +0x1000", "\xe9\0\x10\0\0", ARCH_LEADS_JUMP, ARCH_POLL_NONE, 0x1005),
    ROW("call -0x1000", "\xe8\0\xf0\xff\xff", ARCH_LEADS_CALL, ARCH_POLL_NONE, -0xffb),
    ROW("call *0x1c8(%rsi)", "\xff\x96\xc8\1\0\0", ARCH_LEADS_CALL, ARCH_POLL_NONE, 0),
    ROW("call *%r10", "\x41\xff\xd2", ARCH_LEADS_OUT, ARCH_POLL_NONE, 0),
    ROW("jmp *%rax", "\xff\xe0", ARCH_LEADS_AWAY, ARCH_POLL_NONE, 0),
    ROW("ret", "\xc3", ARCH_LEADS_BACK, ARCH_POLL_NONE, 0),
    ROW("ret $0x10", "\xc2\x10\0", ARCH_LEADS_BACK, ARCH_POLL_NONE, 0),
    ROW("ud2", "\x0f\x0b", ARCH_LEADS_AWAY, ARCH_POLL_NONE, 0),
    ROW("hlt", "\xf4", ARCH_LEADS_AWAY, ARCH_POLL_NONE, 0),
};

/* No instructions, or such as no compiler of Java writes. */
static const char *const unknown[] = {"\x06", "\x67\x8d\x51\xff", "\xd5\x08\x90",
                                      "\x62\xf4\x7c\x08"};

#else

static const struct row rows[] = {
    ON("nop", "\x1f\x20\x03\xd5"),
    ON("ldr w0,[x8]", "\x00\x01\x40\xb9"),
    ON("ldr wzr,[x8,#4]", "\x1f\x05\x40\xb9"),
    ON("cmp x9,x8", "\x3f\x01\x08\xeb"),
    ON("ldr x8,[x27,#40]", "\x68\x17\x40\xf9"),
    ROW("ldr wzr,[x8]", "\x1f\x01\x40\xb9", ARCH_LEADS_ON, ARCH_POLL_TEST, 0),
    ROW("cmp sp,x8", "\xff\x63\x28\xeb", ARCH_LEADS_ON, ARCH_POLL_RETURN, 0),
    ROW("ldr x8,[x28,#40]", "\x88\x17\x40\xf9", ARCH_LEADS_ON, ARCH_POLL_LOAD, 0),
    ROW("b -4", "\xff\xff\xff\x17", ARCH_LEADS_JUMP, ARCH_POLL_NONE, -4),
    ROW("bl +0x40", "\x10\0\0\x94", ARCH_LEADS_CALL, ARCH_POLL_NONE, 0x40),
    ROW("b.hi +0x40", "\x08\x02\0\x54", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, 0x40),
    ROW("b.ne -8", "\xc1\xff\xff\x54", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, -8),
    ROW("cbz w1,+8", "\x41\0\0\x34", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, 8),
    ROW("cbnz x1,-8", "\xc1\xff\xff\xb5", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, -8),
    ROW("tbz w1,#3,+8", "\x41\0\x18\x36", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, 8),
    ROW("tbnz x1,#33,-4", "\xe1\xff\x0f\xb7", ARCH_LEADS_BRANCH, ARCH_POLL_NONE, -4),
    ROW("blr x8", "\0\x01\x3f\xd6", ARCH_LEADS_CALL, ARCH_POLL_NONE, 0),
    ROW("br x8", "\0\x01\x1f\xd6", ARCH_LEADS_AWAY, ARCH_POLL_NONE, 0),
    ROW("ret", "\xc0\x03\x5f\xd6", ARCH_LEADS_BACK, ARCH_POLL_NONE, 0),
    ROW("brk #0", "\0\0\x20\xd4", ARCH_LEADS_AWAY, ARCH_POLL_NONE, 0),
};

static const char *const unknown[] = {"\x1f"};

#endif

Test(arch_instruction, what_hotspot_writes_is_read_right)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        unsigned char code[ARCH_INSTRUCTION_BYTES_MAX];
        struct arch_instruction told;

        memset(code, 0xcc, sizeof code);
        memcpy(code, row->bytes, row->length_bytes);
        cr_assert(arch_instruction_read(code, sizeof code, PC, &told), "%s", row->text);
        cr_expect(told.length_bytes == row->length_bytes, "%s: %u bytes", row->text,
                  told.length_bytes);
        cr_expect(told.kind == row->kind, "%s: kind %d", row->text, (int)told.kind);
        cr_expect(told.poll == row->poll, "%s: poll %d", row->text, (int)told.poll);
        cr_expect(told.has_target == (row->target != 0), "%s", row->text);
        if (row->target != 0)
            cr_expect(told.target_pc == PC + (uintptr_t)row->target, "%s: to %lx", row->text,
                      (unsigned long)told.target_pc);
    }
}

Test(arch_instruction, one_that_is_cut_is_refused)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        struct arch_instruction told;

        for (size_t room_bytes = 0; room_bytes < row->length_bytes; room_bytes++)
            cr_expect(
                !arch_instruction_read((const unsigned char *)row->bytes, room_bytes, PC, &told),
                "%s, of %zu bytes", row->text, room_bytes);
    }
}

Test(arch_instruction, what_is_not_known_is_refused)
{
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct arch_instruction told;

        cr_expect(!arch_instruction_read((const unsigned char *)unknown[i], strlen(unknown[i]), PC,
                                         &told),
                  "%zu", i);
    }
}

Test(arch_instruction, no_bytes_lead_out_of_the_room)
{
    unsigned char code[ARCH_INSTRUCTION_BYTES_MAX];
    uint64_t random = 7;

    for (int i = 0; i < 300000; i++) {
        struct arch_instruction told;

        for (size_t n = 0; n < sizeof code; n++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            code[n] = (unsigned char)(random >> 56);
        }
        const size_t room_bytes = random % (sizeof code + 1);
        if (arch_instruction_read(code, room_bytes, PC, &told))
            cr_assert(told.length_bytes > 0 && told.length_bytes <= room_bytes);
    }
}

#if defined(__x86_64__)
#define POLL_NEAR "\x41\xf6\x47\x28\x01"         /* testb $1,0x28(%r15) */
#define POLL_FAR  "\x41\xf6\x87\x40\x03\0\0\x08" /* testb $8,0x340(%r15) */
#define NO_POLL   "\x41\xf6\x46\x28\x01\0\0\0"   /* of r14 */
#else
#define POLL_NEAR "\x89\x17\x40\xf9\x49\0\0\x37"   /* ldr x9,[x28,#0x28]; tbnz w9,#0 */
#define POLL_FAR  "\x88\xa3\x41\xf9\x48\0\x18\x36" /* ldr x8,[x28,#0x340]; tbz w8,#3 */
#define NO_POLL   "\x89\x17\x40\xf9\x48\0\0\x37"   /* of another register */
#endif

Test(arch_instruction, a_poll_of_the_interpreter_names_the_word_and_the_bit)
{
    struct arch_poll_word word;

    cr_assert(arch_poll_word_read((const uint8_t *)POLL_NEAR, sizeof POLL_NEAR - 1, &word));
    cr_assert_eq(word.offset, 0x28);
    cr_assert_eq(word.mask, 1);
    cr_assert(arch_poll_word_read((const uint8_t *)POLL_FAR, sizeof POLL_FAR - 1, &word));
    cr_assert_eq(word.offset, 0x340);
    cr_assert_eq(word.mask, 8);
    cr_assert_not(arch_poll_word_read((const uint8_t *)NO_POLL, sizeof NO_POLL - 1, &word));
    for (size_t room = 0; room < sizeof POLL_FAR - 1; room++)
        cr_assert_not(arch_poll_word_read((const uint8_t *)POLL_FAR, room, &word));
}
