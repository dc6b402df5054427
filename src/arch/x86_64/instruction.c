/* x86-64: how long an instruction is, and where it leads. Every context. */
#include "arch/arch.h"

#include <string.h>

/* What follows an opcode. Source: Intel SDM, volume 2, appendix A, opcode maps. */
enum tail {
    TAIL_NONE,
    TAIL_BYTE,       /* an immediate or a displacement of one byte */
    TAIL_WORD,       /* of two */
    TAIL_LONG,       /* of four; of two with an operand prefix */
    TAIL_REL,        /* a displacement of four, always */
    TAIL_MODRM,      /* a ModRM byte with what it wants */
    TAIL_MODRM_BYTE, /* that, and an immediate */
    TAIL_MODRM_LONG,
    TAIL_BAD,
};

/* Of opcodes of one byte, a letter each: the row is the upper half of the opcode. Prefixes and escapes are taken before. */
static const char map_1[] =
    "mmmmbl..mmmmbl.." /* 00 */
    "mmmmbl..mmmmbl.."
    "mmmmbl..mmmmbl.."
    "mmmmbl..mmmmbl.."
    "................" /* 40: REX */
    "nnnnnnnnnnnnnnnn"
    "...m....lLbMnnnn" /* 60 */
    "bbbbbbbbbbbbbbbb"
    "ML.Mmmmmmmmmmmmm" /* 80 */
    "nnnnnnnnnn.nnnnn"
    "....nnnnblnnnnnn" /* a0: the first four have an address of eight bytes */
    "bbbbbbbbllllllll"
    "MMwn..ML.nwnnb.n" /* c0 */
    "mmmm...nmmmmmmmm"
    "bbbbbbbbrr.bnnnn" /* e0 */
    "....nnmmnnnnnnmm";

/* Behind 0f. */
static const char map_2[] = "mmmm.nnnnn.n.mn." /* 00 */
                            "mmmmmmmmmmmmmmmm"
                            "mmmm....mmmmmmmm"
                            "nnnnnn.n........"
                            "mmmmmmmmmmmmmmmm" /* 40 */
                            "mmmmmmmmmmmmmmmm"
                            "mmmmmmmmmmmmmmmm"
                            "MMMMmmmnmm..mmmm"
                            "rrrrrrrrrrrrrrrr" /* 80 */
                            "mmmmmmmmmmmmmmmm"
                            "nnnmMm..nnnmMmmm"
                            "mmmmmmmmmmMmmmmm"
                            "mmMmMMMmnnnnnnnn" /* c0 */
                            "mmmmmmmmmmmmmmmm"
                            "mmmmmmmmmmmmmmmm"
                            "mmmmmmmmmmmmmmmm";

#define VEX_3_BYTES 0xc4
#define VEX_2_BYTES 0xc5
#define EVEX        0x62
#define REX_W       8u
#define REX_B       1u

/* An instruction as far as it was read. */
struct code {
    const uint8_t *bytes;
    size_t room_bytes, used_bytes;
    uint8_t rex;
    bool has_operand_prefix, is_cut;
};

static JW_SIGNAL_SAFE uint8_t take(struct code *code)
{
    if (code->used_bytes >= code->room_bytes) {
        code->is_cut = true;
        return 0;
    }
    return code->bytes[code->used_bytes++];
}

static JW_SIGNAL_SAFE void skip(struct code *code, size_t count)
{
    if (code->room_bytes - code->used_bytes < count)
        code->is_cut = true;
    else
        code->used_bytes += count;
}

static JW_SIGNAL_SAFE int32_t take_long(struct code *code)
{
    int32_t value = 0;

    if (code->room_bytes - code->used_bytes < sizeof value) {
        code->is_cut = true;
        return 0;
    }
    memcpy(&value, code->bytes + code->used_bytes, sizeof value);
    code->used_bytes += sizeof value;
    return value;
}

/* The SIB byte, 0 where there is none. */
static JW_SIGNAL_SAFE uint8_t skip_modrm(struct code *code, uint8_t modrm)
{
    const unsigned mod = modrm >> 6;
    unsigned base = modrm & 7;
    uint8_t sib = 0;

    if (mod == 3)
        return 0;
    if (base == 4) {
        sib = take(code);
        base = sib & 7;
    }
    if (mod == 1)
        skip(code, 1);
    else if (mod == 2 || base == 5)
        skip(code, 4);
    return sib;
}

static JW_SIGNAL_SAFE enum tail tail_of(char letter)
{
    switch (letter) {
    case 'n':
        return TAIL_NONE;
    case 'b':
        return TAIL_BYTE;
    case 'w':
        return TAIL_WORD;
    case 'l':
        return TAIL_LONG;
    case 'r':
        return TAIL_REL;
    case 'm':
        return TAIL_MODRM;
    case 'M':
        return TAIL_MODRM_BYTE;
    case 'L':
        return TAIL_MODRM_LONG;
    default:
        return TAIL_BAD;
    }
}

