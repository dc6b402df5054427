/* x86-64: where code leads that is left soon: followed instruction by instruction, with what it does to its registers and its stack.
 * Every context. */
#include "arch/arch.h"

#include <string.h>

#define WORD_BYTES sizeof(uintptr_t)

/* Instructions that are followed, and words that they may store on the way. */
#define STEPS_MAX  112
#define WRITES_MAX 24

/* Branches are passed; where that leads nowhere the last one is taken instead, so often. */
#define TRIES_MAX 3

#define REX_W 8u

/* Registers by the processor's numbers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, REGISTERS = 16 };

/* What a call need not give back, and what instructions without operands may use. */
#define CALL_LOSES     (1u << RAX | 1u << RCX | 1u << RDX | 1u << RSI | 1u << RDI | 0xfu << R8)
#define IMPLICIT_LOSES (1u << RAX | 1u << RCX | 1u << RDX | 1u << RSI | 1u << RDI)

struct write {
    uintptr_t addr, value;
    bool is_known;
};

/* The processor, as far as it is known. */
struct machine {
    uintptr_t values[REGISTERS];
    uint32_t known; /* a bit for each register */
    bool is_frame_left, has_branched;
    uint32_t write_count;
    struct write writes[WRITES_MAX];
};

/* An instruction in its parts. Where it has an operand in memory, `addr` is where, if that is known. */
struct parts {
    const uint8_t *bytes;
    size_t length_bytes;
    size_t immediate_at; /* of the opcodes below that have one */
    uint8_t opcode, rex, modrm;
    unsigned reg, rm;
    uintptr_t addr;
    bool is_short, is_register, is_addr_known; /* is_short: of two bytes */
};

/* DWARF's number of a register by the processor's. */
static JW_SIGNAL_SAFE unsigned dwarf_of(unsigned number)
{
    static const uint8_t numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};

    return number < sizeof numbers ? numbers[number] : number;
}

static JW_SIGNAL_SAFE bool is_known(const struct machine *machine, unsigned number)
{
    return (machine->known >> number & 1) != 0;
}

static JW_SIGNAL_SAFE void set(struct machine *machine, unsigned number, uintptr_t value,
                               bool is_value_known)
{
    machine->values[number] = value;
    machine->known = (machine->known & ~(1u << number)) | (uint32_t)is_value_known << number;
}

/* The stack pointer is never lost so: code of Java and of stubs changes it by the instructions known below. */
static JW_SIGNAL_SAFE void lose(struct machine *machine, uint32_t numbers)
{
    machine->known &= ~(numbers & ~(1u << RSP));
}

static JW_SIGNAL_SAFE bool store(struct machine *machine, uintptr_t addr, uintptr_t value,
                                 bool is_value_known)
{
    if (machine->write_count == WRITES_MAX)
        return false;
    machine->writes[machine->write_count++] = (struct write){addr, value, is_value_known};
    return true;
}

static JW_SIGNAL_SAFE bool load(const struct machine *machine, uintptr_t addr, uintptr_t *out)
{
    for (uint32_t i = machine->write_count; i > 0; i--) {
        const struct write *last = &machine->writes[i - 1];

        if (last->addr == addr) {
            *out = last->value;
            return last->is_known;
        }
        if (last->addr + WORD_BYTES > addr && addr + WORD_BYTES > last->addr)
            return false; /* in part */
    }
    return safe_load_word(addr, out);
}

static JW_SIGNAL_SAFE void load_register(struct machine *machine, unsigned number, uintptr_t addr)
{
    uintptr_t value = 0;
    const bool is_loaded = load(machine, addr, &value);

    set(machine, number, value, is_loaded);
}

static JW_SIGNAL_SAFE bool push(struct machine *machine, uintptr_t value, bool is_value_known)
{
    machine->values[RSP] -= WORD_BYTES;
    return store(machine, machine->values[RSP], value, is_value_known);
}

static JW_SIGNAL_SAFE void pop(struct machine *machine, unsigned number)
{
    const uintptr_t addr = machine->values[RSP];

    machine->values[RSP] += WORD_BYTES;
    machine->is_frame_left |= number == RBP;
    load_register(machine, number, addr);
}

