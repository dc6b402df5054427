/* Loads of memory that may not be there. */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdlib.h>

#include "base/counters.h"
#include "unit/arch/fault_handler.h"

TestSuite(arch_safe_load, .init = install_fault_handler, .timeout = 1800);

static const uintptr_t unreadable[] = {
    0,
    8,
    (uintptr_t)1 << 63, /* not canonical: x86-64 raises it without an address */
    0x800000000000,
    0xdeadbeefdeadbeef,
    UINTPTR_MAX,
    UINTPTR_MAX - 7,
};

Test(arch_safe_load, each_width_reads_its_bytes_and_no_others)
{
    unsigned char bytes[24];
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    uintptr_t word;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(0x81 + 7 * i);
    for (size_t at = 0; at < 16; at++) {
        const uintptr_t addr = (uintptr_t)bytes + at;

        cr_assert(safe_load_u8(addr, &u8) && memcmp(&u8, bytes + at, sizeof u8) == 0);
        cr_assert(safe_load_u16(addr, &u16) && memcmp(&u16, bytes + at, sizeof u16) == 0);
        cr_assert(safe_load_u32(addr, &u32) && memcmp(&u32, bytes + at, sizeof u32) == 0);
        cr_assert(safe_load_u64(addr, &u64) && memcmp(&u64, bytes + at, sizeof u64) == 0);
        cr_assert(safe_load_word(addr, &word) && memcmp(&word, bytes + at, sizeof word) == 0);
    }
    for (size_t at = 0; at < 16; at += sizeof u64)
        cr_assert(safe_load_u64_acquire((uintptr_t)bytes + at, &u64) &&
                  memcmp(&u64, bytes + at, sizeof u64) == 0);
    cr_assert(faults_seen == 0);
}

Test(arch_safe_load, m08_unreadable_memory_is_false_counted_and_leaves_the_result_alone)
{
    const uint64_t counted = jw_counter(JW_COUNT_LOAD_FAULTS);
    const size_t addresses = sizeof unreadable / sizeof unreadable[0];

    for (size_t i = 0; i < addresses; i++) {
        uint8_t u8 = 1;
        uint16_t u16 = 2;
        uint32_t u32 = 3;
        uint64_t u64 = 4;
        uintptr_t word = 5;
        char to[64];

        cr_assert(!safe_load_u8(unreadable[i], &u8) && u8 == 1);
        cr_assert(!safe_load_u16(unreadable[i], &u16) && u16 == 2);
        cr_assert(!safe_load_u32(unreadable[i], &u32) && u32 == 3);
        cr_assert(!safe_load_u64(unreadable[i], &u64) && u64 == 4);
        cr_assert(!safe_load_u64_acquire(unreadable[i], &u64) && u64 == 4);
        cr_assert(!safe_load_word(unreadable[i], &word) && word == 5);
        cr_assert(!safe_load_bytes(to, unreadable[i], 40));
        cr_assert(safe_load_string(to, sizeof to, unreadable[i]) == SAFE_LOAD_NO_STRING);
    }
    cr_assert(jw_counter(JW_COUNT_LOAD_FAULTS) - counted == 8 * addresses);
    cr_assert(faults_seen == (int)(8 * addresses));
}

Test(arch_safe_load, a_load_that_crosses_into_a_hole_is_false)
{
    unsigned char *hole = map_before_hole(1);
    uint64_t u64 = 1;
    uint32_t u32 = 1;
    uint16_t u16 = 1;

    for (uintptr_t back = 1; back < 8; back++)
        cr_assert(!safe_load_u64((uintptr_t)hole - back, &u64));
    for (uintptr_t back = 1; back < 4; back++)
        cr_assert(!safe_load_u32((uintptr_t)hole - back, &u32));
    cr_assert(!safe_load_u16((uintptr_t)hole - 1, &u16));
    cr_assert(safe_load_u64((uintptr_t)hole - 8, &u64) && u64 == 0);
    cr_assert(safe_load_u32((uintptr_t)hole - 4, &u32) && u32 == 0);
    cr_assert(safe_load_u16((uintptr_t)hole - 2, &u16) && u16 == 0);
}

Test(arch_safe_load, copies_of_every_length_stop_at_the_hole_and_nowhere_before)
{
    unsigned char *hole = map_before_hole(1);
    unsigned char to[128];

    for (size_t i = 1; i <= 96; i++)
        hole[-(ptrdiff_t)i] = (unsigned char)(i * 3);
    for (size_t room = 0; room <= 80; room++) {
        for (size_t length = 0; length <= 90; length++) {
            const unsigned char *from = hole - room;

            memset(to, 0xee, sizeof to);
            const bool is_copied = safe_load_bytes(to + 8, (uintptr_t)from, length);

            cr_assert(is_copied == (length <= room), "%zu of %zu", length, room);
            cr_assert(!is_copied || memcmp(to + 8, from, length) == 0, "%zu of %zu", length, room);
            cr_assert(to[7] == 0xee && to[8 + length] == 0xee, "%zu of %zu", length, room);
        }
    }
}