static JW_SIGNAL_SAFE enum tail tail_in(const char *map, uint8_t opcode)
{
    return tail_of(map[opcode]);
}

/* The operand of TAIL_LONG is half as long with the prefix, unless REX.W says otherwise. */
static JW_SIGNAL_SAFE size_t long_bytes(const struct code *code)
{
    return code->has_operand_prefix && (code->rex & REX_W) == 0 ? 2 : 4;
}

/* A test of memory against eax, the memory at a register or relative to the instruction: so polls look. */
static JW_SIGNAL_SAFE bool is_poll_test(uint8_t modrm, uint8_t sib)
{
    const unsigned low = modrm & 7;

    if ((modrm & 0x38) != 0)
        return false;
    /* r13 and rbp have a displacement of a byte, which is 0; r12 and rsp a SIB byte that names no other. */
    return modrm >> 6 == 0 ? low != 4 || sib == 0x24 : modrm >> 6 == 1 && low == 5;
}

/* cmp disp(%r15),%rsp */
static JW_SIGNAL_SAFE bool is_poll_compare(const struct code *code, uint8_t modrm)
{
    return code->rex == (0x40 | REX_W | REX_B) && (modrm == 0xa7 || modrm == 0x67);
}

/* Of opcodes that go on with a ModRM byte those that matter. */
static JW_SIGNAL_SAFE void look_at_modrm(const struct code *code, uint8_t opcode, uint8_t modrm,
                                         uint8_t sib, struct arch_instruction *out)
{
    const unsigned middle = modrm >> 3 & 7;

    if (opcode == 0x85 && !code->has_operand_prefix && (code->rex & REX_W) == 0 &&
        is_poll_test(modrm, sib))
        out->poll = ARCH_POLL_TEST;
    else if (opcode == 0x3b && is_poll_compare(code, modrm))
        out->poll = ARCH_POLL_RETURN;
    else if (opcode == 0x8b && (code->rex & (REX_W | REX_B)) == (REX_W | REX_B) &&
             (modrm & 7) == 7 && (modrm >> 6 == 1 || modrm >> 6 == 2))
        out->poll = ARCH_POLL_LOAD;
    else if (opcode == 0xff && (middle == 2 || middle == 3))
        out->kind = modrm >> 6 == 3 ? ARCH_LEADS_OUT : ARCH_LEADS_CALL;
    else if (opcode == 0xff && (middle == 4 || middle == 5))
        out->kind = ARCH_LEADS_AWAY;
}

static JW_SIGNAL_SAFE void read_tail(struct code *code, enum tail tail, uint8_t opcode,
                                     bool is_first_map, struct arch_instruction *out)
{
    uint8_t modrm, sib;

    switch (tail) {
    case TAIL_NONE:
        return;
    case TAIL_BYTE:
        skip(code, 1);
        return;
    case TAIL_WORD:
        skip(code, 2);
        return;
    case TAIL_LONG:
        skip(code, is_first_map && opcode >= 0xb8 && opcode <= 0xbf && (code->rex & REX_W) != 0
                       ? 8
                       : long_bytes(code));
        return;
    case TAIL_REL:
        skip(code, 4);
        return;
    case TAIL_MODRM:
    case TAIL_MODRM_BYTE:
    case TAIL_MODRM_LONG:
        modrm = take(code);
        sib = skip_modrm(code, modrm);
        if (is_first_map)
            look_at_modrm(code, opcode, modrm, sib, out);
        /* test has an operand where the others of its opcode have none. */
        if (is_first_map && (opcode == 0xf6 || opcode == 0xf7) && (modrm >> 3 & 7) < 2)
            skip(code, opcode == 0xf6 ? 1 : long_bytes(code));
        if (tail == TAIL_MODRM_BYTE)
            skip(code, 1);
        else if (tail == TAIL_MODRM_LONG)
            skip(code, long_bytes(code));
        return;
    case TAIL_BAD:
        code->is_cut = true;
        return;
    }
}

/* Instructions of vectors never lead elsewhere; their maps are those of old, with a ModRM byte always. */
static JW_SIGNAL_SAFE void read_vector(struct code *code, unsigned map)
{
    const uint8_t opcode = take(code);

    if (map == 1 && opcode == 0x77) /* vzeroupper */
        return;
    if (map == 0 || map == 4 || map > 6) {
        code->is_cut = true;
        return;
    }
    (void)skip_modrm(code, take(code));
    if (map == 3 || (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
                                  (opcode >= 0xc4 && opcode <= 0xc6))))
        skip(code, 1);
}

