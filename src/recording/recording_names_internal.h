/*
 * recording_names - what events name: each thing once a chunk, under a key that is never used again.
 *
 * For      recording.   Callers  recording.   Context  dump.
 * Memory   as the distinct names of the recording and the distinct stacks of a chunk. Stacks are forgotten with
 *          their chunk, and all of it, counted, when half of the memory for names is used (see base/memory.def).
 *
 * A constant is its bytes: whatever encodes alike is one and has one key, in every chunk of the file.
 * It goes into `pools`, from where the next checkpoint takes it, when it is used for the first time in
 * a chunk; what it refers to was put there before. No key ever gets another meaning, also not when a
 * constant was forgotten: jdk.jfr carries what it resolved over from one chunk to the next, and groups
 * by it ("hot-methods" has one row for a method because the method has one key). Key 0 is null.
 */
#ifndef JW_RECORDING_RECORDING_NAMES_INTERNAL_H
#define JW_RECORDING_RECORDING_NAMES_INTERNAL_H

#include "base/frame.h"
#include "base/map.h"
#include "jfr/jfr_writer.h"
#include "recording/recording.h"

#define RECORDING_NAMES_MAX_BYTES ((size_t)64 << 20) /* where nothing is limited */

/* Keys that take one byte, of what stands most often in stacks; the others follow. */
#define RECORDING_SMALL_KEYS ((uint64_t)127)

struct generation;
struct method_record;

struct recording_names {
    struct recording_sources sources;
    struct jfr_pools pools;                  /* not yet in the file */
    struct jw_map constants[JFR_TYPE_LIMIT]; /* bytes -> key and the last chunk that has it */
    uint64_t last_keys[JFR_TYPE_LIMIT];
    enum jfr_type hot_type; /* has such keys: frames, or methods where frames stand in stacks */
    uint64_t small_keys;    /* given so far */
    bool is_hot;            /* one that is new gets such a key */
    uint64_t chunk;
    struct jw_map loaders;                     /* of this chunk: number -> key + 1 */
    struct jw_map packages;                    /* of this chunk: loader, name -> key + 1 */
    struct jw_map threads;                     /* of this take: index, serial -> key + 1 */
    struct jw_map pcs;                         /* of this take: pc -> method key + 1 */
    struct jw_map frames;                      /* of this take: jw_frame -> key + 1 */
    uint64_t unknown_native;                   /* of this take: key of that mark; 0: not asked */
    struct jfr_buffer scratch;                 /* one constant under construction */
    uint64_t frame_types[JW_FRAME_KIND_LIMIT]; /* keys of this chunk */
    uint64_t unkept;                           /* an answer that there is no room to remember */
    bool has_failed;                           /* out of memory: keys given since may be 0 */
};

/* `hot_type`: of whose keys the small ones are kept for recording_name_hot. */
void recording_names_open(struct recording_names *names, enum jfr_type hot_type);
void recording_names_close(struct recording_names *names);

/* From now on each constant must be put anew before it is used. */
void recording_names_new_chunk(struct recording_names *names);

/* Forgets what may have changed meanwhile: names of threads, libraries at a pc. */
void recording_names_new_take(struct recording_names *names);

/* Key of the constant of this type with these fields, a buffer that is emptied. */
uint64_t recording_constant(struct recording_names *names, enum jfr_type type,
                            struct jfr_buffer *fields);

/* The same of a frame, for stacks that have it by its key. */
uint64_t recording_frame_constant(struct recording_names *names, struct jfr_buffer *fields);
/* Where the key of this frame of the take is remembered, + 1; 0: not yet. Good until the next question. */
uint64_t *recording_known_frame(struct recording_names *names, jw_frame frame);

/* Key of a text in a pool of texts; 0: there is none. */
uint64_t recording_text_key(struct recording_names *names, enum jfr_type type,
                            struct recording_text text);
uint64_t recording_symbol(struct recording_names *names, struct recording_text text);
/* Puts the types of frames into a chunk; `is_fixed`: under the keys that readers of async-profiler's recordings know. */
void recording_put_frame_types(struct recording_names *names, bool is_fixed);
uint64_t recording_simple(struct recording_names *names, enum jfr_type type, const char *text);

/* Key of a class by the id of its name in this generation, of which no more is known; 0: none. */
uint64_t recording_class(struct recording_names *names, const struct generation *generation,
                         uint32_t name);

/* The same by its name. */
uint64_t recording_class_of_text(struct recording_names *names, struct recording_text text);

/* And of one that is told with its loader; and of that. 0: not known. */
uint64_t recording_class_of_loader(struct recording_names *names, struct recording_text text,
                                   uint32_t loader);
uint64_t recording_loader_key(struct recording_names *names, uint32_t loader);

/* Keys of methods: of a record of this generation, of native code, of a mark. */
uint64_t recording_java_method(struct recording_names *names, const struct generation *generation,
                               const struct method_record *record);
uint64_t recording_native_method(struct recording_names *names, uintptr_t pc);
uint64_t recording_mark_method(struct recording_names *names, enum jw_mark mark);

/* What is said of a method: class and descriptor are never missing, since viewers take them apart. */
struct recording_method {
    struct recording_text class_name; /* native code: the library */
    struct recording_text name;
    struct recording_text descriptor;
    uint32_t loader;
    uint32_t modifiers;
    uint32_t class_modifiers;
    bool is_hidden;
    bool is_native; /* no method of Java, and no package */
};

uint64_t recording_method_key(struct recording_names *names, const struct recording_method *told);

struct recording_method recording_method_texts(const struct generation *generation,
                                               const struct method_record *record);

/* The class of an object on which a method is being looked up, by the id of its name. */
struct recording_method recording_receiver_method(const struct generation *generation,
                                                  uint32_t name);

/* The address at which a thread was interrupted, as text: "0x7f12a4c0d3e8". */
#define RECORDING_ADDRESS_BYTES 24
struct recording_method recording_address_method(uintptr_t pc, char text[RECORDING_ADDRESS_BYTES]);

/* Function and library at this pc; code without a symbol is named after its library. False: unknown. */
bool recording_native_texts(const struct recording_sources *sources, uintptr_t pc,
                            struct recording_symbol *out);
struct recording_method recording_native_method_of(const struct recording_symbol *told);

/* 0 when the source knows nothing of it. */
uint64_t recording_thread_key(struct recording_names *names, uint32_t index, uint32_t serial);

/* Of one that is told, whether it is still there or not. */
uint64_t recording_told_thread_key(struct recording_names *names,
                                   const struct recording_thread *told);

/* Of a virtual thread; its name may be none. */
uint64_t recording_virtual_thread_key(struct recording_names *names, uint64_t number,
                                      struct recording_text name);

/*
 * Line of a bytecode index by a compressed line table, which ends with a zero byte or at
 * `length_bytes`; -1 when it tells none. `bias`: of the JVM's UNSIGNED5 numbers.
 */
int recording_line_of(const unsigned char *table, size_t length_bytes, unsigned bias, int bci);

/* Line of a Java frame of this generation; -1: not known, or a native method. */
int recording_frame_line(const struct generation *generation, jw_frame frame, unsigned bias);

#endif
