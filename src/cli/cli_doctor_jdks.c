/* Figures by JDK, of one recording or of several that are looked at together. Context: tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli_doctor_internal.h"
#include "cli/cli_text_internal.h"

#define JDKS_OTHERS  "[other JDKs]"
#define LABEL_WIDTH  28
#define NUMBER_WIDTH 10
#define SHARE_WIDTH  11

struct cli_doctor_jdk *cli_doctor_jdk_at(struct cli_doctor_jdks *jdks, const char *jvm)
{
    for (size_t i = 0; i < jdks->count; i++) {
        if (strcmp(jdks->rows[i].jvm, jvm) == 0)
            return &jdks->rows[i];
    }
    if (jdks->count == CLI_DOCTOR_JDKS)
        return &jdks->rows[CLI_DOCTOR_JDKS - 1];

    struct cli_doctor_jdk *row = &jdks->rows[jdks->count++];
    cli_doctor_copy(row->jvm, sizeof row->jvm, jdks->count == CLI_DOCTOR_JDKS ? JDKS_OTHERS : jvm);
    return row;
}

void cli_doctor_jdks_add(struct cli_doctor_jdks *to, const struct cli_doctor_jdks *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct cli_doctor_jdk *row = &from->rows[i];
        struct cli_doctor_jdk *sum = cli_doctor_jdk_at(to, row->jvm);

        sum->recordings += row->recordings;
        sum->signals += row->signals;
        sum->samples += row->samples;
        sum->lost += row->lost;
        sum->failed += row->failed;
        sum->stacks += row->stacks;
        sum->gaps += row->gaps;
        sum->truncated += row->truncated;
        sum->frozen += row->frozen;
        sum->compared += row->compared;
        sum->different += row->different;
    }
}

/* "OpenJDK 64-Bit Server VM (25.0.3+9) for ..." is 25.0.3+9; what has no brackets is told whole. */
static void put_name(const char *jvm, FILE *to)
{
    const char *begin = strchr(jvm, '(');
    const size_t length = begin == NULL ? 0 : strcspn(begin + 1, ")");
    char name[160], clean[CLI_CELL_BYTES];

    if (begin != NULL && begin[1 + length] == ')')
        snprintf(name, sizeof name, "%.*s", (int)length, begin + 1);
    else
        cli_doctor_copy(name, sizeof name, jvm[0] == '\0' ? "not recorded" : jvm);
    cli_text_clean(name, clean);
    cli_text_put_cell(clean, LABEL_WIDTH - CLI_GAP, false, to);
}

static void put_share(uint64_t part, uint64_t all, FILE *to)
{
    char share[CLI_SHARE_BYTES];

    cli_text_share(part, all, share);
    fprintf(to, "%*s", SHARE_WIDTH, share + strspn(share, " "));
}

void cli_doctor_jdks_text(const struct cli_doctor_jdks *jdks, FILE *to)
{
    fprintf(to, "\n%-*s%*s%*s%*s%*s%*s%*s\n", LABEL_WIDTH + 2, "By JDK", NUMBER_WIDTH, "stacks",
            SHARE_WIDTH, "lost", SHARE_WIDTH, "no Java", SHARE_WIDTH, "truncated", SHARE_WIDTH,
            "[frozen]", NUMBER_WIDTH, "files");
    for (size_t i = 0; i < jdks->count; i++) {
        const struct cli_doctor_jdk *row = &jdks->rows[i];
        char digits[32];

        fputs("  ", to);
        put_name(row->jvm, to);
        cli_text_digits(row->stacks, digits);
        fprintf(to, "%*s", NUMBER_WIDTH, digits);
        put_share(row->lost, row->signals, to);
        put_share(row->gaps, row->stacks, to);
        put_share(row->truncated, row->stacks, to);
        put_share(row->frozen, row->stacks, to);
        cli_text_digits(row->recordings, digits);
        fprintf(to, "%*s\n", NUMBER_WIDTH, digits);
    }
    fputs("  (lost: of the signals; no Java: the Java part of the stack is missing)\n", to);
}