static JW_SIGNAL_SAFE void read_escape(struct code *code, struct arch_instruction *out)
{
    const uint8_t opcode = take(code);

    if (opcode == 0x38) {
        (void)take(code);
        (void)skip_modrm(code, take(code));
        return;
    }
    if (opcode == 0x3a) {
        (void)take(code);
        (void)skip_modrm(code, take(code));
        skip(code, 1);
        return;
    }
    if (opcode >= 0x80 && opcode <= 0x8f) {
        const int32_t offset = take_long(code);

        out->kind = ARCH_LEADS_BRANCH;
        out->target_pc = (uintptr_t)(intptr_t)offset;
        return;
    }
    if (opcode == 0x0b)
        out->kind = ARCH_LEADS_AWAY; /* ud2 */
    read_tail(code, tail_in(map_2, opcode), opcode, false, out);
}

/* Those that lead elsewhere by their opcode. False: something else. */
static JW_SIGNAL_SAFE bool read_jump(struct code *code, uint8_t opcode,
                                     struct arch_instruction *out)
{
    if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3) ||
        opcode == 0xeb) {
        out->kind = opcode == 0xeb ? ARCH_LEADS_JUMP : ARCH_LEADS_BRANCH;
        out->target_pc = (uintptr_t)(intptr_t)(int8_t)take(code);
        return true;
    }
    if (opcode == 0xe8 || opcode == 0xe9) {
        out->kind = opcode == 0xe8 ? ARCH_LEADS_CALL : ARCH_LEADS_JUMP;
        out->target_pc = (uintptr_t)(intptr_t)take_long(code);
        out->has_target = true;
        return true;
    }
    if (opcode == 0xc2 || opcode == 0xc3) {
        out->kind = ARCH_LEADS_BACK;
        skip(code, opcode == 0xc2 ? 2 : 0);
        return true;
    }
    if (opcode == 0xf4 || opcode == 0xcc) {
        out->kind = ARCH_LEADS_AWAY;
        return true;
    }
    return false;
}

static JW_SIGNAL_SAFE uint8_t read_prefixes(struct code *code)
{
    uint8_t byte = take(code);

    while (byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65) {
        code->has_operand_prefix |= byte == 0x66;
        if (byte == 0x67 ||
            code->is_cut) /* addresses of four bytes are not written by compilers of Java */
            code->is_cut = true;
        byte = take(code);
    }
    if ((byte & 0xf0) == 0x40) {
        code->rex = byte;
        byte = take(code);
    }
    return byte;
}

bool arch_instruction_read(const uint8_t *bytes, size_t room_bytes, uintptr_t pc,
                           struct arch_instruction *out)
{
    struct code code = {.bytes = bytes, .room_bytes = room_bytes};
    const uint8_t opcode = read_prefixes(&code);

    *out = (struct arch_instruction){.kind = ARCH_LEADS_ON};
    if (opcode == 0x0f) {
        read_escape(&code, out);
    } else if (opcode == VEX_2_BYTES) {
        (void)take(&code);
        read_vector(&code, 1);
    } else if (opcode == VEX_3_BYTES) {
        const unsigned map = take(&code) & 31;
        (void)take(&code);
        read_vector(&code, map);
    } else if (opcode == EVEX) {
        const unsigned map = take(&code) & 7;
        skip(&code, 2);
        read_vector(&code, map);
    } else if (opcode >= 0xa0 && opcode <= 0xa3) {
        skip(&code, 8);
    } else if (!read_jump(&code, opcode, out)) {
        read_tail(&code, tail_in(map_1, opcode), opcode, true, out);
    }
    if (code.is_cut)
        return false;
    out->length_bytes = (uint8_t)code.used_bytes;
    if (out->kind == ARCH_LEADS_JUMP || out->kind == ARCH_LEADS_BRANCH || out->has_target) {
        out->has_target = true;
        out->target_pc += pc + code.used_bytes;
    }
    return true;
}

/* testb $mask,disp(%r15) */
bool arch_poll_word_read(const uint8_t *bytes, size_t room_bytes, struct arch_poll_word *out)
{
    uint32_t offset;

    if (room_bytes < 5 || bytes[0] != 0x41 || bytes[1] != 0xf6)
        return false;
    if (bytes[2] == 0x47) {
        *out = (struct arch_poll_word){.offset = bytes[3], .mask = bytes[4]};
        return bytes[3] < 0x80;
    }
    if (bytes[2] != 0x87 || room_bytes < 8)
        return false;
    memcpy(&offset, bytes + 3, sizeof offset);
    *out = (struct arch_poll_word){.offset = offset, .mask = bytes[7]};
    return true;
}
