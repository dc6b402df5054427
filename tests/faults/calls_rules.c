/*
 * calls_rules - what becomes of a call that jaywalk makes of the outside (calls.c, calls_jvm.c): rules and counts.
 *
 * JW_FAULTS_RULES: what shall go wrong, `function:WHAT[@N[+]][/PLACE][~P]` each, separated by commas:
 *
 *     write:ENOSPC@7        the seventh call fails        write:SHORT@3+   the third and all that follow: half of it
 *     write:KILL@9          SIGKILL before the ninth      write:TORN@9     SIGKILL when half of it, or all, was done:
 *                                                         into a file, whole pages, as the kernel does it
 *     pwrite:STOP@4         SIGSTOP before the fourth     read:SLOW200@1   200 ms before the first
 *     clock_gettime:JUMP-3600@2    the time of day is an hour earlier, from the second on
 *     mmap:ENOMEM~100       one call of a hundred, by chance;  seed=5 is a rule that says by which
 *     open:EMFILE@1/3fa81c02   the first call from this place, which is a hash of the ways through jaywalk
 *
 * The functions are those of calls.def; those of the JVM (calls_jvm.c) are `jvmti.GetStackTrace`, `jni.FindClass`,
 * `vm.AttachCurrentThreadAsDaemon`. System calls without a function of libc go by their own names: timer_create.
 *
 * JW_FAULTS_COUNT names a file for how often each place called each function, `function place count errors +offset...`
 * each line, written at the end of the process. JW_FAULTS_TOLD names a file for what was done, a line each, which is
 * there after SIGKILL, too: unused bytes are 0.
 *
 * Context: any, handler: wherever the product calls.
 */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/jw.h"

#define RULES_MAX   8
#define PLACES_MAX  4096u /* a power of two */
#define OFFSETS_MAX 4
#define FRAME_WORDS 8192
#define TOLD_BYTES  65536u
#define SLOW_MS     300
#define NS_PER_MS   1000000L
#define LINE_BYTES  192
#define HASH_BEGIN  UINT32_C(2166136261)
#define HASH_STEP   UINT32_C(16777619)

/* Not those that stand between. */
int __real_close(int file);
int __real_fclose(FILE *file);
FILE *__real_fopen(const char *path, const char *mode);
int __real_ftruncate(int file, off_t bytes);
int __real_kill(pid_t process, int number);
void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t from);
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __real_open(const char *path, int flags, ...);
int __real_poll(struct pollfd *files, nfds_t count, int time);
ssize_t __real_write(int file, const void *bytes, size_t length);

/* ---- rules ---- */

enum kind { KIND_ERROR, KIND_SHORT, KIND_TORN, KIND_KILL, KIND_STOP, KIND_SLOW, KIND_JUMP };

struct rule {
    char function[40];
    enum kind kind;
    char what[16];
    int64_t value; /* errno, milliseconds or seconds */
    uint64_t at;   /* 0: each one */
    bool goes_on;
    uint32_t place; /* 0: any */
    uint64_t one_of;
    _Atomic uint64_t calls;
};

static struct rule rules[RULES_MAX];
static uint32_t rule_count;
static _Atomic uint64_t chance = 1;

struct place {
    _Atomic uint32_t hash;
    _Atomic uint32_t offset_count; /* 0: not written yet */
    _Atomic uint64_t calls;
    const char *name, *errors;
    uint32_t offsets[OFFSETS_MAX];
};

static struct place places[PLACES_MAX];
static bool is_counting;
static char *told; /* a mapped file */
static _Atomic uint64_t told_bytes;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[];

static const struct {
    const char *name;
    int number;
} errors_known[] = {
#define KNOWN(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
    KNOWN(EACCES), KNOWN(EAGAIN), KNOWN(ECHILD), KNOWN(ECONNREFUSED), KNOWN(ECONNRESET),
    KNOWN(EFBIG),  KNOWN(EINTR),  KNOWN(EINVAL), KNOWN(EIO),          KNOWN(EMFILE),
    KNOWN(ENOENT), KNOWN(ENOMEM), KNOWN(ENOSPC), KNOWN(ENOSYS),       KNOWN(EPERM),
    KNOWN(EPIPE),  KNOWN(ESPIPE), KNOWN(ESRCH),  KNOWN(EDQUOT),       KNOWN(EOVERFLOW),
    KNOWN(EROFS),
};

/* A rule that means nothing is the end: a sweep must not pass because nothing went wrong. */
static void refuse(const char *rule)
{
    static const char text[] = "faults: a rule that means nothing: ";

    (void)!__real_write(STDERR_FILENO, text, sizeof text - 1);
    (void)!__real_write(STDERR_FILENO, rule, strlen(rule));
    (void)!__real_write(STDERR_FILENO, "\n", 1);
    _exit(99);
}

