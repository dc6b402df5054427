/* The agent: asks in handlers of signals of its own, each millisecond of CPU time. */
#include "asker.h"
#include "rules.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define DEPTH       48
#define ERRNO_MARK  12345
#define NEST_SIGNAL (SIGRTMIN + 3)

void report(FILE *out);

jvmtiEnv *asker_jvmti;
static const char *report_path;
static JavaVM *asker_vm;

/* What is true of each stack, whoever asked for it. */
static int check_result(int result, int depth, enum figure broken)
{
    /* Blocked: in the middle of the handler of ours that is installed with SIGSEGV, or SIGBUS, in its mask. */
    if (result > depth || (result < 0 && result != JAYWALK_BROKEN && result != JAYWALK_BLOCKED))
        wrong("a walk answers what it may not here", NULL, NULL, (uint64_t)result);
    if (result == 0)
        count(NO_JAVA);
    if (result == JAYWALK_BROKEN || result == JAYWALK_BLOCKED)
        count(broken);
    return result > 0 && result <= depth ? result : 0;
}

/* The line, 0: none is known. */
static int check_line(const struct jaywalk_frame *frame, const struct answers *answers)
{
    const int line = jaywalk_method_line(frame->method, frame->bci);
    int number;
    const char family = rules_family(answers->class_name, &number);
    const char *problem;

    if (line == JAYWALK_GONE) {
        check_told(frame->method, "line");
        return 0;
    }
    if (line < 0)
        wrong("no line", answers->class_name, answers->name, (uint64_t)line);
    problem = rules_wrong_frame(answers->class_name, answers->name, frame->bci < 0 ? -1 : line);
    if (problem != NULL)
        wrong(problem, answers->class_name, answers->name, (uint64_t)line);
    count(FRAMES);
    if (family != 0 && answers->is_hidden != (family == 'H'))
        wrong("hidden or not", answers->class_name, NULL, answers->is_hidden);
    if (family != 0)
        count(family == 'C'   ? SHORT_LIVED_FRAMES
              : family == 'H' ? HIDDEN_FRAMES
                              : REDEFINED_FRAMES);
    return line > 0 ? line : 0;
}

/* Asks afresh, and holds it against what was told at first. 1: it has a name. */
static int look_at(const struct jaywalk_frame *frame, struct answers *answers, unsigned over,
                   struct rules_frame *out)
{
    int is_class_gone, state = KEPT_EMPTY, result;
    struct kept *kept;

    if (frame->method == 0) {
        count(UNTOLD_METHODS);
        return 0;
    }
    if (frame->tier > JAYWALK_NATIVE || (frame->bci == -3) != (frame->tier == JAYWALK_NATIVE))
        wrong("a frame that cannot be", NULL, NULL, (uint64_t)frame->bci << 32 | frame->tier);
    kept = kept_add(frame->method);
    if (kept == NULL)
        return 0;
    const unsigned told_in = atomic_load(&kept->told_in);
    if (told_in != 0 && told_in <= over)
        wrong("an id is given after its end", kept->first.class_name, kept->first.name,
              frame->method);
    result = answers_ask(frame->method, answers, &is_class_gone);
    if (is_class_gone)
        wrong("a class on the stack is gone", answers->name, NULL, answers->klass);
    if (result == JAYWALK_GONE) {
        count(GONE_AT_ONCE);
        check_told(frame->method, "in the handler");
        return 0;
    }
    if (result != JAYWALK_OK) {
        wrong("no name", NULL, NULL, (uint64_t)result);
        return 0;
    }
    if (atomic_compare_exchange_strong(&kept->state, &state, KEPT_WRITTEN)) {
        kept->first = *answers;
        atomic_store(&kept->state, KEPT_READY);
    } else if (state == KEPT_READY && !answers_equal(&kept->first, answers)) {
        wrong("another name in the handler", kept->first.class_name, answers->class_name,
              frame->method);
    }
    *out = (struct rules_frame){answers->class_name, answers->name, check_line(frame, answers)};
    return 1;
}

