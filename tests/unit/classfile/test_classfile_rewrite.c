/* What is put into methods, and how their tables follow: on classes whose bytes are counted by hand. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "classfile/classfile_rewrite.h"
#include "support/class_maker.h"

/* Instructions of the code below. */
enum {
    NOP = 0,
    ALOAD_0 = 42,
    IFEQ = 153,
    GOTO = 167,
    RETURN = 177,
    GOTO_W = 200,
    NOTHING = NOP, /* what the tests put in, as often as they say */
};

static struct class_maker maker;
static struct classfile_memory memory;
static struct classfile file;
static struct classfile_rewritten out;
static struct classfile_code code;

static uint32_t filler_bytes; /* NOPs at each place */
static struct classfile_site seen[64];
static unsigned seen_count;
static struct classfile_site skipped; /* the last one that was left out */
static unsigned skipped_count;

static void open_all(void)
{
    memory.capacity_bytes = classfile_memory_bytes(1u << 20);
    memory.bytes = malloc(memory.capacity_bytes);
    filler_bytes = 3;
    seen_count = skipped_count = 0;
}

static void close_all(void)
{
    class_maker_free(&maker);
    free(memory.bytes);
}

TestSuite(classfile_rewrite, .init = open_all, .fini = close_all, .timeout = 1800);

static void insert(void *context, const struct classfile_site *site,
                   struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    static const uint8_t nops[1024];

    (void)context;
    (void)additions;
    if (seen_count < sizeof seen / sizeof seen[0])
        seen[seen_count] = *site;
    seen_count++;
    classfile_put_code(snippet, nops, filler_bytes, 2);
}

static void skip(void *context, const struct classfile_site *site)
{
    (void)context;
    skipped = *site;
    skipped_count++;
}

/* Puts NOPs at these places of the class's only method; its verdict. */
static enum classfile_verdict rewrite(uint32_t wanted)
{
    const struct class_maker_bytes whole = class_maker_end(&maker);
    const struct classfile_plan plan = {.places = &wanted, .insert = insert, .skip = skip};
    static uint8_t *copy;

    memory.used_bytes = 0;
    cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
    cr_assert(file.method_count == 1);
    cr_assert(classfile_rewrite(&file, &plan, &memory, &out) == CLASSFILE_OK);

    const enum classfile_verdict verdict = out.methods[0].verdict;
    cr_assert((verdict == CLASSFILE_OK) == out.is_changed);
    if (!out.is_changed) {
        cr_assert(out.length_bytes == whole.length &&
                  memcmp(out.bytes, whole.bytes, whole.length) == 0);
        return verdict;
    }
    /* Read again from a copy: the memory is used for both. */
    free(copy);
    copy = malloc(out.length_bytes);
    memcpy(copy, out.bytes, out.length_bytes);

    const struct classfile_outcome outcome = out.methods[0];
    const uint32_t length_bytes = out.length_bytes;
    memory.used_bytes = 0;
    cr_assert(classfile_read(copy, length_bytes, &memory, &file) == CLASSFILE_OK);
    cr_assert(classfile_code_of(&file, &file.methods[0], &code));
    cr_assert(code.length_bytes == outcome.new_code_bytes);
    return verdict;
}

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

/* Entries of the exception table. */
static const uint8_t *exception(unsigned number)
{
    return code.bytes + code.length_bytes + 2 + 8 * number;
}

#define EXPECT_EXCEPTION(number, start, end, handler)                                              \
    do {                                                                                           \
        const uint8_t *at = exception(number);                                                     \
        cr_expect(u2(at) == (start) && u2(at + 2) == (end) && u2(at + 4) == (handler),             \
                  "exception %u: %u to %u, %u", number, u2(at), u2(at + 2), u2(at + 4));           \
    } while (0)

Test(classfile_rewrite, a_loop_at_the_first_instruction_does_not_run_the_entry_again)
{
    /* 0 nop, 1 goto 0 */
    const uint8_t bytes[] = {NOP, GOTO, 0xff, 0xff};
    const uint8_t frames[] = {0};

    make(52, 9, "loop",
         &(struct class_maker_code){.bytes = bytes,
                                    .length = sizeof bytes,
                                    .frames = frames,
                                    .frames_length = 1,
                                    .frame_count = 1});
    cr_assert(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_OK);
    cr_assert(code.length_bytes == 7 && code.stack_count == 2);
    cr_expect((int16_t)u2(code.bytes + 5) == -1);
    /* StackMapTable: behind an exception table of none, one attribute's head, one frame: at 3. */
    cr_expect(code.bytes[7 + 2 + 2 + 6 + 2] == 3);
}

