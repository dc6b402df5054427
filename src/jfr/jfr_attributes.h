/*
 * jfr_attributes - the attributes of contexts that the events of a chunk have fields for.
 *
 * For      fields that viewers show by the names that the application gave.
 * Callers  recording, jfr (metadata), tests.   Context  dump, tool.
 * Memory   the caller's; all zero is none.
 *
 * The label of such a field is the attribute's name. The name of the field is the same where that is an
 * identifier that no field of an event with a context has; else "attribute" and its number. An event that was declared while the program
 * ran may have a field of that name: there it is "attribute" and the number, or the first of number + JFR_ATTRIBUTES_MAX, + 2 *
 * JFR_ATTRIBUTES_MAX, ... that the event does not have.
 */
#ifndef JW_JFR_JFR_ATTRIBUTES_H
#define JW_JFR_JFR_ATTRIBUTES_H

#include "base/jw.h"

#define JFR_ATTRIBUTES_MAX          16u
#define JFR_ATTRIBUTE_NAME_CAPACITY 65

struct jfr_attribute {
    char name[JFR_ATTRIBUTE_NAME_CAPACITY];
    char field[JFR_ATTRIBUTE_NAME_CAPACITY];
};

/* By number of the attribute. */
struct jfr_attributes {
    size_t count;
    struct jfr_attribute each[JFR_ATTRIBUTES_MAX];
};

/* Adds the next one; a name that is too long is cut. False: there is no room for more. */
bool jfr_attributes_add(struct jfr_attributes *attributes, const char *name);

/* "attribute" and the number. Its length. */
int jfr_attribute_make_name(char name[JFR_ATTRIBUTE_NAME_CAPACITY], size_t number);

#endif
