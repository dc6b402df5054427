/* Owners of locks of java.util.concurrent: with each width of references, under the names of each JDK, and only where a lock of the agent's own proves it. */
#include "unit/vm/fake_references.h"

#include <criterion/new/assert.h>

#include "vm/vm_synchronizer.h"

TestSuite(vm_synchronizer, .timeout = 1800);

#define OWN_ID  21
#define NAME    "main"
#define PADDING 64

enum { NAME_OFFSET = 16, OWNER_OFFSET = 24, VALUE_OFFSET = 12, CODER_OFFSET = 20 };

/* Tokens of JNI that nobody reads through. */
enum { OF_THREAD = 1, OF_STRING, OF_LOCK, OF_SYNCHRONIZER, A_NAME, A_LOCK, CREATE, ENTER, LEAVE };

/* The first bytes stay empty, so that no narrow reference is 0. */
static struct {
    _Alignas(4096) unsigned char unused[PADDING];
    _Alignas(8) unsigned char thread[128], string[64], array[64], synchronizer[64];
} heap;
static void *thread_handle = heap.thread, *synchronizer_handle = heap.synchronizer;
static bool use_narrow, use_collector = true;
static struct JNINativeInterface_ functions;
static const struct JNINativeInterface_ *table = &functions;
static bool has_raised, has_locks = true, has_owners = true;

/* ZGC's: words have a colour, one of which is bad now; from JDK 21 on below the address, before that part of it. */
enum { BAD_AT = 8, SHIFT_AT = 16 };
static bool use_z, has_both_kinds, is_generational;
static uint64_t bad_bits, colour_shift = 16;
static _Alignas(8) unsigned char z_globals[32];
static _Alignas(8) unsigned char x_globals[32];
static void *z_instance = z_globals, *x_instance = x_globals;
#define GOOD_COLOUR 0x2000u
#define BAD_COLOUR  0x1000u

static void *in_colour(const void *to)
{
    return fake_jdk < LAYOUT_25 ? (void *)(uintptr_t)to
                                : (void *)((uintptr_t)to << colour_shift | GOOD_COLOUR);
}

static JNIEnv *jni(void)
{
    return (JNIEnv *)&table;
}

static jobject token(int number)
{
    return (jobject)(uintptr_t)number;
}

static void refer(unsigned char *from, const void *to)
{
    const uint32_t narrow =
        to == NULL ? 0 : (uint32_t)(((uintptr_t)to - narrow_base) >> narrow_shift);

    if (use_z)
        to = in_colour(to);
    memcpy(from, use_narrow ? (const void *)&narrow : (const void *)&to,
           use_narrow ? sizeof narrow : sizeof to);
}

static void own(const void *thread)
{
    refer(heap.synchronizer + OWNER_OFFSET, thread);
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
    (void)env;
    cr_assert(not(has_raised));
    if (strcmp(name, "java/lang/Thread") == 0)
        return token(OF_THREAD);
    if (strcmp(name, "java/lang/String") == 0)
        return token(OF_STRING);
    if (strcmp(name, "java/util/concurrent/locks/AbstractOwnableSynchronizer") == 0)
        return token(OF_SYNCHRONIZER);
    has_raised = !has_locks || strcmp(name, "java/util/concurrent/locks/ReentrantLock") != 0;
    return has_raised ? NULL : token(OF_LOCK);
}

static jfieldID JNICALL get_field(JNIEnv *env, jclass type, const char *name, const char *signature)
{
    static const struct {
        int type;
        uint32_t offset;
        const char *name, *signature;
    } fields[] = {
        {OF_THREAD, NAME_OFFSET, "name", "Ljava/lang/String;"},
        {OF_SYNCHRONIZER, OWNER_OFFSET, "exclusiveOwnerThread", "Ljava/lang/Thread;"},
        {OF_LOCK, 8, "sync", "Ljava/util/concurrent/locks/ReentrantLock$Sync;"},
        {OF_STRING, VALUE_OFFSET, "value", "[B"},
        {OF_STRING, VALUE_OFFSET, "value", "[C"},
        {OF_STRING, CODER_OFFSET, "coder", "B"},
    };

    (void)env;
    cr_assert(not(has_raised));
    for (size_t i = 0; i < JW_COUNT_OF(fields); i++) {
        const char *hidden = fake_jdk == LAYOUT_8 ? "[B" : "[C";

        if (type == token(fields[i].type) && strcmp(name, fields[i].name) == 0 &&
            strcmp(signature, fields[i].signature) == 0 && strcmp(signature, hidden) != 0)
            return (jfieldID)((uintptr_t)fields[i].offset << FAKE_FIELD_ID_BITS | 2);
    }
    has_raised = true;
    return NULL;
}