static void on_sigprof(int signo, siginfo_t *info, void *ucontext)
{
    const int saved = errno;
    const unsigned over = atomic_load(&event_over);
    struct jaywalk_frame frames[DEPTH];
    struct answers answers[2];
    struct rules_frame named[2];
    int has_name[2] = {0, 0};
    unsigned flags = ~0u;

    (void)signo;
    (void)info;
    errno = ERRNO_MARK;
    const int frame_count =
        check_result(jaywalk_stack_walk(ucontext, frames, DEPTH, &flags), DEPTH, BROKEN);
    count(SAMPLES);
    for (int i = 0; i < frame_count; i++) {
        const char *problem = NULL;

        has_name[i & 1] = look_at(&frames[i], &answers[i & 1], over, &named[i & 1]);
        if (i > 0 && has_name[0] && has_name[1])
            problem = rules_wrong_call(&named[i & 1], &named[~i & 1]);
        if (problem != NULL)
            wrong(problem, answers[i & 1].name, answers[~i & 1].name,
                  (uint64_t)named[i & 1].line << 32 | (unsigned)named[~i & 1].line);
    }
    if (errno != ERRNO_MARK)
        wrong("errno is another one", NULL, NULL, (uint64_t)errno);
    errno = saved;
}

/*
 * By a timer of its own: where both end at the same tick, it comes at the first instruction of the other handler, a place from which no
 * stack can be walked; and now and then while the other asks.
 */
static void on_nested(int signo, siginfo_t *info, void *ucontext)
{
    struct jaywalk_frame frames[DEPTH];
    struct answers answers;
    int is_class_gone;

    (void)signo;
    (void)info;
    count(NESTED);
    if (check_result(jaywalk_stack_walk(ucontext, frames, DEPTH, NULL), DEPTH, NESTED_BROKEN) > 0 &&
        frames[0].method != 0 &&
        answers_ask(frames[0].method, &answers, &is_class_gone) == JAYWALK_GONE)
        check_told(frames[0].method, "nested");
}

static void tick(int is_on)
{
    static timer_t nested;
    const struct itimerval each = {{0, is_on ? 1000 : 0}, {0, is_on ? 1000 : 0}};
    const struct itimerspec other = {{0, is_on ? 1700000 : 0}, {0, is_on ? 1700000 : 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = NEST_SIGNAL};

    if (is_on && timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &nested) != 0)
        wrong("no timer", NULL, NULL, (uint64_t)errno);
    setitimer(ITIMER_PROF, &each, NULL);
    timer_settime(nested, 0, &other, NULL);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    struct sigaction action = {.sa_sigaction = on_sigprof, .sa_flags = SA_SIGINFO | SA_RESTART};
    char why[JAYWALK_REASON_BYTES] = "";

    (void)thread;
    errors_before();
    for (int i = 0; i < 2; i++) {
        const int result = jaywalk_stacks_open(jni, why, sizeof why);

        if (result != JAYWALK_OK) {
            wrong("not opened", why, NULL, (uint64_t)result);
            return;
        }
    }
    errors_after();
    ends_start();
    again_start(asker_vm, jvmti);
    sigaction(SIGPROF, &action, NULL);
    action.sa_sigaction = on_nested;
    sigaction(NEST_SIGNAL, &action, NULL);
    tick(1);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
    FILE *out = fopen(report_path, "we");

    (void)jvmti;
    (void)jni;
    tick(0);
    again_stop();
    ends_stop();
    check_due();
    if (out == NULL)
        return;
    report(out);
    fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    const jvmtiEventCallbacks callbacks = {.VMInit = on_vm_init, .VMDeath = on_vm_death};
    const jvmtiCapabilities wishes = {.can_get_line_numbers = 1};
    void *env = NULL;

    (void)reserved;
    asker_vm = vm;
    report_path = strdup(options);
    if ((*vm)->GetEnv(vm, &env, JVMTI_VERSION_1_1) != JNI_OK)
        return JNI_ERR;
    asker_jvmti = env;
    return (*asker_jvmti)->AddCapabilities(asker_jvmti, &wishes) != JVMTI_ERROR_NONE ||
                   (*asker_jvmti)->SetEventCallbacks(asker_jvmti, &callbacks, sizeof callbacks) !=
                       JVMTI_ERROR_NONE ||
                   (*asker_jvmti)
                           ->SetEventNotificationMode(asker_jvmti, JVMTI_ENABLE,
                                                      JVMTI_EVENT_VM_INIT,
                                                      NULL) != JVMTI_ERROR_NONE ||
                   (*asker_jvmti)
                           ->SetEventNotificationMode(asker_jvmti, JVMTI_ENABLE,
                                                      JVMTI_EVENT_VM_DEATH,
                                                      NULL) != JVMTI_ERROR_NONE
               ? JNI_ERR
               : JNI_OK;
}