Test(classfile_rewrite, a_branch_to_a_return_runs_what_stands_before_it)
{
    /* 0 iconst_0, 1 ifeq 5, 4 nop, 5 return */
    const uint8_t bytes[] = {3, IFEQ, 0, 4, NOP, RETURN};
    const uint8_t frames[] = {5};

    make(52, 9, "f",
         &(struct class_maker_code){.stack = 1,
                                    .bytes = bytes,
                                    .length = sizeof bytes,
                                    .frames = frames,
                                    .frames_length = 1,
                                    .frame_count = 1});
    cr_assert(rewrite(CLASSFILE_AT(RETURN)) == CLASSFILE_OK);
    cr_expect(code.length_bytes == 9 && code.bytes[8] == RETURN);
    cr_expect(u2(code.bytes + 2) == 4); /* to 5, where the inserted code begins */
    cr_expect(code.stack_count == 3);
}

Test(classfile_rewrite, code_of_locks_stands_first_inside_and_first_behind_the_range)
{
    /* 0 aload_0, 1 dup, 2 astore_1, 3 monitorenter, 4 nop, 5 aload_1, 6 monitorexit, 7 return,
     * 8 astore_2, 9 aload_1, 10 monitorexit, 11 aload_2, 12 athrow */
    const uint8_t bytes[] = {ALOAD_0, 89, 76, 194, NOP, 43, 195, RETURN, 77, 43, 195, 44, 191};
    const uint16_t exceptions[][4] = {{4, 7, 8, 0}, {8, 11, 8, 0}};

    make(49, 1, "lock",
         &(struct class_maker_code){.stack = 2,
                                    .locals = 3,
                                    .bytes = bytes,
                                    .length = sizeof bytes,
                                    .exceptions = exceptions,
                                    .exception_count = 2});
    cr_assert(rewrite(CLASSFILE_AT(MONITOR_ENTER) | CLASSFILE_AT(MONITOR_EXIT)) == CLASSFILE_OK);
    /* before and after monitorenter, after both monitorexits */
    cr_assert(seen_count == 4 && out.methods[0].sites == 4);
    cr_assert(code.length_bytes == 13 + 12);
    cr_expect(code.bytes[6] == 194 && code.bytes[12] == 195 && code.bytes[19] == 195);
    EXPECT_EXCEPTION(0, 7, 13, 17);
    EXPECT_EXCEPTION(1, 17, 20, 17);
}

Test(classfile_rewrite, nothing_is_put_into_a_handler_that_protects_itself)
{
    /* 0 nop, 1 return, 2 pop, 3 nop (a line), 4 return; 2 to 5 is protected by 2 */
    const uint8_t bytes[] = {NOP, RETURN, 87, NOP, RETURN};
    const uint16_t exceptions[][4] = {{0, 5, 2, 0}};
    const uint16_t lines[][2] = {{0, 1}, {3, 2}};

    make(49, 9, "f",
         &(struct class_maker_code){.stack = 1,
                                    .bytes = bytes,
                                    .length = sizeof bytes,
                                    .exceptions = exceptions,
                                    .exception_count = 1,
                                    .lines = lines,
                                    .line_count = 2});
    cr_expect(rewrite(CLASSFILE_AT(LINE)) == CLASSFILE_OK);
    cr_expect(seen_count == 1 && seen[0].line == 1);
    cr_expect(skipped_count == 1 && skipped.place == CLASSFILE_PLACE_LINE && skipped.pc == 3);
    cr_expect(rewrite(CLASSFILE_AT(RETURN)) == CLASSFILE_SELF_PROTECTED);
}

