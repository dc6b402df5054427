/*
 * classfile - class files: read, and written with code of ours in their methods.
 *
 * For      probes and rules, which must know what is in a class and put calls into it.
 * Callers  rules, probe, cli.
 * Context  all functions: hook, tool. Nothing blocks, logs or allocates: memory is the caller's, in one piece.
 * Memory   struct classfile points into the bytes that were read, and into the caller's piece of memory. Both stay as
 *          they are for as long as it is used. The work is bounded by the length of the file.
 *
 * Any bytes may be given. What is no class file, or not understood whole, has a verdict and is to be left alone; what is
 * read was checked as far as this room relies on it, which is less than the JVM's verifier asks.
 * Source: The Java Virtual Machine Specification, chapter 4. tests/classfile reads and writes every class of the JDKs.
 */
#ifndef JW_CLASSFILE_CLASSFILE_H
#define JW_CLASSFILE_CLASSFILE_H

#include "base/jw.h"

enum classfile_verdict {
#define CLASSFILE_VERDICT(name, word, text) CLASSFILE_##name,
#include "classfile/classfile_verdicts.def"
#undef CLASSFILE_VERDICT
    CLASSFILE_VERDICT_LIMIT,
};

const char *classfile_verdict_word(enum classfile_verdict verdict);
const char *classfile_verdict_text(enum classfile_verdict verdict);

/* A piece of memory that is given out from its beginning; the caller clears it by used_bytes = 0. */
struct classfile_memory {
    unsigned char *bytes; /* aligned as jw_alloc aligns */
    size_t capacity_bytes;
    size_t used_bytes;
};

/* Enough for a class of that length, whatever is in it, and to write it again with twice as much code. */
size_t classfile_memory_bytes(size_t length_bytes);
/* How much of that is touched at the most: parts of it are as large as the largest of all methods could want. */
size_t classfile_touched_bytes(size_t length_bytes);

/* Not zeroed; NULL: it is used up. */
void *classfile_memory_take(struct classfile_memory *memory, size_t size_bytes);

/* Kinds of constants. Source: chapter 4.4, table 4.4-A. */
enum classfile_tag {
    CLASSFILE_TAG_NONE = 0, /* index 0, and the second half of a long or double */
    CLASSFILE_TAG_UTF8 = 1,
    CLASSFILE_TAG_INTEGER = 3,
    CLASSFILE_TAG_FLOAT = 4,
    CLASSFILE_TAG_LONG = 5,
    CLASSFILE_TAG_DOUBLE = 6,
    CLASSFILE_TAG_CLASS = 7,
    CLASSFILE_TAG_STRING = 8,
    CLASSFILE_TAG_FIELD = 9,
    CLASSFILE_TAG_METHOD = 10,
    CLASSFILE_TAG_INTERFACE_METHOD = 11,
    CLASSFILE_TAG_NAME_AND_TYPE = 12,
    CLASSFILE_TAG_METHOD_HANDLE = 15,
    CLASSFILE_TAG_METHOD_TYPE = 16,
    CLASSFILE_TAG_DYNAMIC = 17,
    CLASSFILE_TAG_INVOKE_DYNAMIC = 18,
    CLASSFILE_TAG_MODULE = 19,
    CLASSFILE_TAG_PACKAGE = 20,
};

/* Flags of classes, fields and methods. Source: chapters 4.1, 4.5, 4.6. */
enum classfile_access {
    CLASSFILE_PUBLIC = 0x0001,
    CLASSFILE_PRIVATE = 0x0002,
    CLASSFILE_PROTECTED = 0x0004,
    CLASSFILE_STATIC = 0x0008,
    CLASSFILE_FINAL = 0x0010,
    CLASSFILE_SYNCHRONIZED = 0x0020,
    CLASSFILE_BRIDGE = 0x0040,
    CLASSFILE_VARARGS = 0x0080,
    CLASSFILE_NATIVE = 0x0100,
    CLASSFILE_INTERFACE = 0x0200,
    CLASSFILE_ABSTRACT = 0x0400,
    CLASSFILE_STRICT = 0x0800,
    CLASSFILE_SYNTHETIC = 0x1000,
    CLASSFILE_ANNOTATION = 0x2000,
    CLASSFILE_ENUM = 0x4000,
    CLASSFILE_MODULE = 0x8000,
};

/* Modified UTF-8 of the class file, not terminated. */
struct classfile_text {
    const char *bytes;
    uint32_t length_bytes;
};

/* A list of attributes: u2 count, and then u2 name, u4 length and the body of each. */
struct classfile_attributes {
    uint32_t offset_bytes; /* of the count */
    uint16_t count;
};

struct classfile_member {
    uint32_t offset_bytes; /* of its first byte, the flags */
    uint32_t end_bytes;
    uint16_t access;
    uint16_t name_index;
    uint16_t descriptor_index;
    struct classfile_attributes attributes;
    uint32_t code_offset_bytes; /* body of its Code attribute; 0: none */
    uint32_t code_bytes;        /* length of that body */
};

struct classfile {
    const uint8_t *bytes;
    uint32_t length_bytes;
    uint16_t minor;
    uint16_t major;
    uint16_t access;
    uint16_t this_index;
    uint16_t super_index; /* 0: java.lang.Object, or a module */
    uint16_t constant_count;
    const uint32_t *constant_offsets; /* by index: where its tag stands; 0: none there */
    uint32_t constants_end_bytes;
    uint16_t interface_count;
    uint32_t interfaces_offset_bytes;
    uint16_t field_count;
    const struct classfile_member *fields;
    uint16_t method_count;
    const struct classfile_member *methods;
    uint32_t methods_end_bytes; /* the attributes of the class */
    struct classfile_attributes attributes;
};

