/*
 * fake_classes - classes of a fake JVM with methods of their own, which may be redefined and whose address may be given again.
 *
 * Class "x" has methods x0, x1, ... with signature (I)V, the numbers 0, 1, ... and the lines 100 n, 100 n + 1 at bci 0 and 1;
 * each redefinition moves these by 10.
 */
#ifndef JW_TESTS_UNIT_VM_FAKE_CLASSES_H
#define JW_TESTS_UNIT_VM_FAKE_CLASSES_H

#include <stdlib.h>

#include "unit/vm/fake_memory.h"
#include "vm/vm_body.h"

#define CLASS_METHODS_MAX 96
#define FAKE_METHOD_BYTES 256

struct fake_method {
    _Alignas(8) unsigned char method[FAKE_METHOD_BYTES];
    unsigned char const_method[FAKE_METHOD_BYTES];
    unsigned char name[64];
};

struct fake_body { /* of the class: its methods as one redefinition has them */
    unsigned char pool[OBJECT_BYTES + CLASS_METHODS_MAX * sizeof(void *)];
    struct {
        _Alignas(8) int length;
        void *data[CLASS_METHODS_MAX];
    } array;
    struct fake_method methods[CLASS_METHODS_MAX];
};

struct fake_class {
    _Alignas(8) unsigned char klass[OBJECT_BYTES];
    unsigned char name[128], signature[64], source[64];
    char text[64];
    uint32_t count, redefinitions, idnums;
    struct fake_body *body;
    struct fake_body *old_bodies[64];
};

#define FIRST_METHOD_NAME 8 /* in the pool */

/* Where OpenJDK 8 to 28 has the first number: the last two bytes but padding. Any place that tells serves. */
static inline size_t first_number_offset(void)
{
    return size_of("ConstMethod") - 2;
}

static inline void set_number(unsigned char *const_method, uint16_t number)
{
    set(const_method, "ConstMethod", "_method_idnum", number, sizeof number);
}

static inline void fill_class_method(struct fake_class *of, struct fake_body *body, uint32_t n)
{
    struct fake_method *method = &body->methods[n];
    const uint16_t number = (uint16_t)n;
    const uint32_t line = 100 * n + 10 * of->redefinitions;
    /* Steps are in UNSIGNED5, zigzag, with the bias of the JDK: (0, line), (1, line + 1). */
    const unsigned bias = fake_jdk >= LAYOUT_25 ? 1 : 0;
    unsigned char lines[16];
    size_t used = 0;
    uint32_t rest = line << 1;
    char text[80];

    lines[used++] = 0xff;
    lines[used++] = (unsigned char)bias;
    while (rest >= 192 - bias) {
        const uint32_t digit = 192 + ((rest - (192 - bias)) & 63);
        lines[used++] = (unsigned char)digit;
        rest = (rest - (digit - bias)) >> 6;
    }
    lines[used++] = (unsigned char)(rest + bias);
    lines[used++] = 1 << 3 | 1;
    lines[used++] = 0;

    snprintf(text, sizeof text, "%s%u", of->text, n);
    set_symbol(method->name, text);
    memcpy(body->pool + size_of("ConstantPool") + (FIRST_METHOD_NAME + n) * sizeof(void *),
           &(void *){method->name}, sizeof(void *));
    set_pointer(method->method, "Method", "_constMethod", method->const_method);
    set(method->method, "Method", "_access_flags", 0x0009, fake_jdk >= LAYOUT_25 ? 2 : 4);
    set_pointer(method->const_method, "ConstMethod", "_constants", body->pool);
    set(method->const_method, "ConstMethod", "_code_size", 8, 2);
    set(method->const_method, "ConstMethod", "_name_index", FIRST_METHOD_NAME + n, 2);
    set(method->const_method, "ConstMethod", "_signature_index", SIGNATURE_INDEX, 2);
    set_number(method->const_method, number);
    memcpy(method->const_method + first_number_offset(), &number, sizeof number);
    memcpy(method->const_method + size_of("ConstMethod") + 8, lines, used);
    set(method->const_method, "ConstMethod", "_constMethod_size",
        (size_of("ConstMethod") + 8 + used + 15) / sizeof(void *), 4);
    set(method->const_method, "ConstMethod", "_flags", 1, 2);
    set(method->const_method, "ConstMethod", "_flags._flags", 1, 4);
    body->array.data[n] = method->method;
}

/* The class's next code; what it had stays where it is. */
static inline void give_code(struct fake_class *of)
{
    struct fake_body *body = calloc(1, sizeof *body);

    cr_assert(body != NULL);
    set_pointer(body->pool, "ConstantPool", "_pool_holder", of->klass);
    set(body->pool, "ConstantPool", "_length", 200, 4);
    set(body->pool, "ConstantPool", "_source_file_name_index", SOURCE_INDEX, 2);
    memcpy(body->pool + size_of("ConstantPool") + SIGNATURE_INDEX * sizeof(void *),
           &(void *){of->signature}, sizeof(void *));
    memcpy(body->pool + size_of("ConstantPool") + SOURCE_INDEX * sizeof(void *),
           &(void *){of->source}, sizeof(void *));
    body->array.length = (int)of->count;
    for (uint32_t n = 0; n < of->count; n++)
        fill_class_method(of, body, n);
    set_pointer(of->klass, "InstanceKlass", "_methods", &body->array);
    set(of->klass, "InstanceKlass", "_idnum_allocated_count", of->idnums, 2);
    set_pointer(of->klass, "InstanceKlass", "_constants", body->pool);
    of->body = body;
}

/* A class at the address of `of`, which held another one or none. */
static inline void fill_class(struct fake_class *of, const char *name, uint32_t count)
{
    memset(of, 0, sizeof *of);
    snprintf(of->text, sizeof of->text, "%s", name);
    of->count = of->idnums = count;
    set_symbol(of->name, name);
    set_symbol(of->signature, "(I)V");
    set_symbol(of->source, "Fake.java");
    set(of->klass, "InstanceKlass", "_init_state", STATE_INITIALIZED, 1);
    set(of->klass, "InstanceKlass", "_source_file_name_index", SOURCE_INDEX, 2);
    set_pointer(of->klass, "Klass", "_name", of->name);
    set(of->klass, "Klass", "_access_flags", 0x0031, fake_jdk == LAYOUT_25 ? 2 : 4);
    set(of->klass, "InstanceKlass", "_access_flags", 0x0031, 2);
    give_code(of);
}

/* As the JVM does it: new methods with the old numbers; the old ones get numbers of their own beside their first. */
static inline void redefine_class(struct fake_class *of)
{
    struct fake_body *old = of->body;

    cr_assert(of->redefinitions < JW_COUNT_OF(of->old_bodies));
    of->old_bodies[of->redefinitions++] = old;
    for (uint32_t n = 0; n < of->count; n++)
        set_number(old->methods[n].const_method, (uint16_t)of->idnums++);
    give_code(of);
}

static inline vm_addr method_of(const struct fake_class *of, uint32_t n)
{
    return (vm_addr)of->body->methods[n].method;
}

static inline void free_class(struct fake_class *of)
{
    for (uint32_t i = 0; i < of->redefinitions; i++)
        free(of->old_bodies[i]);
    free(of->body);
}

#endif
