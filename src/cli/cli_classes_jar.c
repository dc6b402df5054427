/*
 * Jars, by minizip where it is linked in (ADR 51). Jars in them are unpacked into memory, three deep. What is written in a jar
 * of sizes is not believed: no entry becomes longer than a limit. Context: tool.
 */
#include "cli/cli_classes_internal.h"

#include <string.h>

static bool has_no_library(const char *shown, struct jw_error *err)
{
    jw_error_set(err,
                 "%.200s: this build reads no jars: it was made without minizip; unpack it, and "
                 "name the folder",
                 shown);
    return false;
}

#if __has_include(<minizip/unzip.h>)
#include <minizip/unzip.h>
/* Its functions are weak here: without the library they are not there. */
#pragma weak unzClose
#pragma weak unzCloseCurrentFile
#pragma weak unzGetCurrentFileInfo64
#pragma weak unzGoToFirstFile
#pragma weak unzGoToNextFile
#pragma weak unzOpen2_64
#pragma weak unzOpenCurrentFile
#pragma weak unzReadCurrentFile

#define JARS_DEPTH   3
#define VERSIONS     "META-INF/versions/"
#define ENTRIES_MOST (1u << 20)
#define STEP_BYTES   ((size_t)64 << 10)

/* ---- a file in memory, as minizip wants it ---- */

struct in_memory {
    const uint8_t *bytes;
    uint64_t length_bytes;
    uint64_t at;
};

static voidpf ZCALLBACK open_memory(voidpf opaque, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return opaque;
}

static uLong ZCALLBACK read_memory(voidpf opaque, voidpf stream, void *out, uLong size)
{
    struct in_memory *file = opaque;
    const uint64_t left = file->length_bytes - file->at;
    const uint64_t count = size < left ? size : left;

    (void)stream;
    memcpy(out, file->bytes + file->at, count);
    file->at += count;
    return count;
}

static uLong ZCALLBACK write_memory(voidpf opaque, voidpf stream, const void *from, uLong size)
{
    (void)opaque;
    (void)stream;
    (void)from;
    (void)size;
    return 0;
}

static ZPOS64_T ZCALLBACK tell_memory(voidpf opaque, voidpf stream)
{
    (void)stream;
    return ((const struct in_memory *)opaque)->at;
}

static long ZCALLBACK seek_memory(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin)
{
    struct in_memory *file = opaque;
    const uint64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                          : origin == ZLIB_FILEFUNC_SEEK_CUR ? file->at
                                                             : file->length_bytes;

    (void)stream;
    /* Offsets are added modulo 2^64: those before the end are negative ones. */
    if (from + offset > file->length_bytes)
        return -1;
    file->at = from + offset;
    return 0;
}

static int ZCALLBACK close_memory(voidpf opaque, voidpf stream)
{
    (void)opaque;
    (void)stream;
    return 0;
}

static int ZCALLBACK error_memory(voidpf opaque, voidpf stream)
{
    (void)opaque;
    (void)stream;
    return 0;
}

static unzFile open_memory_jar(struct in_memory *file)
{
    zlib_filefunc64_def functions = {.zopen64_file = open_memory,
                                     .zread_file = read_memory,
                                     .zwrite_file = write_memory,
                                     .ztell64_file = tell_memory,
                                     .zseek64_file = seek_memory,
                                     .zclose_file = close_memory,
                                     .zerror_file = error_memory,
                                     .opaque = file};

    return unzOpen2_64("", &functions);
}

/* ---- entries ---- */

/* What is packed in the entry, at most so long; NULL and `why`. */
static uint8_t *unpack(unzFile jar, uint64_t most_bytes, size_t *length_bytes, const char **why)
{
    size_t capacity = 0, length = 0;
    uint8_t *bytes = NULL;
    int count = unzOpenCurrentFile(jar);

    *why = "is packed in a way that is not known, or encrypted";
    if (count != UNZ_OK)
        return NULL;
    for (;;) {
        if (capacity - length < STEP_BYTES) {
            uint8_t *grown = jw_realloc(bytes, capacity + capacity / 2 + 2 * STEP_BYTES);

            if (grown == NULL) {
                count = UNZ_INTERNALERROR;
                *why = "no memory to unpack it";
                break;
            }
            bytes = grown;
            capacity += capacity / 2 + 2 * STEP_BYTES;
        }
        count = unzReadCurrentFile(jar, bytes + length, (unsigned)STEP_BYTES);
        *why = "is damaged";
        if (count <= 0)
            break;
        length += (size_t)count;
        if (length > most_bytes) {
            *why = "is longer than what is read of one entry";
            count = UNZ_INTERNALERROR;
            break;
        }
    }
    const int closed = unzCloseCurrentFile(jar); /* says whether the checksum is right */
    if (count == 0 && closed == UNZ_OK) {
        *length_bytes = length;
        return bytes;
    }
    jw_free(bytes);
    return NULL;
}

