/*
 * steps - a thread that is stopped behind each of its instructions, and asked there for its stack. x86-64 alone: the processor's trap flag.
 *
 * A stack is right if it ends where the thread began, and if it is the one before but for its innermost frame: an instruction calls one
 * method, returns from one, or does neither. (So nothing may be inlined; what is, and frames that are taken apart, are only held to the end.)
 */
#include <jaywalk.h>
#include <jni.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100
#define DEPTH     512
#define PLACES    (1u << 16) /* pcs that are told apart */
#define NATIVE_VISITS                                                                              \
    2 /* looks at one pc of native code: thousands of instructions for each of Java's */
#define TOLD_MAX     400
#define STUBS_MAX    8192
#define WORDS        12
#define BYTES_BEFORE 24
#define BYTES_BEHIND 24

enum fault { NO_ROOT, NO_STACK, OTHER_STACK, FAULTS };
static const char *const fault_texts[FAULTS] = {"no root", "no stack", "another stack"};

struct told {
    enum fault fault;
    uintptr_t pc, sp, fp, last_pc, r13, rax;
    int result, count, last_count;
    jaywalk_method methods[4], last_methods[4];
    uintptr_t words[WORDS];
    uint8_t before[BYTES_BEFORE], behind[BYTES_BEHIND];
};

struct stub {
    char name[96];
    uintptr_t begin, end;
};

static struct {
    bool is_held_to_last;
    jaywalk_method root;
    long steps, java_steps, walked, faults[FAULTS];
    struct jaywalk_frame last[DEPTH];
    int last_count; /* 0: not known */
    uintptr_t last_pc;
    uintptr_t compiled_pc; /* where compiled code was last called from; 0: not yet */
    long left;
} state;

static uintptr_t seen_pcs[PLACES];
static uint32_t seen_counts[PLACES];
static struct told told[TOLD_MAX];
static int told_count;
static struct stub stubs[STUBS_MAX];
static int stub_count;
static uintptr_t code_begin, code_end;
static volatile sig_atomic_t is_ending;

/* How often this pc was met before. */
static uint32_t visits(uintptr_t pc)
{
    for (uint64_t at = pc * 0x9e3779b97f4a7c15 >> 40, probe = 0; probe < 64; probe++) {
        const size_t slot = (at + probe) % PLACES;

        if (seen_pcs[slot] == 0)
            seen_pcs[slot] = pc;
        if (seen_pcs[slot] == pc)
            return seen_counts[slot]++;
    }
    return UINT32_MAX;
}

static void tell(enum fault fault, const greg_t *regs, const struct jaywalk_frame *frames,
                 int count)
{
    const uintptr_t pc = (uintptr_t)regs[REG_RIP];

    state.faults[fault]++;
    for (int i = 0; i < told_count; i++)
        if (told[i].pc == pc && told[i].fault == fault)
            return;
    if (told_count == TOLD_MAX)
        return;
    struct told *to = &told[told_count++];
    *to = (struct told){.fault = fault,
                        .pc = pc,
                        .sp = (uintptr_t)regs[REG_RSP],
                        .fp = (uintptr_t)regs[REG_RBP],
                        .r13 = (uintptr_t)regs[REG_R13],
                        .rax = (uintptr_t)regs[REG_RAX],
                        .last_pc = state.last_pc,
                        .result = count,
                        .count = count,
                        .last_count = state.last_count};
    memcpy(to->words, (const void *)to->sp, sizeof to->words);
    /* Native code may lie at the very edge of what is mapped. */
    if (pc >= code_begin + BYTES_BEFORE && pc + BYTES_BEHIND <= code_end) {
        memcpy(to->before, (const char *)pc - BYTES_BEFORE, BYTES_BEFORE);
        memcpy(to->behind, (const char *)pc, BYTES_BEHIND);
    }
    for (int i = 0; i < 4; i++) {
        to->methods[i] = i < count ? frames[i].method : 0;
        to->last_methods[i] = i < state.last_count ? state.last[i].method : 0;
    }
}

static bool are_same(const struct jaywalk_frame *one, int count, const struct jaywalk_frame *other,
                     int other_count)
{
    if (count != other_count)
        return false;
    for (int i = 0; i < count; i++)
        if (one[i].method != other[i].method)
            return false;
    return true;
}