static void read_what(struct rule *rule, const char *text)
{
    snprintf(rule->what, sizeof rule->what, "%s", text);
    if (strcmp(text, "SHORT") == 0)
        rule->kind = KIND_SHORT;
    else if (strcmp(text, "TORN") == 0)
        rule->kind = KIND_TORN;
    else if (strcmp(text, "KILL") == 0)
        rule->kind = KIND_KILL;
    else if (strcmp(text, "STOP") == 0)
        rule->kind = KIND_STOP;
    else if (strncmp(text, "SLOW", 4) == 0) {
        rule->kind = KIND_SLOW;
        rule->value = text[4] == '\0' ? SLOW_MS : strtol(text + 4, NULL, 10);
    } else if (strncmp(text, "JUMP", 4) == 0) {
        rule->kind = KIND_JUMP;
        rule->value = strtol(text + 4, NULL, 10);
        rule->goes_on = true;
    } else {
        rule->kind = KIND_ERROR;
        for (size_t i = 0; i < JW_COUNT_OF(errors_known); i++)
            if (strcmp(text, errors_known[i].name) == 0)
                rule->value = errors_known[i].number;
        if (rule->value == 0)
            refuse(text);
    }
}

/* From the back: ~P, /PLACE, @N[+], :WHAT. */
static void read_rule(char *text)
{
    struct rule *rule = &rules[rule_count];
    char *found;

    if (strncmp(text, "seed=", 5) == 0) {
        jw_store_relaxed(&chance, strtoull(text + 5, NULL, 10) * 2 + 1);
        return;
    }
    if (rule_count == RULES_MAX)
        refuse("too many");
    if ((found = strchr(text, '~')) != NULL) {
        *found = '\0';
        rule->one_of = strtoull(found + 1, NULL, 10);
    }
    if ((found = strchr(text, '/')) != NULL) {
        *found = '\0';
        rule->place = (uint32_t)strtoul(found + 1, NULL, 16);
    }
    if ((found = strchr(text, '@')) != NULL) {
        *found = '\0';
        rule->at = strtoull(found + 1, NULL, 10);
        rule->goes_on = strchr(found + 1, '+') != NULL;
    }
    if ((found = strchr(text, ':')) == NULL)
        refuse(text);
    *found = '\0';
    snprintf(rule->function, sizeof rule->function, "%s", text);
    read_what(rule, found + 1);
    rule_count++;
}