Test(classfile_rewrite, exceptions_are_seen_from_behind_super_on)
{
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    const uint16_t init = class_maker_method_ref(&maker, "java/lang/Object", "<init>", "()V");
    /* 0 aload_0, 1 invokespecial, 4 nop, 5 return */
    const uint8_t bytes[] = {ALOAD_0, 183, (uint8_t)(init >> 8), (uint8_t)init, NOP, RETURN};

    class_maker_method(&maker, 1, "<init>", "()V",
                       &(struct class_maker_code){
                           .stack = 1, .locals = 1, .bytes = bytes, .length = sizeof bytes});
    cr_assert(rewrite(CLASSFILE_AT(THROW)) == CLASSFILE_OK);
    EXPECT_EXCEPTION(0, 4, 6, 6);
    cr_expect(code.length_bytes == 6 + 3 + 1 && code.bytes[9] == 191);
    cr_expect(seen[0].has_this);

    /* Another constructor's call in between is told apart by its `new`. */
    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    const uint16_t other = class_maker_method_ref(&maker, "java/lang/Object", "<init>", "()V");
    const uint8_t nested[] = {ALOAD_0,
                              187,
                              0,
                              4,
                              89,
                              183,
                              (uint8_t)(other >> 8),
                              (uint8_t)other,
                              87,
                              183,
                              (uint8_t)(other >> 8),
                              (uint8_t)other,
                              RETURN};
    class_maker_method(&maker, 1, "<init>", "()V",
                       &(struct class_maker_code){
                           .stack = 3, .locals = 1, .bytes = nested, .length = sizeof nested});
    cr_assert(rewrite(CLASSFILE_AT(THROW)) == CLASSFILE_OK);
    EXPECT_EXCEPTION(0, 12, 13, 13);

    /* No call, no place. */
    const uint8_t endless[] = {GOTO, 0, 0};
    const uint8_t frames[] = {0};
    make(52, 1, "<init>",
         &(struct class_maker_code){.locals = 1,
                                    .bytes = endless,
                                    .length = 3,
                                    .frames = frames,
                                    .frames_length = 1,
                                    .frame_count = 1});
    cr_expect(rewrite(CLASSFILE_AT(THROW)) == CLASSFILE_NO_SUPER);
}

Test(classfile_rewrite, subroutines_get_no_handler_and_keep_the_rest)
{
    /* 0 jsr 4, 3 return, 4 astore_0, 5 ret 0 */
    const uint8_t bytes[] = {168, 0, 4, RETURN, 75, 169, 0};

    make(48, 9, "f",
         &(struct class_maker_code){
             .stack = 1, .locals = 1, .bytes = bytes, .length = sizeof bytes});
    cr_expect(rewrite(CLASSFILE_AT(THROW)) == CLASSFILE_SUBROUTINES);
    cr_assert(rewrite(CLASSFILE_AT(ENTRY) | CLASSFILE_AT(RETURN)) == CLASSFILE_OK);
    cr_expect(code.bytes[3] == 168 && u2(code.bytes + 4) == 7);
}

Test(classfile_rewrite, a_switch_is_padded_anew_wherever_it_comes_to_lie)
{
    /* 0 iconst_0, 1 lookupswitch (padding 2): default 12 further on, no pairs; 12 nop; 13 return */
    const uint8_t bytes[] = {3, 171, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0, NOP, RETURN};
    const uint8_t frames[] = {13};

    for (filler_bytes = 1; filler_bytes <= 8; filler_bytes++) {
        make(52, 9, "f",
             &(struct class_maker_code){.stack = 1,
                                        .bytes = bytes,
                                        .length = sizeof bytes,
                                        .frames = frames,
                                        .frames_length = 1,
                                        .frame_count = 1});
        cr_assert(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_OK);

        const uint32_t pc = filler_bytes + 1, at = (pc + 4) & ~3u;
        cr_expect(code.bytes[pc] == 171);
        cr_expect(pc + u2(code.bytes + at + 2) == at + 9, "%u: %u", filler_bytes,
                  u2(code.bytes + at + 2));
        cr_expect(code.bytes[at + 9] == RETURN && code.length_bytes == at + 10);
    }
}

Test(classfile_rewrite, short_frames_grow_into_long_ones)
{
    /* 0 iconst_0, 1 ifeq 64, 4 to 63 nop, 64 return: a frame at 63 and one at 64 */
    uint8_t bytes[65] = {3, IFEQ, 0, 63};
    const uint8_t frames[] = {63, 0};

    bytes[64] = RETURN;
    make(52, 9, "f",
         &(struct class_maker_code){.stack = 1,
                                    .bytes = bytes,
                                    .length = sizeof bytes,
                                    .frames = frames,
                                    .frames_length = 2,
                                    .frame_count = 2});
    cr_assert(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_OK);

    const uint8_t *frame = code.bytes + code.length_bytes + 2 + 2 + 6 + 2;
    cr_expect(frame[0] == 251 && u2(frame + 1) == 66 && frame[3] == 0);
}

