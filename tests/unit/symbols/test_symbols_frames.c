/* Rows of real libraries, each compared with what readelf makes of the same .eh_frame. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "elf_file.h"

TestSuite(symbols_frames, .timeout = 1800);

struct comparison {
    struct elf_file file;
    struct symbols_rows *rows;
    unsigned compared, cannot, wrong;
    char message[512];
    /* The function and its columns, as readelf announced them. */
    uint64_t end_vaddr, last_vaddr;
    int fp_column, sp_column, return_column, kept_column;
    char last_line[512];
    bool is_function;
    bool is_foreign;      /* the function returns through another register than all others */
    char foreign_cie[32]; /* " cie=0000e774" of such functions */
};

static enum symbols_rule_kind rule_at(const struct comparison *comparison, uint64_t vaddr,
                                      struct symbols_rule *rule, uint8_t *stub_push_byte)
{
    return symbols_rule_unpack(
        symbols_rows_find(comparison->rows, vaddr - comparison->file.text_vaddr), rule,
        stub_push_byte);
}

/* The n-th word of a line, from 0; empty when there are fewer. "r10 (r10)" counts as one. */
static void word_at(const char *line, int index, char *word, size_t word_bytes)
{
    word[0] = '\0';
    for (int i = 0; *line != '\0'; i++) {
        line += strspn(line, " \t\n");
        const size_t length = strcspn(line, " \t\n");

        if (i == index) {
            snprintf(word, word_bytes, "%.*s", (int)length, line);
            return;
        }
        line += length;
        if (strncmp(line, " (", 2) == 0)
            line += strcspn(line, ")") + (strchr(line, ')') != NULL);
    }
}

static bool is_saved_as(const char *word, uint8_t place, int32_t offset_bytes)
{
    if (strcmp(word, "exp") == 0)
        return place == SYMBOLS_PLACE_AT_BASE;
    if (word[0] == 'c')
        return place == SYMBOLS_PLACE_AT_CFA && atoi(word + 1) == offset_bytes;
    return (word[0] == '\0' || word[0] == 'u' || word[0] == 's') && place == SYMBOLS_PLACE_SAME;
}

/* Of the further register a rule need not know; what it says is right. */
static bool is_kept_as(const char *word, const struct symbols_rule *rule)
{
    if (rule->kept_words == SYMBOLS_KEPT_LOST)
        return word[0] != '\0' && (word[0] != 'c' || atoi(word + 1) <= -255 * 8);
    return is_saved_as(word, rule->kept_words == 0 ? SYMBOLS_PLACE_SAME : SYMBOLS_PLACE_AT_CFA,
                       -8 * rule->kept_words);
}

/* DWARF's number of a general register; -1: no such name. */
static int register_of(const char *name, size_t name_length)
{
    static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"};

    for (size_t i = 0; i < JW_COUNT_OF(names); i++)
        if (strlen(names[i]) == name_length && strncmp(name, names[i], name_length) == 0)
            return (int)i;
    if (name[0] == 'r' && name_length > 1)
        return atoi(name + 1);
    return name[0] == 'x' ? atoi(name + 1) : -1;
}

static bool is_base(const char *name, size_t name_length, const struct symbols_rule *rule)
{
    const bool is_sp =
        strncmp(name, "rsp", name_length) == 0 || strncmp(name, "sp", name_length) == 0;
    const bool is_fp =
        strncmp(name, "rbp", name_length) == 0 || strncmp(name, "x29", name_length) == 0;

    if (is_sp || is_fp)
        return rule->cfa_base == (is_sp ? SYMBOLS_BASE_SP : SYMBOLS_BASE_FP);
    if (strncmp(name, "rbx", name_length) == 0)
        return rule->cfa_base == SYMBOLS_BASE_KEPT;
    return rule->cfa_base == SYMBOLS_BASE_OTHER &&
           rule->other_register == register_of(name, name_length);
}

static bool is_cfa(const char *word, const struct symbols_rule *rule, uint8_t stub_push_byte)
{
    const size_t name_length = strcspn(word, "+-");

    if (strcmp(word, "exp") == 0)
        return rule->is_cfa_loaded || stub_push_byte != 0;
    return !rule->is_cfa_loaded && stub_push_byte == 0 && is_base(word, name_length, rule) &&
           atoi(word + name_length) == rule->cfa_offset_bytes;
}

/* Is there something in the line of readelf that a rule cannot say? */
static bool is_beyond_rules(const char *cfa, const char *fp, const char *sp,
                            const char *return_address)
{
    if (fp[0] == 'v' || fp[0] == 'r' || return_address[0] == 'v' || return_address[0] == 'r')
        return true;
    return strcmp(cfa, "exp") == 0 || strcmp(fp, "exp") == 0 ||
           strcmp(return_address, "exp") == 0 || (sp[0] != '\0' && sp[0] != 'u' && sp[0] != 's');
}

