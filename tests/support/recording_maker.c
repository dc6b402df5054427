/* Flight recordings for tests. Source of the layout: OpenJDK 17 and 25, jdk.jfr. */
#include "support/recording_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 68
#define MAX_ROWS     256
#define MAX_TEXTS    512

void maker_close(struct maker *maker)
{
    free(maker->bytes);
    *maker = (struct maker){0};
}

void maker_raw(struct maker *maker, const void *bytes, size_t count)
{
    if (maker->used_bytes + count > maker->capacity_bytes) {
        maker->capacity_bytes = (maker->used_bytes + count) * 2;
        maker->bytes = realloc(maker->bytes, maker->capacity_bytes);
        if (maker->bytes == NULL)
            abort();
    }
    if (count > 0)
        memcpy(maker->bytes + maker->used_bytes, bytes, count);
    maker->used_bytes += count;
}

void maker_byte(struct maker *maker, unsigned byte)
{
    const unsigned char one = (unsigned char)byte;

    maker_raw(maker, &one, 1);
}

void maker_varint(struct maker *maker, uint64_t value)
{
    for (int i = 0; i < 8 && value > 0x7f; i++, value >>= 7)
        maker_byte(maker, 0x80 | (value & 0x7f));
    maker_byte(maker, value & 0xff);
}

void maker_text(struct maker *maker, const char *text)
{
    if (text == NULL) {
        maker_byte(maker, 0);
        return;
    }
    maker_byte(maker, 3);
    maker_varint(maker, strlen(text));
    maker_raw(maker, text, strlen(text));
}

void maker_varints(struct maker *maker, size_t count, const uint64_t *values)
{
    for (size_t i = 0; i < count; i++)
        maker_varint(maker, values[i]);
}

static void put_big_endian(unsigned char *at, uint64_t value)
{
    for (int i = 7; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)value;
}

void maker_begin_chunk(struct maker *maker)
{
    static const unsigned char header[HEADER_BYTES] = {'F', 'L', 'R', 0, 0, 2, 0, 1, [67] = 1};

    maker->chunk_begin = maker->used_bytes;
    maker->checkpoint = maker->metadata = 0;
    maker_raw(maker, header, sizeof header);
}

void maker_end_chunk(struct maker *maker, uint64_t start_ns)
{
    unsigned char *header = maker->bytes + maker->chunk_begin;

    put_big_endian(header + 8, maker->used_bytes - maker->chunk_begin);
    put_big_endian(header + 16, maker->checkpoint);
    put_big_endian(header + 24, maker->metadata);
    put_big_endian(header + 32, start_ns);
    put_big_endian(header + 40, 1000000000);
    put_big_endian(header + 48, 0);
    put_big_endian(header + 56, 1000000000);
}

size_t maker_begin_event(struct maker *maker, uint64_t type)
{
    const size_t begin = maker->used_bytes;

    maker_raw(maker, "\0\0\0\0", 4);
    maker_varint(maker, type);
    return begin;
}

void maker_end_event(struct maker *maker, size_t begin)
{
    size_t size = maker->used_bytes - begin;

    for (int i = 0; i < 4; i++, size >>= 7)
        maker->bytes[begin + (size_t)i] = (unsigned char)((size & 0x7f) | (i < 3 ? 0x80 : 0));
}

/* Metadata ------------------------------------------------------------------------------------- */

struct texts {
    const char *at[MAX_TEXTS];
    size_t lengths[MAX_TEXTS];
    size_t count;
};

static size_t text_index(struct texts *texts, const char *text, size_t length)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (texts->lengths[i] == length && memcmp(texts->at[i], text, length) == 0)
            return i;
    }
    texts->at[texts->count] = text;
    texts->lengths[texts->count] = length;
    return texts->count++;
}

static size_t row_level(const char *row)
{
    return strspn(row, " ") / 2;
}