static JW_SIGNAL_SAFE uintptr_t signed_at(const uint8_t *bytes, size_t count)
{
    int32_t value;

    if (count == 1)
        return (uintptr_t)(intptr_t)(int8_t)bytes[0];
    memcpy(&value, bytes, sizeof value);
    return (uintptr_t)(intptr_t)value;
}

/* A ModRM byte with what it wants; `at`: behind the opcode. */
static JW_SIGNAL_SAFE void read_operand(const struct machine *machine, struct parts *parts,
                                        size_t at)
{
    const unsigned mod = parts->bytes[at] >> 6;
    unsigned base = parts->bytes[at] & 7;
    bool has_index = false;

    parts->modrm = parts->bytes[at++];
    parts->reg = (parts->modrm >> 3 & 7u) | (parts->rex & 4u) << 1;
    parts->rm = base | (parts->rex & 1u) << 3;
    parts->is_register = mod == 3;
    if (mod != 3 && base == 4) {
        const uint8_t sib = parts->bytes[at++];

        has_index = (sib >> 3 & 7) != 4 || (parts->rex & 2) != 0;
        base = sib & 7;
        parts->rm = base | (parts->rex & 1u) << 3;
    }
    const size_t count = mod == 1 ? 1 : mod == 2 || (mod == 0 && base == 5) ? 4 : 0;

    parts->is_addr_known =
        mod != 3 && !has_index && !(mod == 0 && base == 5) && is_known(machine, parts->rm);
    parts->addr =
        machine->values[parts->rm] + (count != 0 ? signed_at(parts->bytes + at, count) : 0);
    parts->immediate_at = at + count;
}

static JW_SIGNAL_SAFE bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

/* mov, lea, and arithmetic on the stack pointer. False: something else. */
static JW_SIGNAL_SAFE bool do_move(struct machine *machine, const struct parts *parts,
                                   bool *is_followed)
{
    const bool is_wide = (parts->rex & REX_W) != 0;
    const unsigned reg = parts->reg, rm = parts->rm;

    switch (parts->opcode) {
    case 0x89: /* mov %reg,operand */
        if (parts->is_register)
            set(machine, rm, machine->values[reg], is_wide && is_known(machine, reg));
        else if (parts->is_addr_known)
            *is_followed = store(machine, parts->addr, machine->values[reg],
                                 is_wide && is_known(machine, reg));
        return true;
    case 0x8b: /* mov operand,%reg */
        if (parts->is_register)
            set(machine, reg, machine->values[rm], is_wide && is_known(machine, rm));
        else if (is_wide && parts->is_addr_known)
            load_register(machine, reg, parts->addr);
        else
            set(machine, reg, 0, false);
        return true;
    case 0x8d: /* lea operand,%reg */
        set(machine, reg, parts->addr, is_wide && parts->is_addr_known);
        return true;
    case 0xc7: /* mov $imm,operand */
        if (!parts->is_register && parts->is_addr_known)
            *is_followed = store(machine, parts->addr,
                                 signed_at(parts->bytes + parts->immediate_at, 4), is_wide);
        else if (parts->is_register)
            set(machine, rm, 0, false);
        return true;
    default:
        return false;
    }
}

/* push and pop of a place in memory. False: something else, or the place is not known. */
static JW_SIGNAL_SAFE bool do_stack_move(struct machine *machine, struct parts *parts, size_t at)
{
    const unsigned what = parts->modrm >> 3 & 7;
    const uintptr_t top = machine->values[RSP];
    uintptr_t value = 0;

    if (parts->opcode == 0xff && what == 6 && parts->is_addr_known) {
        const bool is_loaded = load(machine, parts->addr, &value);

        return push(machine, value, is_loaded);
    }
    if (parts->opcode != 0x8f || what != 0)
        return false;
    const bool is_loaded = load(machine, top, &value);
    machine->values[RSP] += WORD_BYTES;
    read_operand(machine, parts, at); /* the place counts from the stack pointer that it leaves */
    return parts->is_addr_known && store(machine, parts->addr, value, is_loaded);
}