static void compare_row(struct comparison *comparison, uint64_t vaddr, uint64_t next_vaddr,
                        const char *line)
{
    char cfa[64], fp[64] = "", sp[64] = "", kept[64] = "", return_address[64] = "";
    struct symbols_rule rule;
    uint8_t stub_push_byte;

    word_at(line, 1, cfa, sizeof cfa);
    if (comparison->fp_column > 0)
        word_at(line, comparison->fp_column, fp, sizeof fp);
    if (comparison->sp_column > 0)
        word_at(line, comparison->sp_column, sp, sizeof sp);
    if (comparison->kept_column > 0)
        word_at(line, comparison->kept_column, kept, sizeof kept);
    if (comparison->return_column > 0)
        word_at(line, comparison->return_column, return_address, sizeof return_address);
    for (unsigned side = 0; side < 2; side++) {
        const uint64_t at = side == 0 ? vaddr : next_vaddr - 1;
        const enum symbols_rule_kind kind = rule_at(comparison, at, &rule, &stub_push_byte);
        bool is_right;

        if (kind == SYMBOLS_RULE_CANNOT) {
            is_right = comparison->is_foreign || is_beyond_rules(cfa, fp, sp, return_address);
            comparison->cannot++;
        } else if (kind == SYMBOLS_RULE_OUTERMOST) {
            is_right = return_address[0] == 'u';
        } else {
            is_right = kind == SYMBOLS_RULE_PLAIN && is_cfa(cfa, &rule, stub_push_byte) &&
                       is_saved_as(fp, rule.fp_place, rule.fp_offset_bytes) &&
                       is_kept_as(kept, &rule) &&
                       is_saved_as(return_address, rule.return_place, rule.return_offset_bytes);
        }
        comparison->compared++;
        if (!is_right && comparison->wrong++ == 0)
            snprintf(comparison->message, sizeof comparison->message,
                     "at %llx: kind %d, cfa %s%d+%d, fp %d+%d, return %d+%d; readelf: %.200s",
                     (unsigned long long)at, (int)kind, rule.is_cfa_loaded ? "*" : "",
                     rule.cfa_base, rule.cfa_offset_bytes, rule.fp_place, rule.fp_offset_bytes,
                     rule.return_place, rule.return_offset_bytes, line);
    }
}

static void finish_row(struct comparison *comparison, uint64_t next_vaddr)
{
    if (comparison->is_function && comparison->last_line[0] != '\0' &&
        next_vaddr > comparison->last_vaddr)
        compare_row(comparison, comparison->last_vaddr, next_vaddr, comparison->last_line);
    comparison->last_line[0] = '\0';
}

static void read_columns(struct comparison *comparison, const char *line)
{
    char word[64];

    comparison->fp_column = comparison->return_column = comparison->kept_column =
        comparison->sp_column = 0;
    for (int i = 0; word_at(line, i, word, sizeof word), word[0] != '\0'; i++) {
        if (strcmp(word, "rbp") == 0 || strcmp(word, "x29") == 0)
            comparison->fp_column = i;
        if (strcmp(word, "rsp") == 0 || strcmp(word, "sp") == 0)
            comparison->sp_column = i;
        if (strcmp(word, "rbx") == 0)
            comparison->kept_column = i;
        if (strcmp(word, "ra") == 0)
            comparison->return_column = i;
    }
}

static void take_line(struct comparison *comparison, const char *line)
{
    const char *range = strstr(line, " pc=");
    unsigned long long start_vaddr, end_vaddr, vaddr;
    char *end;

    if (strstr(line, " FDE ") != NULL && range != NULL &&
        sscanf(range, " pc=%llx..%llx", &start_vaddr, &end_vaddr) == 2) {
        finish_row(comparison, comparison->end_vaddr);
        comparison->is_function =
            start_vaddr >= comparison->file.text_vaddr && end_vaddr > start_vaddr;
        comparison->end_vaddr = end_vaddr;
        comparison->is_foreign =
            comparison->foreign_cie[0] != '\0' && strstr(line, comparison->foreign_cie) != NULL;
    } else if (strstr(line, " CIE ") != NULL) {
        finish_row(comparison, comparison->end_vaddr);
        comparison->is_function = false;
        if (strstr(line, " ra=16") == NULL && strstr(line, " ra=30") == NULL)
            snprintf(comparison->foreign_cie, sizeof comparison->foreign_cie, " cie=%.8s", line);
    } else if (strncmp(line, "   LOC", 6) == 0) {
        read_columns(comparison, line);
    } else if (comparison->is_function) {
        vaddr = strtoull(line, &end, 16);
        if (end < line + 16 || *end != ' ')
            return;
        finish_row(comparison, vaddr < comparison->end_vaddr ? vaddr : comparison->end_vaddr);
        comparison->last_vaddr = vaddr;
        if (vaddr < comparison->end_vaddr)
            snprintf(comparison->last_line, sizeof comparison->last_line, "%.500s", line);
    }
}

