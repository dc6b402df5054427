/* The binary record of a method: interned whole, read back only when whole. */
#include "generation/method_record.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static struct dict_table *methods;

static void open_methods(void)
{
    const struct dict_config config = {"methods", 1000, 1 << 20};
    struct jw_error err = {0};

    methods = dict_open(&config, &err);
    cr_assert(methods != NULL, "%s", err.message);
}

static void close_methods(void)
{
    dict_close(methods);
}

struct whole_record {
    struct method_record record;
    unsigned char line_table[METHOD_LINE_TABLE_MAX_BYTES + 1];
};

/* A method with a line table of this length. */
static struct whole_record *make(uint32_t line_table_bytes)
{
    static struct whole_record whole;

    whole.record = (struct method_record){
        .class_name = 1,
        .name = 2,
        .signature = 3,
        .source_file = DICT_NONE,
        .modifiers = 0x9,
        .flags = METHOD_HAS_CODE,
        .identity.const_method_addr = 0x7f0012345678,
        .line_table_bytes = line_table_bytes,
    };
    memset(whole.line_table, 0xab, sizeof whole.line_table);
    return &whole;
}

TestSuite(method_record, .init = open_methods, .fini = close_methods, .timeout = 1800);

Test(method_record, comes_back_as_it_went_in)
{
    const uint32_t lengths[] = {0, 1, 7, 8, 500, METHOD_LINE_TABLE_MAX_BYTES};

    for (size_t i = 0; i < JW_COUNT_OF(lengths); i++) {
        const struct whole_record *made = make(lengths[i]);
        const unsigned char *line_table = NULL;
        const dict_id id = method_record_intern(methods, &made->record);
        const struct method_record *record = method_record_get(methods, id, &line_table);

        cr_assert(record != NULL);
        cr_assert(eq(int, memcmp(record, &made->record, sizeof *record), 0));
        cr_assert(eq(int, memcmp(line_table, made->line_table, lengths[i]), 0));
        cr_assert(eq(u32, method_record_intern(methods, &made->record), id));
        cr_assert(method_record_get(methods, id, NULL) == record);
    }
}

Test(method_record, differs_by_every_field)
{
    struct whole_record *made = make(4);
    const dict_id id = method_record_intern(methods, &made->record);

    for (size_t i = 0; i < sizeof made->record + 4; i++) {
        unsigned char *byte = (unsigned char *)made + i;

        if (i - offsetof(struct method_record, line_table_bytes) < sizeof(uint32_t))
            continue; /* the length itself */
        *byte ^= 1;
        cr_assert(ne(u32, method_record_intern(methods, &made->record), id));
        *byte ^= 1;
    }
    cr_assert(eq(u32, method_record_intern(methods, &made->record), id));
}

Test(method_record, m20_a_line_table_beyond_the_limit_is_declined)
{
    const struct whole_record *made = make(METHOD_LINE_TABLE_MAX_BYTES + 1);

    cr_assert(eq(u32, method_record_intern(methods, &made->record), DICT_NONE));
    cr_assert(eq(u32, dict_last_id(methods), 0));
}

Test(method_record, bytes_that_are_no_whole_record_are_refused)
{
    const struct whole_record *made = make(10);
    const size_t whole_bytes = sizeof made->record + 10;

    cr_assert(method_record_get(methods, DICT_NONE, NULL) == NULL);
    cr_assert(method_record_get(methods, 1, NULL) == NULL);
    for (size_t length = 0; length <= whole_bytes + 5; length++) {
        const dict_id id = dict_intern(methods, made, length);

        cr_assert(ne(u32, id, DICT_NONE));
        cr_assert(eq(int, method_record_get(methods, id, NULL) != NULL, length == whole_bytes));
    }
}