static bool take_entries(struct cli_classes *classes, unzFile jar, const char *shown,
                         unsigned depth, struct jw_error *err);

static bool take_nested(struct cli_classes *classes, const uint8_t *bytes, size_t length_bytes,
                        const char *shown, unsigned depth, struct jw_error *err)
{
    struct in_memory file = {.bytes = bytes, .length_bytes = length_bytes};
    const unzFile jar = open_memory_jar(&file);

    if (jar == NULL) {
        cli_classes_miss(classes, shown, "cannot be read as a jar");
        return true;
    }
    const bool is_good = take_entries(classes, jar, shown, depth + 1, err);
    unzClose(jar);
    return is_good;
}

struct entry {
    char name[1024];
    bool is_class;
    bool is_jar;
};

static bool look_at(struct cli_classes *classes, unzFile jar, const char *shown,
                    struct entry *entry)
{
    unz_file_info64 info;

    *entry = (struct entry){.is_class = false};
    if (unzGetCurrentFileInfo64(jar, &info, entry->name, sizeof entry->name - 1, NULL, 0, NULL,
                                0) != UNZ_OK) {
        cli_classes_miss(classes, shown, "its directory is damaged");
        return false;
    }
    entry->is_class = cli_classes_has_end(entry->name, ".class");
    entry->is_jar = cli_classes_is_jar(entry->name);
    if (entry->is_class && strncmp(entry->name, VERSIONS, sizeof VERSIONS - 1) == 0) {
        classes->versions++;
        entry->is_class = false;
    }
    return true;
}

static bool take_entry(struct cli_classes *classes, unzFile jar, const struct entry *entry,
                       const char *shown, uint32_t place, unsigned depth, struct jw_error *err)
{
    char whole[CLI_PATH_BYTES];
    size_t length_bytes = 0;
    const char *why;
    uint8_t *bytes = unpack(jar, entry->is_class ? CLI_CLASS_BYTES_MOST : CLI_JAR_BYTES_MOST,
                            &length_bytes, &why);

    snprintf(whole, sizeof whole, "%.2000s!/%s", shown, entry->name);
    if (bytes == NULL) {
        cli_classes_miss(classes, whole, why);
        return true;
    }
    if (entry->is_class)
        return cli_classes_add(classes, bytes, length_bytes, whole, place, err);

    const bool is_good = take_nested(classes, bytes, length_bytes, whole, depth, err);
    jw_free(bytes);
    return is_good;
}

static bool take_entries(struct cli_classes *classes, unzFile jar, const char *shown,
                         unsigned depth, struct jw_error *err)
{
    uint32_t place;
    unsigned count = 0;
    bool is_good = cli_classes_place(classes, shown, &place, err);

    for (int next = unzGoToFirstFile(jar); is_good && next == UNZ_OK && count < ENTRIES_MOST;
         next = unzGoToNextFile(jar), count++) {
        struct entry entry;

        if (!look_at(classes, jar, shown, &entry))
            break;
        if (entry.is_class || (entry.is_jar && depth < JARS_DEPTH))
            is_good = take_entry(classes, jar, &entry, shown, place, depth, err);
    }
    return is_good;
}

bool cli_classes_take_jar(struct cli_classes *classes, const char *path, const char *shown,
                          struct jw_error *err)
{
    struct in_memory file = {.at = 0};
    size_t length_bytes;
    const char *why;

    if (unzOpen2_64 == NULL)
        return has_no_library(shown, err);

    uint8_t *bytes = cli_classes_read(path, CLI_JAR_BYTES_MOST, &length_bytes, &why);
    if (bytes == NULL) {
        jw_error_set(err, "%.200s: cannot be read as a jar: %s", shown, why);
        return false;
    }
    file = (struct in_memory){.bytes = bytes, .length_bytes = length_bytes};

    const unzFile jar = open_memory_jar(&file);
    bool is_good = jar != NULL;
    if (jar == NULL)
        jw_error_set(err, "%.200s: cannot be read as a jar: no directory of a zip file is in it",
                     shown);
    else
        is_good = take_entries(classes, jar, shown, 0, err);
    if (jar != NULL)
        unzClose(jar);
    jw_free(bytes);
    return is_good;
}
#else
bool cli_classes_take_jar(struct cli_classes *classes, const char *path, const char *shown,
                          struct jw_error *err)
{
    (void)classes;
    (void)path;
    return has_no_library(shown, err);
}
#endif
