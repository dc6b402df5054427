/* Attributes: numbers by name. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "context/context_internal.h"

TestSuite(context_names, .timeout = 1800);

static int number_of(const char *name)
{
    struct jw_error err = {0};

    return context_attribute(name, strlen(name), &err);
}

Test(context_names, a_name_keeps_its_number)
{
    cr_assert(eq(int, number_of("tenant"), 0));
    cr_assert(eq(int, number_of("shop"), 1));
    cr_assert(eq(int, number_of("tenant"), 0));
    cr_assert(eq(int, number_of("ten"), 2));
    cr_assert(strcmp(context_attribute_name(1), "shop") == 0);
    cr_assert(context_attribute_name(3) == NULL);
    cr_assert(eq(u32, context_attribute_count(), 3));
}

Test(context_names, the_seventeenth_is_refused_and_says_so)
{
    struct jw_error err = {0};
    char name[16];

    for (unsigned i = 0; i < CONTEXT_ATTRIBUTES_MAX; i++) {
        snprintf(name, sizeof name, "name.%u", i);
        cr_assert(eq(int, number_of(name), (int)i));
    }
    cr_assert(eq(int, context_attribute("tenant", 6, &err), CONTEXT_NAMES_FULL));
    cr_assert(strstr(err.message, "attribute tenant: there are 16 already") != NULL);
    cr_assert(eq(int, number_of("name.3"), 3), "what there is stays");
}

Test(context_names, what_is_no_name_is_refused_and_says_so)
{
    static const struct {
        const char *text;
        size_t length_bytes;
    } bad[] = {{"", 0}, {"a\0b", 3}, {"tab\there", 8}, {"\xff", 1}, {"\xc3", 1}, {"\x7f", 1}};
    char longest[CONTEXT_NAME_MAX_BYTES + 1];
    struct jw_error err;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (struct jw_error){0};
        cr_assert(
            eq(int, context_attribute(bad[i].text, bad[i].length_bytes, &err), CONTEXT_NO_NAME));
        cr_assert(strstr(err.message, "1 to 64 bytes of UTF-8") != NULL);
    }
    memset(longest, 'n', sizeof longest);
    cr_assert(eq(int, context_attribute(longest, sizeof longest, &err), CONTEXT_NO_NAME));
    cr_assert(eq(int, context_attribute(longest, sizeof longest - 1, &err), 0));
    cr_assert(eq(u32, context_attribute_count(), 1));
}

#define THREADS 8

static void *name_all(void *argument)
{
    int *numbers = argument;
    char name[16];

    for (int i = 0; i < (int)CONTEXT_ATTRIBUTES_MAX; i++) {
        const int length = snprintf(name, sizeof name, "name.%d", i);

        numbers[i] = context_attribute(name, (size_t)length, NULL);
    }
    return NULL;
}

Test(context_names, all_threads_get_the_same_numbers)
{
    int numbers[THREADS][CONTEXT_ATTRIBUTES_MAX];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, name_all, numbers[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        cr_assert(memcmp(numbers[i], numbers[0], sizeof numbers[0]) == 0);
    cr_assert(eq(u32, context_attribute_count(), CONTEXT_ATTRIBUTES_MAX));
}
