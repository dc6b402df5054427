/*
 * Class files as no compiler makes them, for the tests of rooms classfile, rules and probe.
 *
 * A class grows from class_maker_begin on: constants by name, members one after the other; class_maker_end puts it together.
 * What does not fit in CLASS_MAKER_BYTES ends the test program.
 */
#ifndef JW_SUPPORT_CLASS_MAKER_H
#define JW_SUPPORT_CLASS_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLASS_MAKER_BYTES (512u * 1024)

struct class_maker_bytes {
    uint8_t *bytes;
    size_t length;
};

struct class_maker {
    struct class_maker_bytes constants, fields, methods, attributes, whole;
    uint16_t constant_count, field_count, method_count, attribute_count;
    uint16_t major, access, name, super;
    uint16_t interfaces[8];
    uint16_t interface_count;
    struct class_maker_bytes next_attributes; /* of the method that comes next */
    uint16_t next_attribute_count;
    bool has_visible; /* annotations with elements are visible at run time */
};

/* An element: a number (kind of BCIJSZ), one text (s), or texts in an array ([). */
struct class_maker_element {
    const char *name; /* NULL: it is none */
    char kind;
    int64_t number;
    const char *texts[4];
};

struct class_maker_annotation {
    const char *type; /* "Lcom/acme/Timed;"; NULL: it is none */
    struct class_maker_element elements[4];
};

struct class_maker_code {
    uint16_t stack, locals;
    const uint8_t *bytes;
    uint32_t length;
    const uint16_t (*exceptions)[4]; /* start, end, handler, type */
    uint16_t exception_count;
    const uint16_t (*lines)[2]; /* pc, line */
    uint16_t line_count;
    const uint8_t *frames; /* the entries of a StackMapTable */
    uint32_t frames_length;
    uint16_t frame_count;
    const char *annotation; /* of the method: "Lcom/acme/Timed;", or NULL */
    const char *attribute;  /* of the code: its name; the body is in attribute_bytes */
    const uint8_t *attribute_bytes;
    uint32_t attribute_length;
};

void class_maker_begin(struct class_maker *maker, uint16_t major, const char *name,
                       const char *super);
uint16_t class_maker_text(struct class_maker *maker, const char *text);
uint16_t class_maker_class(struct class_maker *maker, const char *name);
uint16_t class_maker_method_ref(struct class_maker *maker, const char *owner, const char *name,
                                const char *descriptor);
void class_maker_interface(struct class_maker *maker, const char *name);
void class_maker_annotate(struct class_maker *maker, const char *descriptor); /* the class */
/* Of the class, of the method that comes next, and of its parameters, one each (NULL: none). */
void class_maker_annotate_class(struct class_maker *maker, const struct class_maker_annotation *all,
                                unsigned count);
void class_maker_annotate_method(struct class_maker *maker,
                                 const struct class_maker_annotation *all, unsigned count);
void class_maker_annotate_parameters(struct class_maker *maker,
                                     const struct class_maker_annotation *all, unsigned count);
/* `code` NULL: abstract or native. */
void class_maker_method(struct class_maker *maker, uint16_t access, const char *name,
                        const char *descriptor, const struct class_maker_code *code);
/* The class; valid until the next class_maker_begin of this maker, or class_maker_free. */
struct class_maker_bytes class_maker_end(struct class_maker *maker);
void class_maker_free(struct class_maker *maker);

#endif
