/* Code in anonymous memory, without name or unwind tables: with a frame, without, with data in the frame pointer. It
 * calls Java, other such code, and is gone afterwards. */
#include "chaos.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "registers.h"

#define PAGE  4096
#define SPINS 20000

typedef uint64_t code_function(uint64_t (*function)(void *), void *argument, uint64_t spins);

struct call {
    struct storm *storm;
    JNIEnv *env; /* NULL on threads that the JVM does not know */
    jmethodID up;
    jmethodID deep;
    code_function *code;
    jint number;
    int depth; /* further calls of the code before that of Java */
};

static uint64_t go_on(void *argument)
{
    struct call *call = argument;
    jint answer;

    if (call->depth > 0) {
        call->depth--;
        return call->code(go_on, call, SPINS);
    }
    if (call->env == NULL)
        return (uint64_t)call->number * 3 + 1;
    if (call->number & 1)
        answer =
            (*call->env)->CallStaticIntMethod(call->env, call->storm->java, call->up, call->number);
    else
        answer =
            (*call->env)
                ->CallStaticIntMethod(call->env, call->storm->java, call->deep, 40, call->number);
    return storm_has_thrown(call->storm, call->env, "up") ? 0 : (uint64_t)answer;
}

/* Memory that holds the code at some offset; NULL when the machine refuses. */
static code_function *make_code(enum registers_shape shape, uint64_t *random, uint8_t **page)
{
    const struct registers_code code = registers_code_of(shape);
    const size_t offset =
        (size_t)(chaos_random_below(random, (PAGE - code.length_bytes) / 16) * 16);
    const int readable = chaos_random_below(random, 4) == 0 ? 0 : PROT_READ;
    code_function *function;

    *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*page == MAP_FAILED)
        return NULL;
    memcpy(*page + offset, code.begin, code.length_bytes);
    __builtin___clear_cache((char *)*page, (char *)*page + PAGE);
    /* At times code that can be run and not be read. */
    if (mprotect(*page, PAGE, PROT_EXEC | readable) != 0) {
        const int error = errno;

        munmap(*page, PAGE);
        errno = error;
        return NULL;
    }
    *(void **)&function = *page + offset;
    return function;
}

/* m08: nobody but this thread knows where the code begins and what its frames are like. */
static bool turn(struct call *call, uint64_t *random)
{
    const enum registers_shape shape =
        (enum registers_shape)chaos_random_below(random, REGISTERS_SHAPES);
    uint64_t answer;
    uint8_t *page;

    call->code = make_code(shape, random, &page);
    if (call->code == NULL) {
        storm_skipped(call->storm, "no executable memory: %s", strerror(errno));
        return false;
    }
    call->number = (jint)chaos_random_below(random, 1000000);
    call->depth = (int)chaos_random_below(random, 8);
    answer = call->code(go_on, call, SPINS);
    munmap(page, PAGE);
    STORM_EXPECT(call->storm, answer == (uint64_t)call->number * 3 + 1,
                 "generated code gives %lu for %d", (unsigned long)answer, call->number);
    storm_did(call->storm, 1);
    return true;
}

static void *churn(void *argument)
{
    struct storm *storm = argument;
    uint64_t random = storm_seed(storm);
    struct call call = {.storm = storm};
    const bool is_attached = random & 2;

    if (is_attached &&
        (*storm->vm)->AttachCurrentThreadAsDaemon(storm->vm, (void **)&call.env, NULL) != JNI_OK) {
        storm_violated(storm, "AttachCurrentThreadAsDaemon failed");
        return NULL;
    }
    if (is_attached) {
        call.up = (*call.env)->GetStaticMethodID(call.env, storm->java, "up", "(I)I");
        call.deep = (*call.env)->GetStaticMethodID(call.env, storm->java, "deep", "(II)I");
    }
    while (storm_goes_on(storm) && turn(&call, &random))
        if (chaos_random_below(&random, 10) == 0)
            chaos_sleep_us(2000);
    if (is_attached)
        (*storm->vm)->DetachCurrentThread(storm->vm);
    return NULL;
}

void generated_round(struct storm *storm)
{
    if (!registers_are_here()) {
        storm_skipped(storm, "no assembly for this machine");
        return;
    }
    storm_threads(storm, 2 * storm->intensity, churn, storm);
}