static void open_told(const char *path)
{
    const int file = __real_open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (file < 0 || __real_ftruncate(file, TOLD_BYTES) != 0)
        refuse(path);
    told = __real_mmap(NULL, TOLD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    __real_close(file);
}

__attribute__((constructor)) static void read_rules(void)
{
    static char text[1024];
    const char *wanted = getenv("JW_FAULTS_RULES");
    char *state = NULL;

    is_counting = getenv("JW_FAULTS_COUNT") != NULL;
    if (getenv("JW_FAULTS_TOLD") != NULL)
        open_told(getenv("JW_FAULTS_TOLD"));
    if (wanted == NULL)
        return;
    snprintf(text, sizeof text, "%s", wanted);
    for (char *rule = strtok_r(text, ",", &state); rule != NULL; rule = strtok_r(NULL, ",", &state))
        read_rule(rule);
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("JW_FAULTS_COUNT");
    FILE *out = path == NULL ? NULL : __real_fopen(path, "a");

    if (out == NULL)
        return;
    for (uint32_t i = 0; i < PLACES_MAX; i++) {
        const struct place *place = &places[i];
        const uint32_t count = jw_load_acquire(&place->offset_count);

        if (count == 0)
            continue;
        fprintf(out, "%s %08x %llu %s", place->name, jw_load_relaxed(&place->hash),
                (unsigned long long)jw_load_relaxed(&place->calls), place->errors);
        for (uint32_t k = 0; k + 1 < count; k++)
            fprintf(out, " +%x", place->offsets[k]);
        fprintf(out, "\n");
    }
    (void)__real_fclose(out);
}

/* ---- a call ---- */

/* The ways through jaywalk that led here: each return address in our text has a frame of ours below it, and so a
 * frame pointer that can be followed; the demangler of libiberty has none, and what it leaves there is no stack. */
static uint32_t find_place(const char *name, void *frame, uint32_t offsets[OFFSETS_MAX],
                           uint32_t *count)
{
    const uintptr_t text_begin = (uintptr_t)__ehdr_start;
    const uintptr_t text_end = (uintptr_t)etext;
    uint32_t hash = HASH_BEGIN;

    *count = 0;
    for (const char *at = name; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * HASH_STEP;
    for (const uintptr_t *at = frame, *from = at - 1;
         *count < OFFSETS_MAX && at > from && at - from < FRAME_WORDS &&
         (uintptr_t)at % sizeof *at == 0;
         from = at, at = (const uintptr_t *)at[0]) {
        if (at[1] < text_begin || at[1] >= text_end)
            break;
        const uint32_t offset = (uint32_t)(at[1] - text_begin);

        offsets[(*count)++] = offset;
        hash = (hash ^ offset) * HASH_STEP;
        hash ^= hash >> 15;
    }
    return hash | 1;
}

static void count_place(const char *name, const char *errors, uint32_t hash,
                        const uint32_t *offsets, uint32_t count)
{
    for (uint32_t i = 0; i < PLACES_MAX; i++) {
        struct place *place = &places[(hash + i) & (PLACES_MAX - 1)];
        uint32_t known = 0;

        if (jw_cas_relaxed(&place->hash, &known, hash)) {
            place->name = name;
            place->errors = errors[0] == '\0' ? "-" : errors;
            memcpy(place->offsets, offsets, count * sizeof offsets[0]);
            jw_store_release(&place->offset_count, count + 1);
            known = hash;
        }
        if (known == hash) {
            jw_add_relaxed(&place->calls, 1);
            return;
        }
    }
}

static uint64_t draw(void)
{
    uint64_t random = jw_add_relaxed(&chance, 0x9e3779b97f4a7c15u);

    random = (random ^ random >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    random = (random ^ random >> 27) * UINT64_C(0x94d049bb133111eb);
    return random ^ random >> 31;
}

static bool holds(struct rule *rule, const char *name, uint32_t place)
{
    if (strcmp(rule->function, name) != 0 || (rule->place != 0 && rule->place != place))
        return false;
    if (rule->one_of != 0)
        return draw() % rule->one_of == 0;
    const uint64_t number = jw_add_relaxed(&rule->calls, 1) + 1;
    return rule->at == 0 || number == rule->at || (rule->goes_on && number > rule->at);
}

static void tell(const struct rule *rule, uint32_t place, const uint32_t *offsets, uint32_t count)
{
    char line[LINE_BYTES];
    const int error = errno;

    if (told == NULL)
        return;
    int length = snprintf(line, sizeof line, "%s:%s/%08x", rule->function, rule->what, place);
    for (uint32_t i = 0; i < count; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " +%x", offsets[i]);
    line[length++] = '\n';
    const uint64_t at = jw_add_relaxed(&told_bytes, (uint64_t)length);
    if (at + (uint64_t)length <= TOLD_BYTES)
        memcpy(told + at, line, (size_t)length);
    errno = error;
}

void calls_die(void)
{
    (void)__real_kill(getpid(), SIGKILL);
    for (;;)
        (void)__real_poll(NULL, 0, 1000);
}

bool calls_have_rules(void)
{
    return rule_count != 0;
}

static void wait_ms(int64_t time_ms)
{
    struct timespec left = {.tv_sec = time_ms / 1000, .tv_nsec = time_ms % 1000 * NS_PER_MS};

    while (__real_nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static struct calls_fate do_rule(const struct rule *rule)
{
    const int error = errno;
    struct calls_fate fate = {.what = CALLS_GOES_ON};

    switch (rule->kind) {
    case KIND_ERROR:
        fate.what = CALLS_FAILS;
        fate.error = (int)rule->value;
        break;
    case KIND_SHORT:
        fate.what = CALLS_IS_SHORT;
        break;
    case KIND_TORN:
        fate.what = CALLS_IS_TORN;
        break;
    case KIND_KILL:
        calls_die();
        break;
    case KIND_STOP:
        (void)__real_kill(getpid(), SIGSTOP);
        break;
    case KIND_SLOW:
        wait_ms(rule->value);
        break;
    case KIND_JUMP:
        fate.what = CALLS_JUMPS;
        fate.seconds = rule->value;
        break;
    }
    errno = error;
    return fate;
}

struct calls_fate calls_next(const char *name, const char *errors, void *frame)
{
    uint32_t offsets[OFFSETS_MAX];
    uint32_t count;

    if (!is_counting && rule_count == 0)
        return (struct calls_fate){.what = CALLS_GOES_ON};
    const uint32_t place = find_place(name, frame, offsets, &count);
    if (is_counting)
        count_place(name, errors, place, offsets, count);
    for (uint32_t i = 0; i < rule_count; i++) {
        if (!holds(&rules[i], name, place))
            continue;
        tell(&rules[i], place, offsets, count);
        return do_rule(&rules[i]);
    }
    return (struct calls_fate){.what = CALLS_GOES_ON};
}