static jmethodID JNICALL get_method(JNIEnv *env, jclass type, const char *name,
                                    const char *signature)
{
    (void)env;
    cr_assert(type == token(OF_LOCK) && strcmp(signature, "()V") == 0);
    return (jmethodID)token(strcmp(name, "<init>") == 0 ? CREATE
                            : strcmp(name, "lock") == 0 ? ENTER
                                                        : LEAVE);
}

static jobject JNICALL new_object(JNIEnv *env, jclass type, jmethodID create, ...)
{
    (void)env;
    cr_assert(type == token(OF_LOCK) && create == (jmethodID)token(CREATE));
    return token(A_LOCK);
}

static void JNICALL call(JNIEnv *env, jobject lock, jmethodID method, ...)
{
    (void)env;
    cr_assert(lock == token(A_LOCK));
    own(method == (jmethodID)token(ENTER) && has_owners ? heap.thread : NULL);
}

static jobject JNICALL get_object(JNIEnv *env, jobject object, jfieldID field)
{
    (void)env;
    (void)field;
    return object == token(A_LOCK) ? (jobject)&synchronizer_handle : token(A_NAME);
}

static jclass JNICALL get_class(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
    return token(OF_THREAD);
}

static jlong JNICALL get_long(JNIEnv *env, jobject thread, jfieldID field)
{
    (void)env;
    (void)thread;
    (void)field;
    return OWN_ID;
}

static jsize JNICALL get_length(JNIEnv *env, jstring string)
{
    (void)env;
    (void)string;
    return (jsize)strlen(NAME);
}

static void JNICALL get_region(JNIEnv *env, jstring string, jsize from, jsize count, jchar *out)
{
    (void)env;
    (void)string;
    for (jsize i = 0; i < count; i++)
        out[i] = (jchar)NAME[from + i];
}

static jboolean JNICALL check_exception(JNIEnv *env)
{
    (void)env;
    return has_raised;
}

static void JNICALL clear_exception(JNIEnv *env)
{
    (void)env;
    has_raised = false;
}

static void JNICALL delete_reference(JNIEnv *env, jobject object)
{
    (void)env;
    (void)object;
}

static jobject JNICALL make_global(JNIEnv *env, jobject object)
{
    (void)env;
    return object;
}

static void add_colours(void)
{
    const bool is_new = fake_jdk >= LAYOUT_25;
    const void *const words[] = {&bad_bits, &colour_shift};

    fake_jvm->add_field("ZGlobalsForVMStructs", "_instance_p", "", true, 0, &z_instance);
    fake_jvm->add_field("ZGlobalsForVMStructs",
                        is_new ? "_ZPointerLoadBadMask" : "_ZAddressBadMask", "uintptr_t*", false,
                        BAD_AT, NULL);
    if (is_new)
        fake_jvm->add_field("ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", false,
                            SHIFT_AT, NULL);
    memcpy(z_globals + BAD_AT, words, sizeof words);
    bad_bits = is_new ? BAD_COLOUR : UINT64_C(1) << 60; /* no bit of an address here */
    synchronizer_handle = in_colour(heap.synchronizer);
}

