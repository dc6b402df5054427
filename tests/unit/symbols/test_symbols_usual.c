/* The short way for usual functions makes the rows that the long way makes, or says that a function is not usual. */
#include <criterion/criterion.h>

#include "base/hash.h"
#include "rows_check.h"

#define PROGRAMS      6000
#define PROGRAM_BYTES 64
#define SECTION_BYTES 4096
#define TEXT_BYTES    0x40000
#define USUAL_MIN     (PROGRAMS / 4) /* of those made, that the short way takes */

TestSuite(symbols_usual, .timeout = 1800);

static uint64_t random_state;

static uint64_t random_number(uint64_t limit)
{
    random_state += 0x9e3779b97f4a7c15ull;
    return jw_hash_word(random_state) % limit;
}

/* Mostly what compilers write; at times an instruction that they do not, or one without its operands. */
static size_t make_program(const struct symbols_machine *machine, unsigned char *bytes)
{
    static const unsigned char frequent[] = {
        0x0e, 0x0e, 0x0e, 0x0a, 0x0b, 0x0c, 0x0d, 0x00, 0x02, 0x03, 0x04, 0x2e, 0x2d,
    };
    const uint8_t registers[] = {machine->fp_register, machine->return_register,
                                 machine->kept_register & 0x3f, 12, 15};
    const size_t wanted_bytes = random_number(PROGRAM_BYTES - 12) + 1;
    size_t size_bytes = 0;

    while (size_bytes < wanted_bytes) {
        const uint64_t kind = random_number(100);
        const uint8_t reg = registers[random_number(JW_COUNT_OF(registers))] & 0x3f;

        if (kind < 6) { /* a return in the midst of a function; at times only nearly */
            const unsigned char shape[] = {
                0x0a,
                0x0c,
                random_number(4) == 0 ? reg : machine->sp_register,
                (unsigned char)random_number(random_number(8) == 0 ? 256 : 128),
                (unsigned char)(0x40 | random_number(64)),
                random_number(8) == 0 ? 0x40 : 0x0b};

            memcpy(bytes + size_bytes, shape, sizeof shape);
            size_bytes += sizeof shape;
        } else if (kind < 40) {
            bytes[size_bytes++] = (unsigned char)(0x40 | random_number(64));
        } else if (kind < 60) {
            bytes[size_bytes++] = (unsigned char)(0x80 | reg);
            bytes[size_bytes++] = (unsigned char)random_number(kind < 58 ? 12 : 256);
        } else if (kind < 67) {
            bytes[size_bytes++] = (unsigned char)(0xc0 | reg);
        } else if (kind < 98) {
            const unsigned char instruction = frequent[random_number(
                JW_COUNT_OF(frequent) - (machine->has_link_register ? 0 : 1))];

            bytes[size_bytes++] = instruction;
            if (instruction == 0x0c || instruction == 0x0d)
                bytes[size_bytes++] = random_number(2) == 0 ? machine->sp_register : reg;
            if (instruction == 0x0c || instruction == 0x0e || instruction == 0x2e) {
                const uint64_t value =
                    random_number(4) == 0 ? 0x80 | random_number(128) : random_number(128);
                bytes[size_bytes++] = (unsigned char)value;
                if (value >= 0x80)
                    bytes[size_bytes++] = (unsigned char)random_number(128);
            }
            for (unsigned i = 0;
                 instruction >= 2 && instruction <= 4 && i < 1u << (instruction - 2); i++)
                bytes[size_bytes++] = (unsigned char)(i == 0 ? random_number(256) : 0);
        } else {
            bytes[size_bytes++] = (unsigned char)random_number(256);
        }
    }
    return size_bytes;
}

static void open_builder(struct symbols_builder *builder, struct symbols_rule_table *table,
                         const struct symbols_fde *fde)
{
    struct jw_error err = {0};

    cr_assert(symbols_builder_open(builder, table, TEXT_BYTES, SECTION_BYTES, &err), "%s",
              err.message);
    symbols_builder_begin(builder, (uint32_t)fde->start_vaddr,
                          (uint32_t)(fde->start_vaddr + fde->size_bytes));
}

static void expect_same(const struct symbols_builder *a, const struct symbols_builder *b,
                        unsigned number)
{
    cr_assert_eq(a->row_count, b->row_count, "program %u: %u rows, %u the long way", number,
                 a->row_count, b->row_count);
    cr_assert_eq(a->cell_count, b->cell_count, "program %u", number);
    for (uint32_t i = a->first_cell + 1; i < a->cell_count; i++)
        cr_assert_eq(a->cells[i], b->cells[i], "program %u: cell %u is %x, %x the long way", number,
                     i, a->cells[i], b->cells[i]);
    cr_assert_eq(a->rule_count, b->rule_count, "program %u", number);
    for (uint32_t i = 0; i < a->rule_count; i++)
        cr_assert(a->table->rules[i].offsets == b->table->rules[i].offsets &&
                      a->table->rules[i].rest == b->table->rules[i].rest,
                  "program %u: rule %u", number, i);
}

