/*
 * Any bytes as a recording that somebody gives to the command: convert, endpoints, doctor and summary end, and what they write holds nothing
 * that a terminal obeys, and no markup of the recording's. The last byte chooses what is made of it. The seeds are
 * those of fuzz/jfr_reader.c.
 */
/* s17, s18: nothing that a recording says reaches the terminal or the page as more than text. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tests/support/lines_check.h"
#include "base/utf8.h"
#include "cli/cli.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char in[64];
static int in_fd = -1, out_fd;
static FILE *complaints;

static void begin(void)
{
    in_fd = memfd_create("recording", 0);
    out_fd = memfd_create("output", 0);
    const int err_fd = memfd_create("complaints", 0);
    snprintf(in, sizeof in, "/proc/self/fd/%d", in_fd);
    if (in_fd < 0 || dup2(out_fd, STDOUT_FILENO) < 0)
        abort();
    complaints = fdopen(err_fd, "w+");
    stderr = complaints;
}

/* What was written since the last time, which is taken away. */
static char *taken(int fd)
{
    const off_t length = lseek(fd, 0, SEEK_END);
    char *text = malloc((size_t)length + 1);

    if (text == NULL || pread(fd, text, (size_t)length, 0) != length)
        abort();
    text[length] = '\0';
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0 || strlen(text) != (size_t)length)
        abort();
    return text;
}

static void check_text(const char *text)
{
    for (size_t left_bytes = strlen(text); left_bytes > 0;) {
        const size_t length_bytes = jw_utf8_length(text, left_bytes);
        const unsigned char byte = (unsigned char)*text;
        const bool is_row_end = byte == '\r' && text[1] == '\n'; /* of csv */

        if (length_bytes == 0 || byte == 0x7f ||
            (byte < 0x20 && byte != '\n' && byte != '\t' && !is_row_end) ||
            (length_bytes == 2 && byte == 0xc2 && (unsigned char)text[1] < 0xa0))
            abort();
        text += length_bytes;
        left_bytes -= length_bytes;
    }
}

/* Each page has the elements of its template, and no others. */
static void check_page(const char *page)
{
    static unsigned usual[3];
    static const char *const marks[] = {"</script", "<script", "<!--"};

    for (size_t i = 0; i < JW_COUNT_OF(marks) && page[0] != '\0'; i++) {
        unsigned count = 0;

        for (const char *at = page; (at = strcasestr(at, marks[i])) != NULL; at++)
            count++;
        if (usual[i] == 0)
            usual[i] = count + 1;
        if (usual[i] != count + 1)
            abort();
    }
}

/* A program can read each line, the last one too: where an event is damaged, none of it is written. */
static void check_lines(const char *format, const char *text)
{
    if ((strcmp(format, "jsonl") == 0 && json_lines(text) < 0) ||
        (strcmp(format, "csv") == 0 && csv_rows(text) < 0))
        abort();
}

/* One thread gives the same, and complains of the same. */
static void check_one_thread(int count, char **arguments, const char *text, const char *said)
{
    static char one[] = "1";

    arguments[5] = one;
    (void)cli_main(count, arguments);
    fflush(stdout);
    fflush(complaints);

    char *text_of_one = taken(STDOUT_FILENO);
    char *said_of_one = taken(fileno(complaints));
    if (strcmp(text_of_one, text) != 0 || strcmp(said_of_one, said) != 0)
        abort();
    free(text_of_one);
    free(said_of_one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char kinds[][5][20] = {
        {"convert", "-o", "text"},
        {"convert", "-o", "collapsed"},
        {"convert", "-t", "-o", "text"},
        {"convert", "-o", "html"},
        {"endpoints", "-o", "text"},
        {"endpoints", "-o", "json"},
        {"endpoints", "--by", "thread"},
        {"endpoints", "-o", "csv"},
        {"doctor"},
        {"doctor", "--json"},
        {"summary"},
        {"summary", "--json"},
        {"convert", "-o", "jsonl"},
        {"convert", "-o", "csv"},
        {"convert", "-o", "csv", "-e", "cpu"},
        {"convert", "-o", "jsonl", "--exclude", "*run*"},
        {"convert", "-o", "text", "--jobs", "3"},
        {"convert", "-o", "collapsed", "--jobs", "2"},
        {"convert", "-o", "explorer", "--jobs", "3"},
    };

    if (in_fd < 0)
        begin();
    if (size == 0 || ftruncate(in_fd, 0) != 0 || pwrite(in_fd, data, size, 0) != (ssize_t)size)
        return 0;

    static char self[] = "jaywalk", output[] = "-";
    char *arguments[12] = {self};
    const size_t kind = data[size - 1] % JW_COUNT_OF(kinds);
    int count = 1;

    for (size_t i = 0; i < 5 && kinds[kind][i][0] != '\0'; i++)
        arguments[count++] = kinds[kind][i];
    arguments[count++] = in;
    if (kinds[kind][0][0] == 'c')
        arguments[count++] = output;
    (void)cli_main(count, arguments);
    fflush(stdout);
    fflush(complaints);

    char *text = taken(STDOUT_FILENO);
    char *said = taken(fileno(complaints));
    if (strcmp(kinds[kind][3], "--jobs") == 0)
        check_one_thread(count, arguments, text, said);
    if (kind == 3)
        check_page(text);
    if (kinds[kind][0][0] == 'c')
        check_lines(kinds[kind][2], text);
    check_text(text);
    check_text(said);
    free(text);
    free(said);
    return 0;
}