/* Reads what lies in `bytes`. Other than CLASSFILE_OK: `file` means nothing. */
JW_MUST_CHECK enum classfile_verdict classfile_read(const uint8_t *bytes, size_t length_bytes,
                                                    struct classfile_memory *memory,
                                                    struct classfile *file);

/* CLASSFILE_TAG_NONE for an index that has none. */
enum classfile_tag classfile_tag_of(const struct classfile *file, uint16_t index);

/* Text of a Utf8 constant; or of the name of a Class, Module, Package or String; "" of others. */
struct classfile_text classfile_text_of(const struct classfile *file, uint16_t index);

struct classfile_text classfile_name(const struct classfile *file); /* "java/lang/Thread" */
struct classfile_text classfile_super(const struct classfile *file);
struct classfile_text classfile_interface(const struct classfile *file, uint16_t number);

bool classfile_is_text(struct classfile_text text, const char *word);

/* The parts of a Field, Method, InterfaceMethod (owner, name and descriptor), or of a Dynamic one (no owner). */
struct classfile_reference {
    struct classfile_text owner;
    struct classfile_text name;
    struct classfile_text descriptor;
};
struct classfile_reference classfile_reference_of(const struct classfile *file, uint16_t index);

struct classfile_attribute {
    struct classfile_text name;
    uint32_t offset_bytes; /* of its body */
    uint32_t length_bytes;
};

/* One after the other; `at` begins as {0}. */
struct classfile_cursor {
    uint32_t offset_bytes;
    uint32_t left;
    bool has_begun;
};
bool classfile_next_attribute(const struct classfile *file, struct classfile_attributes attributes,
                              struct classfile_cursor *at, struct classfile_attribute *out);
bool classfile_find_attribute(const struct classfile *file, struct classfile_attributes attributes,
                              const char *name, struct classfile_attribute *out);

/* An annotation, visible at run time or not. */
struct classfile_annotation {
    struct classfile_text type; /* "com/acme/Timed"; "": its type is no class */
    uint32_t offset_bytes;      /* of its elements */
    uint32_t end_bytes;         /* of the attribute that it stands in */
};

/* One after the other; `at` begins as {0}. */
struct classfile_annotation_cursor {
    struct classfile_cursor attributes;
    uint32_t at_bytes;
    uint32_t end_bytes;
    uint16_t left;   /* in the attribute that is read */
    bool is_damaged; /* there is one that cannot be read, and none behind it was */
};

/* Annotations of a class, field or method ... */
bool classfile_next_annotation(const struct classfile *file, struct classfile_attributes attributes,
                               struct classfile_annotation_cursor *at,
                               struct classfile_annotation *out);
/* ... and of a parameter of a method: its number in the descriptor, from 0 on. Where the compiler adds parameters to those of the
 * source (constructors of inner classes and enums), numbers may be those of the source. */
bool classfile_next_parameter_annotation(const struct classfile *file,
                                         struct classfile_attributes attributes, uint16_t parameter,
                                         struct classfile_annotation_cursor *at,
                                         struct classfile_annotation *out);

/* What an element of an annotation is given as. */
struct classfile_value {
    char
        kind; /* of BCDFIJSZ a constant, s: a text, e: of an enum, c: a class, @: an annotation, [: values */
    struct classfile_text text; /* s: itself; e: the constant's name; c: a descriptor; else "" */
    int64_t number;             /* BCIJSZ; else 0 */
    uint32_t offset_bytes;      /* [ and @: of what it holds ... */
    uint32_t end_bytes;
    uint16_t left; /* ... and [: values that are to come */
};

/* The element of that name; false: it is not given (its default is not in this class), or cannot be read. */
bool classfile_value_of(const struct classfile *file, const struct classfile_annotation *annotation,
                        const char *name, struct classfile_value *out);
/* One value of those in `array` after the other, which this changes. */
bool classfile_next_value(const struct classfile *file, struct classfile_value *array,
                          struct classfile_value *out);

/* Whether `is_it` says so of the type of an annotation that stands there. What cannot be read has none. */
bool classfile_has_annotation(const struct classfile *file, struct classfile_attributes attributes,
                              bool (*is_it)(void *context, struct classfile_text name),
                              void *context);

/* The instructions alone; false: the method has none, or they do not fit their attribute. */
struct classfile_code {
    const uint8_t *bytes;
    uint32_t length_bytes;
    uint16_t stack_count; /* max_stack */
    uint16_t local_count; /* max_locals */
};
bool classfile_code_of(const struct classfile *file, const struct classfile_member *method,
                       struct classfile_code *out);

/* Instructions one after the other: `next_pc` begins as 0. False: the code ends, or there is none. */
bool classfile_next_instruction(const struct classfile_code *code, uint32_t *pc, uint32_t *next_pc);

/* The lowest place in a method's code at which its tables say that the line of the source begins; false: none. */
bool classfile_line_begins(const struct classfile *file, const struct classfile_member *method,
                           uint16_t line, uint32_t *pc);
/* The line that a place in a method's code is of; 0: not told. */
uint16_t classfile_line_of(const struct classfile *file, const struct classfile_member *method,
                           uint32_t pc);

/* Words of the stack that a descriptor's parameters take, without `this`; its value, 0 to 2. False: it is none. */
bool classfile_descriptor_words(struct classfile_text descriptor, uint32_t *parameter_words,
                                uint32_t *value_words);

/*
 * The type of a descriptor that begins at `at`, one after the other: "I", "[Ljava/lang/String;". False: there is none, as at the
 * parenthesis behind the parameters.
 */
bool classfile_next_type(struct classfile_text descriptor, uint32_t *at,
                         struct classfile_text *out);

#endif
