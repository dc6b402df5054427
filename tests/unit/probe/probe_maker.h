/* Classes of probes, made by hand, for the tests of this room. */
#ifndef JW_TESTS_PROBE_MAKER_H
#define JW_TESTS_PROBE_MAKER_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/probe_handler.h"
#include "support/class_maker.h"

#define OURS(name)     "Lio/jaywalk/probe/" name ";"
#define COUNT_OF(list) (unsigned)(sizeof(list) / sizeof(list)[0])
#define RULE           "include class name=com.acme.Shop method name=add"

typedef struct class_maker_annotation annotation;

/* {type, one element of texts} */
#define RULES(type, element, ...)                                                                  \
    {                                                                                              \
        OURS(type),                                                                                \
        {                                                                                          \
            {                                                                                      \
                element, '[', 0,                                                                   \
                {                                                                                  \
                    __VA_ARGS__                                                                    \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define PLAIN(type)                                                                                \
    {                                                                                              \
        OURS(type),                                                                                \
        {                                                                                          \
            {                                                                                      \
                NULL                                                                               \
            }                                                                                      \
        }                                                                                          \
    }
#define ARGUMENT(number)                                                                           \
    {                                                                                              \
        OURS("Argument"),                                                                          \
        {                                                                                          \
            {                                                                                      \
                "value", 'I', number,                                                              \
                {                                                                                  \
                    NULL                                                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

static struct class_maker maker;

static inline void begin_probe(const annotation *marks, unsigned count)
{
    class_maker_begin(&maker, 52, "com/acme/Slow", "java/lang/Object");
    if (count != 0)
        class_maker_annotate_class(&maker, marks, count);
}

static inline void add_method(uint16_t access, const char *name, const char *descriptor,
                              const annotation *places, unsigned place_count,
                              const annotation *parameters, unsigned parameter_count)
{
    static const uint8_t code[] = {177};

    if (place_count != 0)
        class_maker_annotate_method(&maker, places, place_count);
    if (parameter_count != 0)
        class_maker_annotate_parameters(&maker, parameters, parameter_count);
    class_maker_method(
        &maker, access, name, descriptor,
        &(struct class_maker_code){.locals = 40, .bytes = code, .length = sizeof code});
}

#endif