/* One element with its attributes, and the number of its children. */
static void put_row(struct maker *tree, struct texts *texts, const char *const *rows, size_t row)
{
    const char *at = rows[row] + strspn(rows[row], " ");
    const size_t level = row_level(rows[row]);
    size_t attributes = 0;
    size_t children = 0;

    maker_varint(tree, text_index(texts, at, strcspn(at, " ")));
    at += strcspn(at, " ");
    for (const char *from = at; (from = strchr(from, '=')) != NULL; from++)
        attributes++;
    maker_varint(tree, attributes);
    while (*at == ' ') {
        const char *equals = strchr(++at, '=');

        maker_varint(tree, text_index(texts, at, (size_t)(equals - at)));
        at = equals + 1;
        maker_varint(tree, text_index(texts, at, strcspn(at, " ")));
        at += strcspn(at, " ");
    }
    for (size_t i = row + 1; rows[i] != NULL && row_level(rows[i]) > level; i++)
        children += row_level(rows[i]) == level + 1;
    maker_varint(tree, children);
}

void maker_metadata_from(struct maker *maker, const char *const *rows)
{
    struct maker tree = {0};
    struct texts texts = {.count = 0};

    for (size_t i = 0; rows[i] != NULL; i++)
        put_row(&tree, &texts, rows, i);
    maker->metadata = maker->used_bytes - maker->chunk_begin;
    const size_t begin = maker_begin_event(maker, 0);
    maker_varint(maker, 1); /* start */
    maker_varint(maker, 0); /* duration */
    maker_varint(maker, 1); /* metadata id */
    maker_varint(maker, texts.count);
    for (size_t i = 0; i < texts.count; i++) {
        maker_byte(maker, 3);
        maker_varint(maker, texts.lengths[i]);
        maker_raw(maker, texts.at[i], texts.lengths[i]);
    }
    maker_raw(maker, tree.bytes, tree.used_bytes);
    maker_end_event(maker, begin);
    maker_close(&tree);
}

static const char *const usual_rows[] = {
    "root",
    "  metadata",
    "    class name=long id=10",
    "    class name=int id=11",
    "    class name=java.lang.String id=12",
    "    class name=boolean id=13",
    "    class name=float id=14",
    "    class name=double id=15",
    "    class name=byte id=16",
    "    class name=short id=17",
    "    class name=char id=18",
    "    class name=java.lang.Thread id=20",
    "      field name=osName class=12",
    "      field name=osThreadId class=10",
    "      field name=javaName class=12",
    "      field name=javaThreadId class=10",
    "    class name=jdk.types.StackTrace id=21",
    "      field name=truncated class=13",
    "      field name=frames class=22 dimension=1",
    "    class name=jdk.types.StackFrame id=22",
    "      field name=method class=24 constantPool=true",
    "      field name=lineNumber class=11",
    "      field name=bytecodeIndex class=11",
    "      field name=type class=23 constantPool=true",
    MAKER_NAME_ROWS,
    "    class name=jdk.types.ThreadState id=27 simpleType=true",
    "      field name=name class=12",
    "    class name=test.Point id=28",
    "      field name=x class=11",
    "      field name=y class=11",
    "    class name=jdk.ExecutionSample id=101 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=sampledThread class=20 constantPool=true",
    "      field name=stackTrace class=21 constantPool=true",
    "      field name=state class=27 constantPool=true",
    "      field name=weight class=10",
    "    class name=test.Any id=102 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=long class=10",
    "      field name=int class=11",
    "      field name=text class=12",
    "      field name=boolean class=13",
    "      field name=float class=14",
    "      field name=double class=15",
    "      field name=byte class=16",
    "      field name=short class=17",
    "      field name=char class=18",
    "      field name=point class=28",
    "      field name=points class=28 dimension=1",
    "      field name=symbols class=26 dimension=1 constantPool=true",
    "      field name=pooledText class=12 constantPool=true",
    "      field name=last class=11",
    "    class name=jaywalk.Diagnostics id=103 superType=jdk.jfr.Event",
    "      field name=startTime class=10",
    "      field name=signals class=10",
    "      field name=samples class=10",
    "      field name=lostNoThread class=10",
    "  region locale=en_US gmtOffset=0",
    NULL,
};

void maker_metadata(struct maker *maker)
{
    maker_metadata_from(maker, usual_rows);
}

/* Pools and events ----------------------------------------------------------------------------- */

size_t maker_begin_checkpoint(struct maker *maker, uint64_t pool_count)
{
    const uint64_t offset = maker->used_bytes - maker->chunk_begin;
    const size_t begin = maker_begin_event(maker, 1);

    maker_varint(maker, 1);
    maker_varint(maker, 0);
    maker_varint(maker, maker->checkpoint == 0 ? 0 : maker->checkpoint - offset);
    maker_byte(maker, 1);
    maker_varint(maker, pool_count);
    maker->checkpoint = offset;
    return begin;
}