Test(arch_safe_load, a_copy_has_a_largest_length)
{
    unsigned char *from = calloc(1, SAFE_LOAD_MAX_BYTES + 1);
    unsigned char *to = malloc(SAFE_LOAD_MAX_BYTES + 1);

    from[SAFE_LOAD_MAX_BYTES - 1] = 9;
    to[SAFE_LOAD_MAX_BYTES] = 7;
    cr_assert(safe_load_bytes(to, (uintptr_t)from, SAFE_LOAD_MAX_BYTES));
    cr_assert(memcmp(to, from, SAFE_LOAD_MAX_BYTES) == 0 && to[SAFE_LOAD_MAX_BYTES] == 7);
    cr_assert(!safe_load_bytes(to, (uintptr_t)from, SAFE_LOAD_MAX_BYTES + 1));
    cr_assert(!safe_load_bytes(to, (uintptr_t)from, SIZE_MAX));
    free(from);
    free(to);
}

Test(arch_safe_load, a_file_that_shrank_under_its_mapping_is_false)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    char path[] = "/tmp/jw_safe_load.XXXXXX";
    const int file = mkstemp(path);
    uint64_t word = 1;

    unlink(path);
    cr_assert(ftruncate(file, (off_t)page_bytes) == 0);
    void *mapped = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, file, 0);
    cr_assert(safe_load_u64((uintptr_t)mapped, &word) && word == 0);
    cr_assert(ftruncate(file, 0) == 0);
    cr_assert(!safe_load_u64((uintptr_t)mapped, &word));
    close(file);
}

Test(arch_safe_load, strings_end_at_their_end_or_where_the_room_does)
{
    unsigned char *hole = map_before_hole(1);
    char to[40];

    for (size_t length = 0; length < 30; length++) {
        for (size_t room = 1; room < sizeof to; room++) {
            char *text = (char *)hole - length - 1;
            const size_t expected = length < room ? length : room - 1;

            memset(text, 'x', length);
            text[length] = '\0';
            memset(to, '!', sizeof to);
            cr_assert(safe_load_string(to, room, (uintptr_t)text) == expected);
            cr_assert(strlen(to) == expected && memcmp(to, text, expected) == 0);
            cr_assert(room == sizeof to || to[room] == '!');
        }
    }
    cr_assert(safe_load_string(to, 0, (uintptr_t)hole - 1) == SAFE_LOAD_NO_STRING);
    cr_assert(faults_seen == 0);
}

Test(arch_safe_load, a_string_without_an_end_is_none)
{
    unsigned char *hole = map_before_hole(1);
    char to[64];

    memset(hole - 20, 'x', 20);
    cr_assert(safe_load_string(to, sizeof to, (uintptr_t)hole - 20) == SAFE_LOAD_NO_STRING);
    cr_assert(safe_load_string(to, 21, (uintptr_t)hole - 20) == 20);
}

Test(arch_safe_load, a_destination_that_cannot_be_written_is_not_contained,
     .exit_code = STATUS_NOT_CONTAINED)
{
    unsigned char *hole = map_before_hole(1);

    (void)safe_load_bytes(hole, (uintptr_t)hole - 8, 8);
}

Test(arch_safe_load, a_fault_elsewhere_is_not_recovered_and_its_context_left_alone)
{
    struct arch_context made = {{0}};
    struct arch_context before;
    const struct arch_regs regs = {.pc = 0x1234, .sp = 0x5678, .fp = 0x9abc, .link = 0xdef0};

    arch_regs_write(&made, &regs);
    before = made;
    cr_assert(!arch_fault_recover(made.bytes));
    cr_assert(memcmp(&made, &before, sizeof made) == 0);
}

Test(arch_safe_load, words_are_matched_up_to_the_first_that_differs)
{
    uintptr_t memory[9];
    struct arch_word words[9];

    for (size_t i = 0; i < 9; i++) {
        memory[i] = i * 0x1234567812345;
        words[i] = (struct arch_word){(uintptr_t)&memory[i], memory[i]};
    }
    cr_assert(safe_match_words(words, 0) == 0);
    cr_assert(safe_match_words(words, 9) == 9);
    for (size_t wrong = 0; wrong < 9; wrong++) {
        memory[wrong] ^= (uintptr_t)1 << (7 * wrong); /* any bit of it */
        for (size_t count = 0; count <= 9; count++)
            cr_assert(safe_match_words(words, count) == (count < wrong ? count : wrong));
        memory[wrong] = words[wrong].value;
    }
    cr_assert(faults_seen == 0);
}

Test(arch_safe_load, a_word_that_cannot_be_read_makes_nothing_match)
{
    const size_t addresses = sizeof unreadable / sizeof unreadable[0];
    uintptr_t memory = 5;

    for (size_t i = 0; i < addresses; i++) {
        const struct arch_word words[] = {{(uintptr_t)&memory, 5}, {unreadable[i], 0}};

        cr_assert(safe_match_words(words, 2) == 0);
        cr_assert(safe_match_words(words, 1) == 1);
    }
    cr_assert(faults_seen == (int)addresses);
}