/* JDK 21 to 23 have both kinds, and both have their words, also that which is not used. */
static void add_colours_of_both(void)
{
    const void *const word = &bad_bits;

    fake_jvm->add_field("ZGlobalsForVMStructs", "_instance_p", "", true, 0, &z_instance);
    fake_jvm->add_field("ZGlobalsForVMStructs", "_ZPointerLoadBadMask", "uintptr_t*", false, BAD_AT,
                        NULL);
    fake_jvm->add_field("ZGlobalsForVMStructs", "_ZPointerLoadShift", "size_t*", false, SHIFT_AT,
                        NULL);
    fake_jvm->add_field("XGlobalsForVMStructs", "_instance_p", "", true, 0, &x_instance);
    fake_jvm->add_field("XGlobalsForVMStructs", "_XAddressBadMask", "uintptr_t*", false, BAD_AT,
                        NULL);
    add_flag("ZGenerational", &is_generational);
    memcpy(x_globals + BAD_AT, &word, sizeof word);
    bad_bits = UINT64_C(1) << 60;
}

static void add_tables(const char *collector)
{
    flag_count = 0;
    add_flag("UseCompressedOops", &use_narrow);
    add_flag(collector, &use_collector);
    add_references();
    if (use_z && has_both_kinds)
        add_colours_of_both();
    else if (use_z)
        add_colours();
}

/* The thread, by number and by name: chars on JDK 8, bytes since. */
static void fill_objects(void)
{
    const uint64_t number = OWN_ID;
    const uint32_t length = (uint32_t)strlen(NAME);

    memset(&heap, 0, sizeof heap);
    memcpy(heap.thread + FAKE_THREAD_NUMBER_OFFSET, &number, sizeof number);
    refer(heap.thread + NAME_OFFSET, heap.string);
    refer(heap.string + VALUE_OFFSET, heap.array);
    memcpy(heap.array + 12, &length, sizeof length);
    for (size_t i = 0; i < length; i++)
        heap.array[16 + (fake_jdk == LAYOUT_8 ? 2 * i : i)] = (unsigned char)NAME[i];
}

static void fill_functions(void)
{
    functions.FindClass = find_class;
    functions.GetFieldID = get_field;
    functions.GetMethodID = get_method;
    functions.NewObject = new_object;
    functions.CallVoidMethod = call;
    functions.GetObjectField = get_object;
    functions.GetObjectClass = get_class;
    functions.GetLongField = get_long;
    functions.GetStringLength = get_length;
    functions.GetStringRegion = get_region;
    functions.ExceptionCheck = check_exception;
    functions.ExceptionClear = clear_exception;
    functions.DeleteLocalRef = delete_reference;
    functions.NewGlobalRef = make_global;
    functions.DeleteGlobalRef = delete_reference;
}

static bool open_with(enum layout_jdk jdk, bool is_narrow, const char *collector,
                      struct jw_error *why)
{
    struct jw_error err = {0};

    prepare_fake(jdk, "A");
    use_narrow = is_narrow;
    narrow_base = (uintptr_t)&heap;
    add_tables(collector);
    cr_assert(vm_open(fake_jvm->java_vm, fake_jvm->jvmti, &err), "%s", err.message);
    fill_objects();
    fill_functions();
    return vm_synchronizer_open(jni(), (jobject)&thread_handle, why);
}

static vm_addr lock(void)
{
    return (vm_addr)&synchronizer_handle;
}

static void expect_owners(enum layout_jdk jdk, bool is_narrow)
{
    struct jw_error why = {0};

    cr_assert(open_with(jdk, is_narrow, "UseSerialGC", &why), "%s", why.message);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0), "the lock was given back");
    cr_assert(not(vm_synchronizer_is_owned_by(lock(), OWN_ID)));
    own(heap.thread);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), OWN_ID));
    cr_assert(eq(u64, vm_synchronizer_owner(lock() | 1), OWN_ID), "of another kind of reference");
    cr_assert(vm_synchronizer_is_owned_by(lock(), OWN_ID));
    cr_assert(not(vm_synchronizer_is_owned_by(lock(), OWN_ID + 1)));
    cr_assert(not(vm_synchronizer_is_owned_by(lock(), 0)));
}

Test(vm_synchronizer, jdk_8_tells_owners_through_narrow_references)
{
    expect_owners(LAYOUT_8, true);
}

