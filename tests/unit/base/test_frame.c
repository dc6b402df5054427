/* Frames: what is packed into eight bytes comes out again. */
#include "base/frame.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(frame, .timeout = 1800);

Test(frame, java_frames_give_back_kind_method_and_bci)
{
    static const enum jw_frame_kind kinds[] = {JW_FRAME_INTERPRETED, JW_FRAME_COMPILED,
                                               JW_FRAME_INLINED, JW_FRAME_JAVA_NATIVE};
    static const uint32_t methods[] = {0, 1, 0x7fffffff, 0x80000000, UINT32_MAX};
    static const int bcis[] = {JW_BCI_NATIVE, -2, JW_BCI_UNKNOWN, 0, 1, 65534, 65535};

    for (size_t k = 0; k < JW_COUNT_OF(kinds); k++)
        for (size_t m = 0; m < JW_COUNT_OF(methods); m++)
            for (size_t b = 0; b < JW_COUNT_OF(bcis); b++) {
                const jw_frame frame = jw_frame_java(kinds[k], methods[m], bcis[b]);

                cr_assert(eq(int, (int)jw_frame_kind_of(frame), (int)kinds[k]));
                cr_assert(eq(u32, jw_frame_method(frame), methods[m]));
                cr_assert(eq(int, jw_frame_bci(frame), bcis[b]));
            }
}

Test(frame, native_frames_give_back_user_addresses_of_both_architectures)
{
    /* 47 bits on x86-64, up to 52 on aarch64 with large virtual addresses. */
    static const uintptr_t pcs[] = {0, 0x401000, 0x7fffffffffff, 0xfffffffffffff};

    for (size_t i = 0; i < JW_COUNT_OF(pcs); i++) {
        const jw_frame frame = jw_frame_native(pcs[i]);

        cr_assert(eq(int, (int)jw_frame_kind_of(frame), (int)JW_FRAME_NATIVE));
        cr_assert(eq(u64, jw_frame_pc(frame), pcs[i]));
    }
}

Test(frame, an_address_with_a_tag_byte_does_not_change_the_kind)
{
    const jw_frame frame = jw_frame_native((uintptr_t)0xab007fffffff1234ull);

    cr_assert(eq(int, (int)jw_frame_kind_of(frame), (int)JW_FRAME_NATIVE));
    cr_assert(eq(u64, jw_frame_pc(frame), 0x7fffffff1234ull));
}

Test(frame, marks_give_back_their_number_and_have_texts_of_their_own)
{
    for (int i = 0; i < JW_MARK_LIMIT; i++) {
        const jw_frame frame = jw_frame_mark((enum jw_mark)i);
        const char *text = jw_mark_text((enum jw_mark)i);

        cr_assert(eq(int, (int)jw_frame_kind_of(frame), (int)JW_FRAME_MARK));
        cr_assert(eq(int, (int)jw_frame_mark_of(frame), i));
        cr_assert(text[0] == '[' && text[strlen(text) - 1] == ']', "%s", text);
        for (int j = 0; j < i; j++)
            cr_assert(strcmp(text, jw_mark_text((enum jw_mark)j)) != 0, "%s stands twice", text);
    }
}

Test(frame, a_number_that_is_no_mark_is_unknown)
{
    cr_assert(strcmp(jw_mark_text(JW_MARK_LIMIT), "[unknown]") == 0);
    cr_assert(strcmp(jw_mark_text((enum jw_mark)0xffffff), "[unknown]") == 0);
}

/* Code k of AsyncGetCallTrace is mark -k. Source: OpenJDK, forte.cpp, JDK 8 to 25. */
Test(frame, the_first_marks_follow_the_codes_of_asyncgetcalltrace)
{
    cr_assert(eq(int, JW_MARK_NO_JAVA_FRAME, 0));
    cr_assert(eq(int, JW_MARK_NO_CLASS_LOAD, 1));
    cr_assert(eq(int, JW_MARK_GC_ACTIVE, 2));
    cr_assert(eq(int, JW_MARK_UNKNOWN_NOT_JAVA, 3));
    cr_assert(eq(int, JW_MARK_NOT_WALKABLE_NOT_JAVA, 4));
    cr_assert(eq(int, JW_MARK_UNKNOWN_JAVA, 5));
    cr_assert(eq(int, JW_MARK_NOT_WALKABLE_JAVA, 6));
    cr_assert(eq(int, JW_MARK_UNKNOWN_STATE, 7));
    cr_assert(eq(int, JW_MARK_THREAD_EXIT, 8));
    cr_assert(eq(int, JW_MARK_DEOPT, 9));
    cr_assert(eq(int, JW_MARK_SAFEPOINT, 10));
}

Test(frame, a_class_keeps_the_id_of_its_name)
{
    const uint32_t ids[] = {0, 1, 0x12345678, UINT32_MAX};

    for (size_t i = 0; i < JW_COUNT_OF(ids); i++) {
        const jw_frame frame = jw_frame_class(ids[i]);

        cr_assert(eq(int, (int)jw_frame_kind_of(frame), (int)JW_FRAME_CLASS));
        cr_assert(eq(u32, jw_frame_class_name(frame), ids[i]));
    }
}

Test(frame, an_address_keeps_its_56_bits)
{
    const uintptr_t pcs[] = {0, 0x1000, 0x7f31c80010a4, UINT64_C(0xffffffffffffff)};

    for (size_t i = 0; i < JW_COUNT_OF(pcs); i++) {
        const jw_frame frame = jw_frame_address(pcs[i]);

        cr_assert(eq(int, (int)jw_frame_kind_of(frame), (int)JW_FRAME_ADDRESS));
        cr_assert(eq(u64, jw_frame_pc(frame), pcs[i]));
        cr_assert(ne(u64, frame, jw_frame_native(pcs[i])));
    }
}
