/* Names of fields for attributes; dump and tool. */
#include "jfr/jfr_attributes.h"

#include <stdio.h>
#include <string.h>

#include "jfr/jfr_types.h"

#define MADE_PREFIX "attribute"
#define DIGITS      "0123456789"
#define LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static bool is_identifier(const char *name)
{
    return name[0] != '\0' && strchr(LETTERS, name[0]) != NULL &&
           name[strspn(name, LETTERS DIGITS)] == '\0';
}

/* Could be the name that we make for another one. */
static bool looks_made(const char *name)
{
    const size_t prefix_bytes = sizeof MADE_PREFIX - 1;

    return strncmp(name, MADE_PREFIX, prefix_bytes) == 0 &&
           name[prefix_bytes + strspn(name + prefix_bytes, DIGITS)] == '\0';
}

static bool has_context(size_t event_row)
{
    for (size_t i = event_row + 1; i < jfr_row_count && jfr_rows[i].kind == JFR_ROW_FIELD; i++)
        if (jfr_rows[i].flags & JFR_EACH_ATTRIBUTE)
            return true;
    return false;
}

/* Does an event that has attributes have a field of this name besides? */
static bool is_taken(const char *name)
{
    for (size_t event = 0; event < jfr_row_count; event++) {
        if (jfr_rows[event].kind != JFR_ROW_EVENT || !has_context(event))
            continue;
        for (size_t i = event + 1; i < jfr_row_count && jfr_rows[i].kind == JFR_ROW_FIELD; i++)
            if (strcmp(jfr_rows[i].name, name) == 0)
                return true;
    }
    return false;
}

int jfr_attribute_make_name(char name[JFR_ATTRIBUTE_NAME_CAPACITY], size_t number)
{
    return snprintf(name, JFR_ATTRIBUTE_NAME_CAPACITY, MADE_PREFIX "%zu", number);
}

bool jfr_attributes_add(struct jfr_attributes *attributes, const char *name)
{
    struct jfr_attribute *added = &attributes->each[attributes->count];

    if (attributes->count == JFR_ATTRIBUTES_MAX)
        return false;
    snprintf(added->name, sizeof added->name, "%s", name);
    if (is_identifier(name) && !looks_made(name) && !is_taken(name))
        snprintf(added->field, sizeof added->field, "%s", name);
    else
        (void)jfr_attribute_make_name(added->field, attributes->count);
    attributes->count++;
    return true;
}