/* Whether one follows the other by one call, one return, or a jump from one method to another. */
static bool is_next(const struct jaywalk_frame *frames, int count)
{
    for (int left = 0; left <= 1; left++)
        for (int new = 0; new <= 1; new ++)
            if (count >= new &&state.last_count >= left &&
                are_same(frames + new, count - new, state.last + left, state.last_count - left))
                return true;
    return false;
}

/*
 * Compiled code returns to the interpreter with the stack pointer as it was aligned: below the return address may lie a word (JDK 8 to 17)
 * of an earlier call, which nobody reads any more. Here it is what is the likeliest to be taken for a caller.
 */
static void leave_behind(const greg_t *regs)
{
    static const uint8_t restored[] = {0x48, 0x8b, 0x65, 0xf0,
                                       0x48}; /* mov -16(%rbp),%rsp; movq $0,... */
    uintptr_t *const sp = (uintptr_t *)regs[REG_RSP];

    if (state.compiled_pc == 0 || (uintptr_t)regs[REG_R13] != (uintptr_t)(sp + 2) ||
        regs[REG_RBP] < regs[REG_R13] ||
        memcmp((const void *)regs[REG_RIP], restored, sizeof restored) != 0)
        return;
    *sp = state.compiled_pc;
    state.left++;
}

/* The address to which compiled code is returned to lies on top where it has just called. */
static void note_compiled(const greg_t *regs, const struct jaywalk_frame *frames, int count)
{
    const uintptr_t word = *(const uintptr_t *)regs[REG_RSP];

    if (count > 1 && count == state.last_count + 1 && word >= code_begin && word < code_end &&
        frames[1].tier == JAYWALK_COMPILED)
        state.compiled_pc = word;
}

static void look(void *ucontext, bool is_in_java)
{
    static struct jaywalk_frame frames[DEPTH];
    const greg_t *regs = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
    unsigned flags = 0;

    if (is_in_java)
        leave_behind(regs);
    const int count = jaywalk_stack_walk(ucontext, frames, DEPTH, &flags);

    state.walked++;
    if (count <= 0) {
        tell(NO_STACK, regs, frames, count);
        state.last_count = 0;
        return;
    }
    if (state.root == 0)
        state.root = frames[count - 1].method;
    if (flags != 0 || frames[count - 1].method != state.root) {
        tell(NO_ROOT, regs, frames, count);
        state.last_count = 0;
        return;
    }
    if (state.is_held_to_last && is_in_java && state.last_count > 0 && !is_next(frames, count))
        tell(OTHER_STACK, regs, frames, count);
    if (is_in_java && state.last_count > 0)
        note_compiled(regs, frames, count);
    memcpy(state.last, frames, (size_t)count * sizeof frames[0]);
    state.last_count = count;
}