Test(vm_synchronizer, jdk_8_tells_owners_through_wide_references)
{
    expect_owners(LAYOUT_8, false);
}

Test(vm_synchronizer, jdk_17_tells_owners_through_narrow_references)
{
    expect_owners(LAYOUT_17, true);
}

Test(vm_synchronizer, jdk_25_tells_owners_through_narrow_references)
{
    expect_owners(LAYOUT_25, true);
}

Test(vm_synchronizer, jdk_25_tells_owners_through_wide_references)
{
    expect_owners(LAYOUT_25, false);
}

Test(vm_synchronizer, cms_moves_nothing_while_threads_run)
{
    struct jw_error why = {0};

    cr_assert(open_with(LAYOUT_8, true, "UseConcMarkSweepGC", &why), "%s", why.message);
}

Test(vm_synchronizer, objects_that_move_while_threads_run_are_not_read)
{
    struct jw_error why = {0};

    cr_assert(not(open_with(LAYOUT_8, true, "UseShenandoahGC", &why)));
    cr_assert(ne(chr, why.message[0], '\0'));
    own(heap.thread);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0));
    cr_assert(not(vm_synchronizer_is_owned_by(lock(), OWN_ID)));
}

static void expect_colours(enum layout_jdk jdk)
{
    struct jw_error why = {0};

    use_z = true;
    cr_assert(open_with(jdk, false, "UseZGC", &why), "%s", why.message);
    cr_assert(vm_synchronizer_wants_global());
    own(heap.thread);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), OWN_ID));
    cr_assert(vm_synchronizer_is_owned_by(lock(), OWN_ID));
    own(NULL);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0));
    own(heap.thread);
    bad_bits =
        jdk < LAYOUT_25 ? ~UINT64_C(0) : GOOD_COLOUR; /* the collector is about to move objects */
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0));
    cr_assert(not(vm_synchronizer_is_owned_by(lock(), OWN_ID)));
}

Test(vm_synchronizer, jdk_17_tells_owners_where_addresses_have_a_colour)
{
    expect_colours(LAYOUT_17);
}

Test(vm_synchronizer, jdk_21_tells_owners_by_the_words_of_the_z_without_generations)
{
    has_both_kinds = true;
    expect_colours(LAYOUT_17);
}

Test(vm_synchronizer, jdk_25_tells_owners_where_words_have_a_colour)
{
    expect_colours(LAYOUT_25);
}

Test(vm_synchronizer, a_z_that_does_not_tell_its_colours_is_not_read)
{
    struct jw_error why = {0};

    cr_assert(not(open_with(LAYOUT_25, false, "UseZGC", &why)));
    cr_assert(not(vm_synchronizer_wants_global()));
}

Test(vm_synchronizer, a_lock_that_does_not_name_who_has_it_proves_nothing)
{
    struct jw_error why = {0};

    has_owners = false;
    cr_assert(not(open_with(LAYOUT_8, true, "UseSerialGC", &why)));
    cr_assert(ne(chr, why.message[0], '\0'));
    own(heap.thread);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0));
    own(NULL);
    has_owners = true;
    cr_assert(vm_synchronizer_open(jni(), (jobject)&thread_handle, &why), "it may be tried again");
}

Test(vm_synchronizer, a_jvm_without_such_locks_tells_no_owners)
{
    struct jw_error why = {0};

    has_locks = false;
    cr_assert(not(open_with(LAYOUT_8, true, "UseSerialGC", &why)));
    cr_assert(not(has_raised), "the caller sees no exception");
}

Test(vm_synchronizer, what_cannot_be_read_has_no_owner)
{
    struct jw_error why = {0};

    cr_assert(open_with(LAYOUT_8, false, "UseSerialGC", &why), "%s", why.message);
    own((const void *)(uintptr_t)0x7fff00000000);
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0));
    cr_assert(eq(u64, vm_synchronizer_owner(0x7fff00000000), 0));
    synchronizer_handle = NULL;
    cr_assert(eq(u64, vm_synchronizer_owner(lock()), 0));
}