void maker_pool(struct maker *maker, uint64_t type, uint64_t entry_count)
{
    maker_varint(maker, type);
    maker_varint(maker, entry_count);
}

void maker_sample(struct maker *maker, uint64_t ticks, uint64_t thread, uint64_t trace,
                  uint64_t state, uint64_t weight_ns)
{
    const size_t begin = maker_begin_event(maker, MAKER_SAMPLE);

    maker_varint(maker, ticks);
    maker_varint(maker, thread);
    maker_varint(maker, trace);
    maker_varint(maker, state);
    maker_varint(maker, weight_ns);
    maker_end_event(maker, begin);
}

void maker_text_pool(struct maker *maker, uint64_t type, size_t count, const char *const *texts)
{
    maker_pool(maker, type, count);
    for (size_t i = 0; i < count; i++) {
        maker_varint(maker, i + 1);
        maker_text(maker, texts[i]);
    }
}

static void put_thread(struct maker *maker, uint64_t key, const char *name)
{
    maker_varint(maker, key);
    maker_text(maker, name);
    maker_varint(maker, 100 + key);
    maker_text(maker, name);
    maker_varint(maker, key);
}

/* Two checkpoints, the earlier with names, the later with what refers to them. */
void maker_usual_pools(struct maker *maker)
{
    static const char *const symbols[] = {
        "com/acme/Main", "main", "com/acme/Work", "run", "libx.so", "Foo::bar", "()V"};
    static const char *const types[] = {"Interpreted", "JIT compiled", "C++"};
    static const char *const states[] = {"STATE_RUNNABLE", "STATE_SLEEPING"};
    size_t begin = maker_begin_checkpoint(maker, 3);

    maker_text_pool(maker, MAKER_SYMBOL, 7, symbols);
    maker_text_pool(maker, MAKER_FRAME_TYPE, 3, types);
    maker_text_pool(maker, MAKER_STATE, 2, states);
    maker_end_event(maker, begin);

    begin = maker_begin_checkpoint(maker, 4);
    maker_pool(maker, MAKER_CLASS, 3);
    MAKER_PUT(maker, 1, 1, 2, 3, 3, 5);
    maker_pool(maker, MAKER_METHOD, 3);
    MAKER_PUT(maker, 1, 1, 2, 7, 2, 2, 4, 7, 3, 3, 6, 7);
    maker_pool(maker, MAKER_THREAD, 2);
    put_thread(maker, 1, "main");
    put_thread(maker, 2, "worker; 2");
    maker_pool(maker, MAKER_TRACE, 3);
    /* key, truncated, frames, then method, line, bci, type of each */
    MAKER_PUT(maker, 1, 0, 2, 2, 12, 3, 2, 1, 7, 0, 1);
    MAKER_PUT(maker, 2, 0, 2, 3, 0, 0, 3, 1, 8, 0, 1);
    MAKER_PUT(maker, 3, 1, 1, 2, 13, 4, 2);
    maker_end_event(maker, begin);
}

void maker_usual_chunk(struct maker *maker, uint64_t start_ns)
{
    const uint64_t weight_ns = 10000000;

    maker_begin_chunk(maker);
    for (uint64_t i = 0; i < 3; i++)
        maker_sample(maker, i, 1, 1, 1, weight_ns);
    maker_usual_pools(maker);
    for (uint64_t i = 0; i < 2; i++)
        maker_sample(maker, 10 + i, 2, 2, 1, weight_ns);
    maker_metadata(maker);
    maker_sample(maker, 20, 1, 3, 2, weight_ns);
    maker_sample(maker, 21, 1, 0, 1, weight_ns);

    const size_t begin = maker_begin_event(maker, MAKER_DIAGNOSTICS);
    MAKER_PUT(maker, 30, 9, 7, 2);
    maker_end_event(maker, begin);
    maker_end_chunk(maker, start_ns);
}

bool maker_save(const struct maker *maker, char path[64])
{
    strcpy(path, "/tmp/jaywalk-test-XXXXXX");

    const int fd = mkstemp(path);
    if (fd < 0)
        return false;
    const bool is_written =
        write(fd, maker->bytes, maker->used_bytes) == (ssize_t)maker->used_bytes;
    close(fd);
    return is_written;
}