/* 0 iconst_0, 1 ifeq to the end, ... nop ..., return */
static struct class_maker_code far_code(uint8_t *bytes, uint32_t length, uint8_t opcode)
{
    memset(bytes, NOP, length);
    bytes[0] = 3;
    bytes[1] = opcode;
    bytes[2] = (uint8_t)((length - 2) >> 8);
    bytes[3] = (uint8_t)(length - 2);
    bytes[length - 1] = RETURN;
    return (struct class_maker_code){.stack = 1, .bytes = bytes, .length = length};
}

Test(classfile_rewrite, far_branches_go_in_two_steps)
{
    static uint8_t bytes[32769 + 1];
    const uint8_t frames[] = {251, 0x7f, 0xff + 0}; /* set below */
    uint8_t own_frames[3];
    struct class_maker_code with;

    memcpy(own_frames, frames, sizeof frames);
    /* goto: reach 32,767 becomes more by what is put before the return's target. A line in between is where it comes. */
    static const uint16_t lines[][2] = {{100, 7}};
    with = far_code(bytes, 32769, GOTO);
    with.lines = lines;
    with.line_count = 1;
    own_frames[1] = (uint8_t)(32768 >> 8);
    own_frames[2] = (uint8_t)32768;
    with.frames = own_frames;
    with.frames_length = 3;
    with.frame_count = 1;
    make(52, 9, "f", &with);
    cr_assert(rewrite(CLASSFILE_AT(LINE)) == CLASSFILE_OK);
    cr_expect(code.bytes[1] == GOTO_W && code.length_bytes == 32769 + 2 + 3);
    cr_expect(u2(code.bytes + 2) == 0 && u2(code.bytes + 4) == 32767 + 2 + 3);

    /* ifeq: over a goto_w behind the code, which is too far as well, here. */
    with = far_code(bytes, 32769, IFEQ);
    with.lines = lines;
    with.line_count = 1;
    with.frames = own_frames;
    with.frames_length = 3;
    with.frame_count = 1;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(LINE)) == CLASSFILE_TOO_FAR);
    /* Without a frame there is none to give it. */
    with.frame_count = 0;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(LINE)) == CLASSFILE_NO_FRAME);
}

Test(classfile_rewrite, a_far_condition_backwards_gets_a_frame_like_its_target)
{
    /* 0 nop ... 32,768 iconst_0, 32,769 ifeq 2, 32,772 return; a frame at 2 */
    static uint8_t bytes[32773];
    static const uint16_t lines[][2] = {{100, 7}};
    const uint8_t frames[] = {2};

    memset(bytes, NOP, sizeof bytes);
    bytes[32768] = 3;
    bytes[32769] = IFEQ;
    bytes[32770] = (uint8_t)((2 - 32769) >> 8 & 0xff);
    bytes[32771] = (uint8_t)(2 - 32769);
    bytes[32772] = RETURN;
    make(52, 1, "f",
         &(struct class_maker_code){.stack = 1,
                                    .locals = 1,
                                    .bytes = bytes,
                                    .length = sizeof bytes,
                                    .lines = lines,
                                    .line_count = 1,
                                    .frames = frames,
                                    .frames_length = 1,
                                    .frame_count = 1});
    cr_assert(rewrite(CLASSFILE_AT(LINE)) == CLASSFILE_OK);
    cr_assert(code.length_bytes == 32773 + 3 + 5);
    cr_expect(code.bytes[32772] == IFEQ && u2(code.bytes + 32773) == 4);
    cr_expect(code.bytes[32776] == GOTO_W);

    /* Behind the exception table: a LineNumberTable of one, and two frames: the second full, with `this`. */
    const uint8_t *frame = code.bytes + code.length_bytes + 2 + 2 + (6 + 6) + 6;
    cr_expect(u2(frame) == 2 && frame[2] == 2 && frame[3] == 255);
    cr_expect(u2(frame + 4) == 32776 - 2 - 1 && u2(frame + 6) == 1 && frame[8] == 7);
}

Test(classfile_rewrite, methods_that_would_not_be_compiled_any_more_stay)
{
    static uint8_t bytes[8000];
    struct class_maker_code with = {.bytes = bytes, .length = sizeof bytes};

    memset(bytes, NOP, sizeof bytes);
    bytes[7999] = RETURN;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_NOT_COMPILED);
    with.bytes = bytes + 3;
    with.length = 7997;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_OK);
}

