/* Whether a method has what a handler asks for, against a plain model of descriptors. */
#include "probe_maker.h"

TestSuite(probe_fit, .timeout = 1800);

static enum probe_fit fit(enum probe_place place, enum probe_kind kind, uint8_t argument, char type,
                          const char *name, const char *descriptor)
{
    const struct probe_handler handler = {
        .place = place,
        .capture_count = 2,
        .captures = {{PROBE_METHOD, 0, 'L'}, {(uint8_t)kind, argument, type}}};

    return probe_fit(&handler, (struct classfile_text){name, (uint32_t)strlen(name)},
                     (struct classfile_text){descriptor, (uint32_t)strlen(descriptor)});
}

Test(probe_fit, arguments_are_there_and_of_the_type)
{
    static const char *const types[] = {
        "B", "C", "D", "F", "I", "J", "S", "Z", "Lcom/acme/A;", "[I", "[[Ljava/lang/String;"};
    static const char wanted[] = "BCDFIJSZL";

    for (unsigned count = 0; count <= 3; count++) {
        for (unsigned first = 0; first < COUNT_OF(types); first++) {
            char descriptor[128] = "(";

            for (unsigned i = 0; i < count; i++)
                strcat(descriptor, types[(first + i * 3) % COUNT_OF(types)]);
            strcat(descriptor, ")V");
            for (unsigned number = 0; number <= 3; number++) {
                for (const char *one = wanted; *one != '\0'; one++) {
                    const char *type = types[(first + number * 3) % COUNT_OF(types)];
                    const enum probe_fit model = number >= count ? PROBE_FIT_NO_ARGUMENT
                                                 : *one != 'L' && strchr(type, *one) != type
                                                     ? PROBE_FIT_ARGUMENT_TYPE
                                                     : PROBE_FIT_GOOD;

                    cr_assert(fit(PROBE_ENTRY, PROBE_ARGUMENT, (uint8_t)number, *one, "add",
                                  descriptor) == model,
                              "%c of %u in %s", *one, number, descriptor);
                }
            }
        }
    }
}

Test(probe_fit, an_object_takes_every_value_and_a_primitive_its_own)
{
    cr_expect(fit(PROBE_RETURN, PROBE_RETURNED, 0, 'L', "a", "()V") == PROBE_FIT_GOOD);
    cr_expect(fit(PROBE_RETURN, PROBE_RETURNED, 0, 'L', "a", "(I)[J") == PROBE_FIT_GOOD);
    cr_expect(fit(PROBE_RETURN, PROBE_RETURNED, 0, 'J', "a", "(I)J") == PROBE_FIT_GOOD);
    cr_expect(fit(PROBE_RETURN, PROBE_RETURNED, 0, 'J', "a", "(J)I") == PROBE_FIT_RETURNED_TYPE);
    cr_expect(fit(PROBE_RETURN, PROBE_RETURNED, 0, 'J', "a", "(J)V") == PROBE_FIT_RETURNED_TYPE);
    cr_expect(fit(PROBE_RETURN, PROBE_RETURNED, 0, 'J', "a", "(J)[J") == PROBE_FIT_RETURNED_TYPE);
}

Test(probe_fit, a_constructor_has_no_object_at_its_entry)
{
    cr_expect(fit(PROBE_ENTRY, PROBE_THIS, 0, 'L', "<init>", "()V") == PROBE_FIT_THIS_UNBORN);
    cr_expect(fit(PROBE_RETURN, PROBE_THIS, 0, 'L', "<init>", "()V") == PROBE_FIT_GOOD);
    cr_expect(fit(PROBE_ENTRY, PROBE_ARGUMENTS, 0, 'L', "<init>", "()V") == PROBE_FIT_GOOD);
    cr_expect(fit(PROBE_ENTRY, PROBE_THIS, 0, 'L', "add", "()V") == PROBE_FIT_GOOD);
}

Test(probe_fit, each_answer_has_its_words)
{
    for (unsigned i = 0; i < PROBE_FIT_LIMIT; i++)
        cr_expect(probe_fit_word(i)[0] != '\0' && probe_fit_text(i)[0] != '\0');
    for (unsigned i = 0; i < PROBE_KIND_LIMIT; i++)
        cr_expect(probe_kind_annotation(i)[0] != '\0' && probe_kind_text(i)[0] != '\0');
    cr_expect_str_eq(probe_place_word(PROBE_THROW), "throw");
}
