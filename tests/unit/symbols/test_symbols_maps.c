/* The text of /proc/self/maps: what is taken from it, and what is passed over. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "symbols/symbols_internal.h"

TestSuite(symbols_maps, .timeout = 1800);

static size_t parse(const char *text, struct symbols_mapping *mappings, size_t limit)
{
    static char copy[8192];

    cr_assert_lt(strlen(text), sizeof copy);
    snprintf(copy, sizeof copy, "%s", text);
    return symbols_maps_parse(copy, mappings, limit);
}

Test(symbols_maps, executable_file_mappings_are_taken_with_their_header)
{
    struct symbols_mapping mappings[8];

    const size_t count =
        parse("7f0000000000-7f0000010000 r--p 00000000 fd:01 1234    /lib/libx.so\n"
              "7f0000010000-7f0000020000 r-xp 00010000 fd:01 1234    /lib/libx.so\n"
              "7f0000020000-7f0000021000 rw-p 00020000 fd:01 1234    /lib/libx.so\n"
              "7f0000021000-7f0000031000 rwxp 00000000 00:00 0 \n"
              "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0       [vdso]\n"
              "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n",
              mappings, 8);

    cr_assert_eq(count, 2);
    cr_assert_eq(mappings[0].start, 0x7f0000010000);
    cr_assert_eq(mappings[0].end, 0x7f0000020000);
    cr_assert_eq(mappings[0].offset, 0x10000);
    cr_assert_eq(mappings[0].inode, 1234);
    cr_assert_eq(mappings[0].device, makedev(0xfd, 1));
    cr_assert_eq(mappings[0].header_address, 0x7f0000000000);
    cr_assert_str_eq(mappings[0].path, "/lib/libx.so");
    cr_assert_not(mappings[0].is_deleted);
    cr_assert(mappings[1].is_vdso);
    cr_assert_eq(mappings[1].header_address, 0x7ffd00000000);
}

Test(symbols_maps, paths_with_blanks_newlines_and_deleted_marks_are_restored)
{
    struct symbols_mapping mappings[8];

    const size_t count = parse("1000-2000 r-xp 00000000 00:1f 5 /a dir/lib\\012x.so (deleted)\n"
                               "3000-4000 r-xp 00000000 00:1f 6 /a (deleted) dir/y.so",
                               mappings, 8);

    cr_assert_eq(count, 2);
    cr_assert_str_eq(mappings[0].path, "/a dir/lib\nx.so");
    cr_assert(mappings[0].is_deleted);
    cr_assert_str_eq(mappings[1].path, "/a (deleted) dir/y.so");
    cr_assert_not(mappings[1].is_deleted);
}

Test(symbols_maps, malformed_lines_are_passed_over_and_the_limit_holds)
{
    struct symbols_mapping mappings[2];
    static const char *const bad[] = {
        "",
        "\n\n",
        "zzz",
        "1000",
        "1000-",
        "1000-2000",
        "2000-1000 r-xp 00000000 00:1f 5 /x",
        "1000-2000 r-x",
        "1000-2000 r-xp",
        "1000-2000 r-xp 0000000",
        "1000-2000 r-xp 00000000 00:1f",
        "1000-2000 r-xp 00000000 00:1f 5",
        "1000-2000 r-xp 00000000 0 5 /x",
        "-1000-2000 r-xp 00000000 00:1f 5 /x",
        "1000-fffffffffffffffff r-xp 00000000 00:1f 5 /x",
        "1000-2000 r-xp 00000000 00:1f 5 relative",
        "1000-2000 r--p 00000000 00:1f 5 /not/executable",
    };

    for (size_t i = 0; i < JW_COUNT_OF(bad); i++)
        cr_assert_eq(parse(bad[i], mappings, 2), 0, "%s", bad[i]);
    cr_assert_eq(parse("1000-2000 r-xp 0 0:1 5 /a\n2000-3000 r-xp 0 0:1 6 /b\n"
                       "3000-4000 r-xp 0 0:1 7 /c\n",
                       mappings, 2),
                 2);
}

Test(symbols_maps, a_file_of_proc_is_read_whole)
{
    struct jw_error err = {0};
    char *text = symbols_maps_read("/proc/self/maps", &err);

    cr_assert(text != NULL, "%s", err.message);
    cr_assert(strstr(text, "[stack]") != NULL);
    jw_free(text);
    cr_assert(symbols_maps_read("/proc/self/no such file", &err) == NULL);
    cr_assert(strstr(err.message, "No such file") != NULL, "%s", err.message);
}