/* Compares all rows of a file at both of their ends. */
static void compare(const char *path, unsigned rows_min)
{
    struct comparison comparison = {0};
    struct jw_error err = {0};
    char line[4096];

    cr_assert(elf_file_open(&comparison.file, path), "%s", path);
    comparison.rows = symbols_rows_build(&comparison.file.elf, comparison.file.text_vaddr,
                                         comparison.file.text_bytes, &err);
    cr_assert(comparison.rows != NULL, "%s: %s", path, err.message);
    cr_assert_eq(comparison.rows->frames_refused, 0, "%s: %u refused", path,
                 comparison.rows->frames_refused);

    snprintf(line, sizeof line, "LC_ALL=C readelf --debug-dump=frames-interp '%s' 2>/dev/null",
             path);
    FILE *readelf = popen(line, "re");
    cr_assert(readelf != NULL);
    while (fgets(line, sizeof line, readelf) != NULL)
        take_line(&comparison, line);
    finish_row(&comparison, comparison.end_vaddr);
    /* It ends with 1 where a separate debug file is named and missing. */
    (void)pclose(readelf);

    cr_assert_eq(comparison.wrong, 0, "%s: %u of %u differ; the first %s", path, comparison.wrong,
                 comparison.compared, comparison.message);
    cr_assert_gt(comparison.compared, rows_min, "%s: only %u compared", path, comparison.compared);
    cr_assert_lt(comparison.cannot, comparison.compared / 100, "%s: %u of %u beyond rules", path,
                 comparison.cannot, comparison.compared);
    symbols_rows_free(comparison.rows);
    close(comparison.file.fd);
}

Test(symbols_frames, rows_of_the_c_library_are_those_that_readelf_shows)
{
    char path[4096];

    cr_assert(mapped_path("libc.so", path, sizeof path) || mapped_path("libc-", path, sizeof path));
    compare(path, 10000);
}

Test(symbols_frames, rows_of_an_aarch64_c_library_are_those_that_readelf_shows)
{
    static const char path[] = "/usr/aarch64-linux-gnu/lib/libc.so.6";

    if (access(path, R_OK) != 0)
        cr_skip("not run: no %s (package libc6-arm64-cross)", path);
    compare(path, 10000);
}

Test(symbols_frames, rows_of_libjvm_are_those_that_readelf_shows)
{
    FILE *jdks = popen("tools/jdks-list", "re");
    char line[4096], path[4096 + 64];
    unsigned tried = 0;

    while (jdks != NULL && fgets(line, sizeof line, jdks) != NULL) {
        char *home = strchr(line, ' ');

        if (home == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(path, sizeof path, "%s/lib/server/libjvm.so", home + 1);
        if (access(path, R_OK) != 0)
            continue;
        compare(path, 100000);
        tried++;
    }
    if (jdks != NULL)
        pclose(jdks);
    if (tried == 0)
        cr_skip("not run: no JDK found by tools/jdks-list");
}

/* The header that the run-time unwinder uses leads to the same rows as the section's name. */
Test(symbols_frames, rows_are_the_same_without_section_headers)
{
    struct elf_file file;
    char path[4096];

    cr_assert(mapped_path("libc.so", path, sizeof path) || mapped_path("libc-", path, sizeof path));
    cr_assert(elf_file_open(&file, path));
    struct symbols_rows *with =
        symbols_rows_build(&file.elf, file.text_vaddr, file.text_bytes, NULL);
    file.elf.section_count = 0;
    struct symbols_rows *without =
        symbols_rows_build(&file.elf, file.text_vaddr, file.text_bytes, NULL);

    cr_assert(with != NULL && without != NULL);
    cr_assert_eq(with->row_count, without->row_count);
    cr_assert_eq(with->function_count, without->function_count);
    cr_assert_arr_eq(with->functions, without->functions,
                     with->function_count * sizeof with->functions[0]);
    cr_assert_arr_eq(with->cells, without->cells,
                     (with->function_count + with->row_count) * sizeof with->cells[0]);
    symbols_rows_free(with);
    symbols_rows_free(without);
    close(file.fd);
}