static void compare_programs(uint16_t elf_machine, const void *cie_program, size_t cie_bytes)
{
    const struct symbols_machine *machine = symbols_machine_find(elf_machine);
    static struct symbols_usual usual;
    static struct symbols_rule_table tables[2];
    struct symbols_cie cie = {.code_align = elf_machine == 62 ? 1 : 4,
                              .data_align = -8,
                              .program = cie_program,
                              .program_end = (const unsigned char *)cie_program + cie_bytes,
                              .return_register = machine->return_register};
    struct symbols_cfa_state initial;
    unsigned usual_count = 0;

    cr_assert(symbols_cfa_initial(machine, &cie, &initial));
    const uint64_t word = symbols_usual_initial(machine, &cie, &initial);
    cr_assert_neq(word, 0);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        unsigned char bytes[PROGRAM_BYTES + SYMBOLS_USUAL_BEHIND];
        struct symbols_builder shortly, at_length;
        const struct symbols_fde fde = {.cie = &cie,
                                        .start_vaddr = random_number(0x1000),
                                        .size_bytes =
                                            random_number(i % 4 == 0 ? 0x200 : 0x2000) + 1,
                                        .program = bytes,
                                        .program_end = bytes + make_program(machine, bytes),
                                        .readable_end = bytes + sizeof bytes};

        /* What lies behind a program is read, and must say nothing. */
        for (unsigned char *behind = bytes + (fde.program_end - bytes); behind < fde.readable_end;
             behind++)
            *behind = (unsigned char)random_number(256);
        memset(&usual, 0, sizeof usual); /* numbers of rules are a builder's */
        symbols_usual_open(&usual, machine);
        open_builder(&shortly, &tables[0], &fde);
        if (symbols_usual_run(&usual, &fde, word, &shortly)) {
            open_builder(&at_length, &tables[1], &fde);
            cr_assert(symbols_cfa_run(machine, &fde, &initial, 0, &at_length),
                      "program %u is refused the long way", i);
            expect_same(&shortly, &at_length, i);
            symbols_builder_close(&at_length);
            usual_count++;
        } else {
            cr_assert_eq(shortly.row_count, 0);
            cr_assert_eq(shortly.cell_count, shortly.first_cell + 1);
        }
        symbols_builder_close(&shortly);
    }
    cr_assert_geq(usual_count, USUAL_MIN);
}

Test(symbols_usual, rows_are_those_of_the_long_way_on_x86_64)
{
    static const unsigned char program[] = {0x0c, 7, 8, 0x90, 1};

    compare_programs(62, program, sizeof program);
}

Test(symbols_usual, rows_are_those_of_the_long_way_on_aarch64)
{
    static const unsigned char program[] = {0x0c, 31, 0};

    compare_programs(183, program, sizeof program);
}

Test(symbols_usual, what_a_word_cannot_hold_is_left_to_the_long_way)
{
    static const unsigned char usual[] = {0x0c, 7, 8, 0x90, 1}, expression[] = {0x0f, 2, 0x77, 8};
    static const unsigned char other[] = {0x0c, 12, 8, 0x90, 1},
                               far[] = {0x0c, 7, 8, 0x90, 0x80, 2};
    const struct symbols_machine *machine = symbols_machine_find(62);
    const struct symbols_cie cies[] = {
        {.code_align = 1, .data_align = -4, .program = usual, .program_end = usual + 5},
        {.code_align = 0, .data_align = -8, .program = usual, .program_end = usual + 5},
        {.code_align = 1, .data_align = -8, .program = expression, .program_end = expression + 4},
        {.code_align = 1, .data_align = -8, .program = other, .program_end = other + 5},
        {.code_align = 1, .data_align = -8, .program = far, .program_end = far + 6},
    };

    for (size_t i = 0; i < JW_COUNT_OF(cies); i++) {
        struct symbols_cie cie = cies[i];
        struct symbols_cfa_state state;

        cie.return_register = 16;
        cr_assert(symbols_cfa_initial(machine, &cie, &state), "%zu", i);
        cr_assert_eq(symbols_usual_initial(machine, &cie, &state), 0, "%zu", i);
    }
}