/* add, sub, and of a number and the stack pointer; other arithmetic loses what it is on. */
static JW_SIGNAL_SAFE void do_arithmetic(struct machine *machine, const struct parts *parts)
{
    const uintptr_t amount =
        signed_at(parts->bytes + parts->immediate_at, parts->opcode == 0x83 ? 1 : 4);
    const unsigned what = parts->modrm >> 3 & 7;

    if (!parts->is_register || what == 7) /* cmp */
        return;
    if (parts->rm != RSP)
        lose(machine, 1u << parts->rm);
    else if (what == 0)
        machine->values[RSP] += amount;
    else if (what == 5)
        machine->values[RSP] -= amount;
    else if (what == 4)
        machine->values[RSP] &= amount;
}

/* What an instruction with a ModRM byte does that is not known closer. */
static JW_SIGNAL_SAFE void lose_operands(struct machine *machine, const struct parts *parts)
{
    lose(machine, 1u << parts->reg | (parts->is_register ? 1u << parts->rm : 0));
}

static JW_SIGNAL_SAFE bool has_operand(uint8_t opcode)
{
    return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 ||
           opcode == 0x6b || (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 ||
           opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
           (opcode >= 0xd0 && opcode <= 0xd3) || opcode == 0xf6 || opcode == 0xf7 ||
           opcode == 0xfe || opcode == 0xff;
}

/* Where the field of a register goes on with the opcode. */
static JW_SIGNAL_SAFE bool is_group(uint8_t opcode)
{
    return opcode == 0x80 || opcode == 0xc0 || opcode == 0xc1 || opcode >= 0xc6;
}

/* cmp and test change nothing. */
static JW_SIGNAL_SAFE bool is_comparison(uint8_t opcode)
{
    return (opcode >= 0x38 && opcode <= 0x3d) || opcode == 0x84 || opcode == 0x85 ||
           opcode == 0xa8 || opcode == 0xa9;
}

/* Those of the x87 (d8 to df) write no general register but rax, and memory by some of d9, db, dd and df. Source: Intel SDM, volume 2,
 * appendix A.5. */
static JW_SIGNAL_SAFE bool do_x87(struct machine *machine, struct parts *parts, size_t at)
{
    const unsigned what = parts->bytes[at] >> 3 & 7;

    read_operand(machine, parts, at);
    if (parts->is_register) {
        if (parts->opcode == 0xdf && parts->modrm == 0xe0) /* fnstsw %ax */
            lose(machine, 1u << RAX);
        return true;
    }
    const bool is_load =
        (parts->opcode & 1) == 0 || what == 0 || what == 5 || (what == 4 && parts->opcode != 0xdb);

    if (is_load || !parts->is_addr_known)
        return true;
    if (what == 6 && (parts->opcode == 0xd9 || parts->opcode == 0xdd))
        return false; /* fnstenv, fnsave: 28 and 108 bytes */
    if ((what == 7 && parts->opcode == 0xdb) || (what == 6 && parts->opcode == 0xdf))
        if (!store(machine, parts->addr + WORD_BYTES, 0, false)) /* 10 bytes */
            return false;
    return store(machine, parts->addr, 0, false);
}

/* One of the first map. False: the machine cannot tell what it does. */
static JW_SIGNAL_SAFE bool do_first_map(struct machine *machine, struct parts *parts, size_t at)
{
    const uint8_t opcode = parts->opcode;
    const unsigned low = (opcode & 7u) | (parts->rex & 1u) << 3;
    bool is_followed = true;

    if ((opcode & 0xf8) == 0x50)
        return push(machine, machine->values[low], is_known(machine, low));
    if ((opcode & 0xf8) == 0x58) {
        pop(machine, low);
        return low != RSP;
    }
    if (opcode == 0x9c || opcode == 0x68 || opcode == 0x6a) /* pushf, push $imm */
        return push(machine, 0, false);
    if (opcode == 0x9d) {
        machine->values[RSP] += WORD_BYTES;
        return true;
    }
    if (opcode == 0xc9) { /* leave */
        machine->values[RSP] = machine->values[RBP];
        if (!is_known(machine, RBP))
            return false;
        pop(machine, RBP);
        return true;
    }
    if ((opcode & 0xf8) == 0xb8) { /* mov $imm,%reg */
        uintptr_t value = 0;
        const bool is_wide = (parts->rex & REX_W) != 0;

        memcpy(&value, parts->bytes + at, is_wide ? 8 : 4);
        set(machine, low, value, !parts->is_short);
        return low != RSP;
    }
    if ((opcode & 0xf8) == 0xd8)
        return do_x87(machine, parts, at);
    if (has_operand(opcode)) {
        read_operand(machine, parts, at);
        if (is_comparison(opcode))
            return true;
        if (do_move(machine, parts, &is_followed))
            return is_followed && is_known(machine, RSP);
        if (opcode == 0x83 || opcode == 0x81) {
            do_arithmetic(machine, parts);
            return true;
        }
        if (opcode == 0x8f || (opcode == 0xff && (parts->modrm >> 3 & 7) == 6))
            return do_stack_move(machine, parts, at);
        if (!is_group(opcode))
            lose_operands(machine, parts);
        else if (parts->is_register)
            lose(machine, 1u << parts->rm);
        if (opcode == 0xf6 || opcode == 0xf7)
            lose(machine, IMPLICIT_LOSES);
        return true;
    }
    if (!is_comparison(opcode) && opcode != 0x90)
        lose(machine, IMPLICIT_LOSES | 1u << low);
    return true;
}

/* Those with VEX and EVEX. Few write a general register, by a number that is told in many ways; of what they do to the frame
 * pointer those alone matter that compute with general registers, which are some of opcodes f0 to f7. */
static JW_SIGNAL_SAFE void do_vectors(struct machine *machine, const uint8_t *bytes,
                                      size_t length_bytes)
{
    const bool is_long = bytes[0] == 0xc4 && length_bytes > 4;

    if (length_bytes == 3 && bytes[2] == 0x77) /* vzeroupper */
        return;
    lose(machine, CALL_LOSES | 1u << RBX | 0xfu << 12);
    if (is_long && (bytes[3] & 0xf8) == 0xf0)
        lose(machine, 1u << RBP);
}

/* What the instruction does to the machine, but for where it leads. */
static JW_SIGNAL_SAFE bool do_instruction(struct machine *machine, const uint8_t *bytes,
                                          size_t length_bytes)
{
    struct parts parts = {.bytes = bytes, .length_bytes = length_bytes};
    size_t at = 0;

    while (is_prefix(bytes[at]))
        parts.is_short |= bytes[at++] == 0x66;
    if ((bytes[at] & 0xf0) == 0x40)
        parts.rex = bytes[at++];
    parts.opcode = bytes[at++];
    if (parts.opcode == 0x0f) {
        /* Of vectors, too: what those call by the same number is lost for nothing. */
        at += bytes[at] == 0x38 || bytes[at] == 0x3a ? 2 : 1;
        if (at < length_bytes) {
            read_operand(machine, &parts, at);
            lose_operands(machine, &parts);
        } else {
            lose(machine, IMPLICIT_LOSES | 1u << RBX);
        }
        return true;
    }
    if (parts.opcode == 0xc4 || parts.opcode == 0xc5 || parts.opcode == 0x62) {
        do_vectors(machine, bytes, length_bytes);
        return true;
    }
    return do_first_map(machine, &parts, at);
}

/* The target of jmp *%reg and jmp *place. */
static JW_SIGNAL_SAFE bool find_target(const struct machine *machine, const uint8_t *bytes,
                                       uintptr_t *target)
{
    struct parts parts = {.bytes = bytes};
    size_t at = 0;

    if ((bytes[at] & 0xf0) == 0x40)
        parts.rex = bytes[at++];
    if (bytes[at++] != 0xff)
        return false;
    read_operand(machine, &parts, at);
    if ((parts.modrm >> 3 & 7) != 4)
        return false;
    if (!parts.is_register)
        return parts.is_addr_known && load(machine, parts.addr, target);
    *target = machine->values[parts.rm];
    return is_known(machine, parts.rm);
}

static JW_SIGNAL_SAFE void begin_machine(struct machine *machine, const void *ucontext,
                                         const struct arch_regs *regs)
{
    memset(machine->values, 0, sizeof machine->values);
    machine->known = ucontext != NULL ? (1u << REGISTERS) - 1 : 1u << RSP | 1u << RBP;
    machine->write_count = 0;
    machine->is_frame_left = machine->has_branched = false;
    for (unsigned n = 0; n < REGISTERS && ucontext != NULL; n++)
        (void)arch_dwarf_register(ucontext, dwarf_of(n), &machine->values[n]);
    machine->values[RSP] = regs->sp;
    machine->values[RBP] = regs->fp;
}

static JW_SIGNAL_SAFE bool arrive(const struct machine *machine, uintptr_t pc, bool is_return,
                                  struct arch_way *out)
{
    *out = (struct arch_way){
        .regs = {.pc = pc, .sp = machine->values[RSP], .fp = machine->values[RBP]},
        .is_return = is_return,
        .is_sure = !machine->has_branched,
        .is_frame_left = machine->is_frame_left,
    };
    return is_known(machine, RBP);
}

/* Up to where the code is left. `taken`: this branch of those that are met, from 1 on, is taken; 0: none. `met`: how many were. */
static JW_SIGNAL_SAFE bool follow(struct machine *machine, uintptr_t pc, uintptr_t begin,
                                  uintptr_t end, uint32_t taken, uint32_t *met,
                                  struct arch_way *out)
{
    struct arch_instruction instruction;
    uint8_t bytes[ARCH_INSTRUCTION_BYTES_MAX];
    uintptr_t target = 0;
    bool has_gone_back = false;

    *met = 0;
    for (int step = 0; step < STEPS_MAX && pc >= begin && pc < end; step++) {
        const size_t room_bytes = end - pc < sizeof bytes ? end - pc : sizeof bytes;

        memset(bytes, 0, sizeof bytes);
        if (!safe_load_bytes(bytes, pc, room_bytes) ||
            !arch_instruction_read(bytes, room_bytes, pc, &instruction))
            return false;
        const uintptr_t next = pc + instruction.length_bytes;

        switch (instruction.kind) {
        case ARCH_LEADS_BACK:
            pop(machine, RAX);
            return is_known(machine, RAX) && arrive(machine, machine->values[RAX], true, out);
        case ARCH_LEADS_AWAY:
            return find_target(machine, bytes, &target) && arrive(machine, target, false, out);
        case ARCH_LEADS_JUMP:
            if (instruction.target_pc < begin || instruction.target_pc >= end)
                return arrive(machine, instruction.target_pc, false, out);
            /* Code off the main path goes back to it once; more often it is a loop. */
            if (instruction.target_pc <= pc && has_gone_back)
                return false;
            has_gone_back |= instruction.target_pc <= pc;
            pc = instruction.target_pc;
            continue;
        case ARCH_LEADS_BRANCH:
            machine->has_branched = true;
            pc = ++*met == taken ? instruction.target_pc : next;
            continue;
        case ARCH_LEADS_CALL:
        case ARCH_LEADS_OUT:
            machine->has_branched = true;
            lose(machine, CALL_LOSES);
            break;
        case ARCH_LEADS_ON:
            if (!do_instruction(machine, bytes, instruction.length_bytes))
                return false;
            break;
        }
        pc = next;
    }
    return false;
}

bool arch_follow(const void *ucontext, const struct arch_regs *regs, uintptr_t begin, uintptr_t end,
                 struct arch_way *out)
{
    struct machine machine;
    uint32_t taken = 0, met = 0;

    for (int try = 0; try < TRIES_MAX; try++) {
        begin_machine(&machine, ucontext, regs);
        if (follow(&machine, regs->pc, begin, end, taken, &met, out))
            return true;
        /* Behind the last branch stands what ends the JVM, or the end of a loop. */
        if (met == 0 || (taken != 0 && met <= taken))
            return false;
        taken = met;
    }
    return false;
}
