/*
 * Any bytes as a recording that is mended, merged, split, packed and compared: these end, and what they write can be read from
 * its first byte to its last. The seeds are those of fuzz/jfr_reader.c.
 */
/* s18: a recording may be made to harm its reader. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "jfr/jfr_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char in[96], out[96], parts[64];

static void end(void)
{
    char path[160];

    unlink(in);
    unlink(out);
    for (int i = 0; i < 10000; i++) {
        snprintf(path, sizeof path, "%s/part-%03d.jfr", parts, i);
        if (unlink(path) != 0 && i > 1)
            break;
    }
    rmdir(parts);
}

static void begin(void)
{
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    snprintf(parts, sizeof parts, "%s/jaywalk-fuzz-XXXXXX", memory);
    if (mkdtemp(parts) == NULL)
        abort();
    snprintf(in, sizeof in, "%s/in.jfr", parts);
    snprintf(out, sizeof out, "%s/out.jfr", parts);
    atexit(end);
    stderr = fopen("/dev/null", "w"); /* of the command; the fuzzer has kept its own */
    if (stderr == NULL || freopen("/dev/null", "w", stdout) == NULL)
        abort();
}

static void put(const char *path, const uint8_t *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) != 0)
        abort();
}

struct content {
    bool is_whole; /* nothing is damaged or left out */
    uint64_t chunks;
    uint64_t events;
    uint64_t sound_events; /* of chunks that could be read to their end */
};

static struct content look(const char *path)
{
    struct content content = {0};
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct jw_error err = {{0}};
    struct jfr_reader *reader = jfr_reader_open(path, &err);

    while (reader != NULL && jfr_reader_next_chunk(reader, &chunk, &err)) {
        content.chunks++;
        while (jfr_reader_next_event(reader, &event, &err))
            content.events++;
        if (err.message[0] == '\0')
            content.sound_events = content.events;
    }
    content.is_whole =
        reader != NULL && err.message[0] == '\0' && jfr_reader_notice(reader)[0] == '\0';
    jfr_reader_close(reader);
    return content;
}

static int run(char **words)
{
    int count = 0;

    while (words[count] != NULL)
        count++;
    return cli_main(count, words);
}

#define RUN(...) run((char *[]){(char[]){"jaywalk"}, __VA_ARGS__, NULL})

/* What was mended is whole. */
static void check_recovered(void)
{
    const struct content before = look(in);

    if (RUN((char[]){"recover"}, in, out) != 0)
        return;

    const struct content after = look(out);
    if (!after.is_whole || after.events < before.sound_events ||
        (before.is_whole && after.events != before.events))
        abort();
}

/* Whole recordings lose nothing on the way; others may be refused, and are never more than they were. */
static void check_copied(const struct content *after, int status, uint64_t times)
{
    const struct content before = look(in);

    if (before.is_whole && before.chunks > 0 && status != 0)
        abort();
    if (status == 0 && before.is_whole &&
        (!after->is_whole || after->events != times * before.events))
        abort();
}

static void check_split(void)
{
    struct content all = {.is_whole = true};
    char pattern[96];

    snprintf(pattern, sizeof pattern, "%s/part-%%n.jfr", parts);
    const int status = RUN((char[]){"split"}, (char[]){"--size"}, (char[]){"1"}, in, pattern);
    char path[160];

    for (int i = 1;; i++) {
        snprintf(path, sizeof path, "%s/part-%03d.jfr", parts, i);
        if (access(path, F_OK) != 0)
            break;

        const struct content part = look(path);
        all.is_whole &= part.is_whole;
        all.chunks += part.chunks;
        all.events += part.events;
        unlink(path);
    }
    check_copied(&all, status, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool has_begun;
    struct content after;
    int status;

    if (!has_begun)
        begin();
    has_begun = true;
    if (size == 0)
        return 0;
    put(in, data, size);
    unlink(out);
    check_recovered();
    unlink(out);
    status = RUN((char[]){"merge"}, in, in, out);
    after = look(out);
    check_copied(&after, status, 2);
    check_split();
    if (size % 16 == 0) /* it takes its time */
        (void)RUN((char[]){"compare"}, (char[]){"-o"}, (char[]){"markdown"}, in, in);
    return 0;
}