Test(classfile_rewrite, no_method_gets_longer_than_the_format_allows)
{
    static uint8_t bytes[65535];
    struct class_maker_code with = {.bytes = bytes, .length = sizeof bytes};

    memset(bytes, NOP, sizeof bytes);
    bytes[65534] = RETURN;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_TOO_LONG);
    with.bytes = bytes + 3;
    with.length = 65532;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_OK);
    filler_bytes = 1025;
    cr_expect(rewrite(CLASSFILE_AT(ENTRY)) == CLASSFILE_BAD_INSERTION);
    with.stack = 65534;
    filler_bytes = 3;
    make(52, 9, "f", &with);
    cr_expect(rewrite(CLASSFILE_AT(RETURN)) == CLASSFILE_TOO_DEEP);
}

Test(classfile_rewrite, type_annotations_name_their_instruction_still)
{
    /* 0 new, 3 pop, 4 return; an annotation of the new, and one of a local from 3 on */
    const uint8_t bytes[] = {187, 0, 2, 87, RETURN};
    uint8_t annotations[] = {0, 2, 0x44, 0, 0, 0, 0, 0, 0, 0, 0x40, 0,
                             1, 0, 3,    0, 2, 0, 1, 0, 0, 0, 0,    0};

    class_maker_begin(&maker, 52, "com/acme/A", "java/lang/Object");
    const uint16_t type = class_maker_text(&maker, "Lcom/acme/N;");
    annotations[7] = (uint8_t)type;
    annotations[21] = (uint8_t)type;
    class_maker_method(&maker, 9, "f", "()V",
                       &(struct class_maker_code){.stack = 1,
                                                  .locals = 2,
                                                  .bytes = bytes,
                                                  .length = sizeof bytes,
                                                  .attribute = "RuntimeVisibleTypeAnnotations",
                                                  .attribute_bytes = annotations,
                                                  .attribute_length = sizeof annotations});
    cr_assert(rewrite(CLASSFILE_AT(ALLOCATION)) == CLASSFILE_OK);
    cr_assert(code.bytes[3] == 187);

    const uint8_t *body = code.bytes + code.length_bytes + 2 + 2 + 6;
    cr_expect(u2(body + 3) == 3 && u2(body + 13) == 6 && u2(body + 15) == 2, "%u %u %u",
              u2(body + 3), u2(body + 13), u2(body + 15));
}

static void insert_branch(void *context, const struct classfile_site *site,
                          struct classfile_additions *additions, struct classfile_snippet *snippet)
{
    (void)site;
    (void)additions;
    classfile_put_op(snippet, *(const uint8_t *)context, 0);
}

Test(classfile_rewrite, only_straight_code_is_put_in)
{
    const uint8_t bytes[] = {RETURN};
    static const uint8_t crooked[] = {GOTO, RETURN, 191, 194, 195, 196, 168, 169, 170, 202, 255};
    const uint32_t wanted = CLASSFILE_AT(ENTRY);

    make(52, 9, "f", &(struct class_maker_code){.bytes = bytes, .length = 1});

    const struct class_maker_bytes whole = class_maker_end(&maker);
    for (size_t i = 0; i < sizeof crooked; i++) {
        uint8_t opcode = crooked[i];
        const struct classfile_plan plan = {
            .places = &wanted, .insert = insert_branch, .context = &opcode};

        memory.used_bytes = 0;
        cr_assert(classfile_read(whole.bytes, whole.length, &memory, &file) == CLASSFILE_OK);
        cr_assert(classfile_rewrite(&file, &plan, &memory, &out) == CLASSFILE_OK);
        cr_expect(out.methods[0].verdict == CLASSFILE_BAD_INSERTION && !out.is_changed, "%u",
                  opcode);
    }
}

Test(classfile_rewrite, too_little_memory_leaves_the_class_alone)
{
    const uint8_t bytes[] = {RETURN};
    const uint32_t wanted = CLASSFILE_AT(ENTRY) | CLASSFILE_AT(THROW);
    const struct classfile_plan plan = {.places = &wanted, .insert = insert};
    const size_t whole_bytes = memory.capacity_bytes;
    bool was_refused = false, was_written = false;

    make(52, 9, "f", &(struct class_maker_code){.bytes = bytes, .length = 1});

    const struct class_maker_bytes whole = class_maker_end(&maker);
    for (memory.capacity_bytes = 0; memory.capacity_bytes <= whole_bytes;
         memory.capacity_bytes += 16 + memory.capacity_bytes / 16) {
        memory.used_bytes = 0;
        if (classfile_read(whole.bytes, whole.length, &memory, &file) != CLASSFILE_OK ||
            classfile_rewrite(&file, &plan, &memory, &out) != CLASSFILE_OK || !out.is_changed)
            was_refused = true;
        else
            was_written = true;
    }
    cr_expect(was_refused && was_written);
}