static void on_trap(int signo, siginfo_t *info, void *ucontext)
{
    greg_t *regs = ((ucontext_t *)ucontext)->uc_mcontext.gregs;
    const uintptr_t pc = (uintptr_t)regs[REG_RIP];
    const bool is_in_java = pc >= code_begin && pc < code_end;

    (void)signo;
    (void)info;
    if (is_ending) {
        regs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    state.steps++;
    state.java_steps += is_in_java;
    if (is_in_java || visits(pc) < NATIVE_VISITS)
        look(ucontext, is_in_java);
    else if (!state.is_held_to_last)
        state.last_count = 0;
    state.last_pc = pc;
}

/* Names of code that the JVM has generated. ------------------------------------------------------------------------------------- */

static void JNICALL on_stub(jvmtiEnv *jvmti, const char *name, const void *address, jint length)
{
    (void)jvmti;
    if (stub_count == STUBS_MAX)
        return;
    struct stub *to = &stubs[stub_count++];
    snprintf(to->name, sizeof to->name, "%s", name);
    to->begin = (uintptr_t)address;
    to->end = to->begin + (uintptr_t)length;
}

static void list_stubs(JNIEnv *jni)
{
    JavaVM *vm;
    jvmtiEnv *jvmti;
    const jvmtiEventCallbacks callbacks = {.DynamicCodeGenerated = on_stub};

    if ((*jni)->GetJavaVM(jni, &vm) != 0 ||
        (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != 0)
        return;
    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks);
    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
                                       NULL);
    (*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
}

static const char *name_of(uintptr_t pc)
{
    static char text[160];
    const struct stub *best = NULL;

    for (int i = 0; i < stub_count; i++)
        if (pc >= stubs[i].begin && pc < stubs[i].end &&
            (best == NULL || stubs[i].end - stubs[i].begin < best->end - best->begin))
            best = &stubs[i];
    if (best == NULL)
        return pc >= code_begin && pc < code_end ? "a method" : "native code";
    snprintf(text, sizeof text, "%s+0x%lx", best->name, pc - best->begin);
    return text;
}

static void print_bytes(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf(" %02x", bytes[i]);
}

static void print_method(jaywalk_method method)
{
    char name[80] = "?", type[80] = "?";
    struct jaywalk_method_info info = {.name = {.bytes = name, .room_bytes = sizeof name}};
    struct jaywalk_class_info klass = {.name = {.bytes = type, .room_bytes = sizeof type}};

    if (method != 0 && jaywalk_method_info(method, &info) == JAYWALK_OK)
        (void)jaywalk_class_info(info.klass, &klass);
    if (method != 0)
        printf(" %s.%s", type, name);
}

static void print_told(const struct told *one)
{
    printf("WRONG %s at %#lx: %s", fault_texts[one->fault], one->pc, name_of(one->pc));
    printf("; before %#lx: %s; result %d, before %d\n ", one->last_pc, name_of(one->last_pc),
           one->result, one->last_count);
    for (int i = 0; i < 4; i++)
        print_method(one->methods[i]);
    printf(" <-");
    for (int i = 0; i < 4; i++)
        print_method(one->last_methods[i]);
    printf("\n  code");
    print_bytes(one->before, sizeof one->before);
    printf(" |");
    print_bytes(one->behind, sizeof one->behind);
    printf("\n  sp %#lx fp %#lx r13 %#lx rax %#lx; stack:\n", one->sp, one->fp, one->r13, one->rax);
    for (int i = 0; i < WORDS; i++)
        printf("   +%d %#lx %s\n", i * 8, one->words[i],
               one->words[i] >= code_begin && one->words[i] < code_end ? name_of(one->words[i])
                                                                       : "");
}

/* ------------------------------------------------------------------------------------------------------------------------------- */

/* The mapping of the code cache around all that was told of it. */
static void find_code(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t begin, end;
        char flags[8], path[256] = "";

        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &begin, &end, flags, path) >= 3 &&
            flags[2] == 'x' && path[0] == 0) {
            code_begin = code_begin == 0 || begin < code_begin ? begin : code_begin;
            code_end = end > code_end ? end : code_end;
        }
    }
    if (maps != NULL)
        fclose(maps);
}

JNIEXPORT jboolean JNICALL Java_Steps_open(JNIEnv *jni, jclass self);
JNIEXPORT jboolean JNICALL Java_Steps_open(JNIEnv *jni, jclass self)
{
    char why[JAYWALK_REASON_BYTES] = "";
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};

    (void)self;
    if (jaywalk_stacks_open(jni, why, sizeof why) != JAYWALK_OK) {
        printf("not opened: %s\n", why);
        return JNI_FALSE;
    }
    list_stubs(jni);
    sigaction(SIGTRAP, &action, NULL);
    return JNI_TRUE;
}

JNIEXPORT void JNICALL Java_Steps_begin(JNIEnv *jni, jclass self, jboolean is_held_to_last);
JNIEXPORT void JNICALL Java_Steps_begin(JNIEnv *jni, jclass self, jboolean is_held_to_last)
{
    (void)jni;
    (void)self;
    find_code();
    state.last_count = 0;
    state.is_held_to_last = is_held_to_last;
    state.root = 0;
    is_ending = 0;
    __asm__ volatile("pushfq; orq $0x100,(%%rsp); popfq" ::: "memory", "cc");
}

JNIEXPORT void JNICALL Java_Steps_end(JNIEnv *jni, jclass self);
JNIEXPORT void JNICALL Java_Steps_end(JNIEnv *jni, jclass self)
{
    (void)jni;
    (void)self;
    is_ending = 1;
    __asm__ volatile("nop; nop; nop" ::: "memory");
}

JNIEXPORT void JNICALL Java_Steps_tell(JNIEnv *jni, jclass self);
JNIEXPORT void JNICALL Java_Steps_tell(JNIEnv *jni, jclass self)
{
    (void)jni;
    (void)self;
    for (int i = 0; i < told_count; i++)
        print_told(&told[i]);
    printf("steps %ld\nin Java %ld\nwalked %ld\nleft behind %ld\n", state.steps, state.java_steps,
           state.walked, state.left);
    for (int i = 0; i < FAULTS; i++)
        printf("%s %ld\n", fault_texts[i], state.faults[i]);
    fflush(stdout);
}
