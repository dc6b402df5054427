/*
 * cli_classes_internal - the class files that a command looks at.
 *
 * For      rules dry-run.   Callers  this room.   Context  tool.
 * Memory   the list owns the bytes of its classes, all of them at once; cli_classes_close gives them back.
 *
 * Jars and the like (.jar, .war, .ear, .zip, .jmod), jars in jars, folders, and single class files; or what a JVM has open and
 * names in its class path, which is read from /proc: nothing is asked of the JVM. Of classes with one name the first is taken,
 * as loaders do. What lies below META-INF/versions is passed over and counted.
 */
#ifndef JW_CLI_CLI_CLASSES_INTERNAL_H
#define JW_CLI_CLI_CLASSES_INTERNAL_H

#include "classfile/classfile.h"
#include "cli/cli_internal.h"

struct attach_target;

#define CLI_CLASS_BYTES_MOST ((uint64_t)16 << 20) /* of one class */
#define CLI_JAR_BYTES_MOST                                                                         \
    ((uint64_t)1 << 30) /* of a jar, which is held in memory while it is read */
#define CLI_CLASSES_BYTES_MOST ((uint64_t)2 << 30) /* of all classes */
#define CLI_CLASSES_DEPTH      32 /* folders in folders; jars in jars are entered three deep */

struct cli_class {
    uint8_t *bytes;
    uint32_t length_bytes;
    uint32_t place;
    uint32_t order; /* in which it was met */
    bool
        is_at_home; /* it lies where a class loader looks for it, from its place on; or is a place of its own */
    struct classfile_text name;
};

struct cli_classes {
    struct cli_class *all; /* by name, behind cli_classes_settle */
    size_t count;
    size_t capacity;
    char **places; /* jars, folders and files, as people know them */
    size_t place_count;
    size_t place_capacity;
    uint64_t bytes;
    uint64_t hidden;   /* of a name that was there before */
    uint64_t versions; /* below META-INF/versions */
    uint64_t unread[CLASSFILE_VERDICT_LIMIT];
    uint64_t damaged;  /* entries of jars that could not be unpacked, and jars in jars */
    char example[512]; /* the first that was not read, and why; "": all were */
    unsigned
        dropping_jdk; /* of a process that drops its compiled code at the first attach of a probe; 0: none does */
    struct classfile_memory memory; /* of what is read at the moment */
    struct cli_progress progress;
};

/* What a path holds. False and `err`: it cannot be read, holds no class, or is too much. */
JW_MUST_CHECK bool cli_classes_take(struct cli_classes *classes, const char *path,
                                    struct jw_error *err);
/* What a process has: its jars that are open and those of its class path, but for the JDK's own. */
JW_MUST_CHECK bool cli_classes_take_jvm(struct cli_classes *classes,
                                        const struct attach_target *target, struct jw_error *err);
void cli_classes_settle(struct cli_classes *classes);
/* Behind cli_classes_settle; NULL: not there. */
const struct cli_class *cli_classes_find(const struct cli_classes *classes,
                                         struct classfile_text name);
uint64_t cli_classes_unread(const struct cli_classes *classes); /* classes and jars */
void cli_classes_close(struct cli_classes *classes);            /* zeroed is fine */

/* ---- between its files ---- */

/* The number of a place with that name; false: no memory. */
JW_MUST_CHECK bool cli_classes_place(struct cli_classes *classes, const char *name, uint32_t *place,
                                     struct jw_error *err);
/* One class; the list takes the bytes (jw_alloc'ed), whatever comes of it. */
JW_MUST_CHECK bool cli_classes_add(struct cli_classes *classes, uint8_t *bytes, size_t length_bytes,
                                   const char *name, uint32_t place, struct jw_error *err);
/* Of the path of a libjvm.so leaves that of its JDK, ".../lib/server/libjvm.so", ".../jre/lib/amd64/server/libjvm.so"; "": no such path. */
void cli_classes_home_of(char *path);
/* Of the text of a JDK's file `release`: 8 of "1.8.0_432", 17 of "17.0.15"; 0: it does not tell. */
unsigned cli_classes_jdk_of(const char *release);
/* Whether a word of java's command line has our agent prepared for probes from its start on. */
bool cli_classes_names_probe(const char *word);
/* Something of a jar or folder that cannot be read, which is told and counted. */
void cli_classes_miss(struct cli_classes *classes, const char *name, const char *why);
/* A whole file, jw_alloc'ed and one byte longer; NULL and `why`, also where it has more than `most_bytes`. */
uint8_t *cli_classes_read(const char *path, uint64_t most_bytes, size_t *length_bytes,
                          const char **why);
/* Up to so many bytes of what can be read there (a pipe, /proc), "-": the standard input. More is left unread. */
JW_MUST_CHECK bool cli_read_text(const char *path, char *text, size_t most_bytes,
                                 size_t *length_bytes, struct jw_error *err);
/* Names in a folder, in their order, without those that begin with a dot. */
struct cli_classes_names {
    char **all;
    size_t count;
    size_t capacity;
};
JW_MUST_CHECK bool cli_classes_list(const char *path, struct cli_classes_names *names,
                                    struct jw_error *err);
void cli_classes_names_close(struct cli_classes_names *names);
bool cli_classes_is_jar(const char *name);
bool cli_classes_has_end(const char *name, const char *end);
/* A file of the machine, `shown` to people as that; false and `err`: no jar, or too much. */
JW_MUST_CHECK bool cli_classes_take_jar(struct cli_classes *classes, const char *path,
                                        const char *shown, struct jw_error *err);
/* `has_jars`: jars in it, too; a class path means its class files alone. */
JW_MUST_CHECK bool cli_classes_take_folder(struct cli_classes *classes, const char *path,
                                           const char *shown, bool has_jars, struct jw_error *err);

#endif
