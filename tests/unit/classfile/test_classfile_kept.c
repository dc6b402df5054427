/* Call sites, and locals that last from the entry of a method to its ends. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "classfile/classfile_rewrite.h"
#include "support/class_maker.h"

enum { NOP = 0, IFEQ = 153, RETURN = 177 };

static struct class_maker maker;
static struct classfile_memory memory;
static struct classfile file;
static struct classfile_rewritten out;
static struct classfile_code code;

static void open_all(void)
{
    memory.capacity_bytes = 2 * classfile_memory_bytes(CLASS_MAKER_BYTES);
    memory.bytes = malloc(memory.capacity_bytes);
}

static void close_all(void)
{
    class_maker_free(&maker);
    free(memory.bytes);
}

TestSuite(classfile_kept, .init = open_all, .fini = close_all, .timeout = 1800);

static void make(uint16_t major, uint16_t access, const char *name,
                 const struct class_maker_code *with)
{
    class_maker_begin(&maker, major, "com/acme/A", "java/lang/Object");
    class_maker_method(&maker, access, name, "()V", with);
}

static unsigned u2(const uint8_t *at)
{
    return (unsigned)(at[0] << 8 | at[1]);
}

static void insert_call_site(void *context, const struct classfile_site *site,
                             struct classfile_additions *additions,
                             struct classfile_snippet *snippet)
{
    const uint16_t link = classfile_add_method(additions, "com/acme/Link", "link", "()V");
    const uint16_t number = classfile_add_int(additions, 7);

    (void)context;
    (void)site;
    classfile_put_dynamic(
        snippet, classfile_add_call_site(additions, classfile_add_static_handle(additions, link),
                                         &number, 1, "f", "()V"));
}

Test(classfile_kept, call_sites_get_an_attribute_of_their_own_beside_those_that_are_there)
{
    const uint8_t bytes[] = {RETURN};
    const uint32_t wanted = CLASSFILE_AT(ENTRY);
    const struct classfile_plan plan = {.places = &wanted, .insert = insert_call_site};
    struct classfile_attribute annotations, bootstraps;
    struct classfile written;

    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    class_maker_annotate(&maker, "Lcom/acme/Timed;");
    class_maker_method(&maker, 9, "f", "()V",
                       &(struct class_maker_code){.bytes = bytes, .length = 1});

    const struct class_maker_bytes whole = class_maker_end(&maker);
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    cr_assert(classfile_rewrite(&file, &plan, &memory, &out) == CLASSFILE_OK && out.is_changed);
    cr_assert(classfile_read(out.bytes, out.length_bytes, &memory, &written) == CLASSFILE_OK);
    cr_assert_eq(written.attributes.count, file.attributes.count + 1);
    cr_expect(classfile_find_attribute(&written, written.attributes, "RuntimeVisibleAnnotations",
                                       &annotations) ||
              classfile_find_attribute(&written, written.attributes, "RuntimeInvisibleAnnotations",
                                       &annotations));
    cr_assert(
        classfile_find_attribute(&written, written.attributes, "BootstrapMethods", &bootstraps));
    /* One, of one argument. */
    cr_expect_eq(bootstraps.length_bytes, 8);
    cr_expect_eq(u2(out.bytes + bootstraps.offset_bytes), 1);
    cr_expect_eq(u2(out.bytes + bootstraps.offset_bytes + 4), 1);
}

enum { LSTORE = 55, LCONST_0 = 9, ACONST_NULL = 1, ASTORE = 58, ALOAD = 25, POP = 87 };

/* What it keeps at the entry is there at each return. */
static void insert_kept(void *context, const struct classfile_site *site,
                        struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    uint16_t *kept = context;

    (void)additions;
    if (site->place == CLASSFILE_PLACE_ENTRY) {
        kept[0] = classfile_keep_local(snippet, 'J');
        kept[1] = classfile_keep_local(snippet, 'L');
        kept[2] = classfile_take_local(snippet, 1);

        const uint8_t code_bytes[] = {LCONST_0,    LSTORE, (uint8_t)kept[0],
                                      ACONST_NULL, ASTORE, (uint8_t)kept[1]};
        classfile_put_code(snippet, code_bytes, sizeof code_bytes, 2);
    } else {
        const uint8_t code_bytes[] = {ALOAD, (uint8_t)kept[1], POP};

        classfile_put_code(snippet, code_bytes, sizeof code_bytes, 1);
    }
}

Test(classfile_kept, locals_that_are_kept_are_in_every_frame_and_behind_all_others)
{
    /* 0 iconst_0, 1 ifeq 5, 4 nop, 5 return */
    const uint8_t bytes[] = {3, IFEQ, 0, 4, NOP, RETURN};
    const uint8_t frames[] = {5};
    const uint32_t wanted = CLASSFILE_AT(ENTRY) | CLASSFILE_AT(RETURN) | CLASSFILE_AT(THROW);
    uint16_t kept[3] = {0};
    const struct classfile_plan plan = {.places = &wanted, .insert = insert_kept, .context = kept};
    struct classfile written;

    make(52, 9, "f",
         &(struct class_maker_code){.bytes = bytes,
                                    .length = sizeof bytes,
                                    .stack = 1,
                                    .locals = 3,
                                    .frames = frames,
                                    .frames_length = 1,
                                    .frame_count = 1});

    const struct class_maker_bytes whole = class_maker_end(&maker);
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    cr_assert(classfile_rewrite(&file, &plan, &memory, &out) == CLASSFILE_OK && out.is_changed);
    cr_expect(kept[0] == 3 && kept[1] == 5 && kept[2] == 6);
    cr_assert(classfile_read(out.bytes, out.length_bytes, &memory, &written) == CLASSFILE_OK);
    cr_assert(classfile_code_of(&written, &written.methods[0], &code));
    cr_expect_eq(code.local_count, 7);

    /* Behind the code: one exception, one attribute, two frames: before the return, and of the handler. */
    const uint8_t *at = code.bytes + code.length_bytes + 2 + 8 + 2 + 6;
    cr_assert_eq(u2(at), 2);
    at += 2;
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(at[0], 255, "frame %u: form %u", i, at[0]);
        cr_expect_eq(u2(at + 3), 5); /* three of the method that are nothing, a long, an object */
        cr_expect(at[5] == 0 && at[6] == 0 && at[7] == 0 && at[8] == 4 && at[9] == 7);
        cr_assert_eq(u2(at + 12), i); /* on the stack: what was thrown */
        at += 14 + 3 * i;
    }
}

static void insert_late_keep(void *context, const struct classfile_site *site,
                             struct classfile_additions *additions,
                             struct classfile_snippet *snippet)
{
    (void)context;
    (void)site;
    (void)additions;
    (void)classfile_keep_local(snippet, 'I');
    classfile_put_op(snippet, NOP, 0);
}

Test(classfile_kept, only_the_entry_keeps_locals)
{
    const uint8_t bytes[] = {RETURN};
    const uint32_t wanted = CLASSFILE_AT(RETURN);
    const struct classfile_plan plan = {.places = &wanted, .insert = insert_late_keep};

    make(52, 9, "f", &(struct class_maker_code){.bytes = bytes, .length = 1});

    const struct class_maker_bytes whole = class_maker_end(&maker);
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    cr_assert(classfile_rewrite(&file, &plan, &memory, &out) == CLASSFILE_OK);
    cr_expect(out.methods[0].verdict == CLASSFILE_BAD_INSERTION && !out.is_changed);
}
