/* Handlers of classes: each end is told once, to all, while its ids are valid; and who is removed is called no more. */
#include "asker.h"
#include "rules.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define NUMBERS_MAX 1000000

/* How often a class of the workload was unloaded, of loaders (0) and hidden ones (1). */
static atomic_uchar unloaded[2][NUMBERS_MAX];

static atomic_int is_stopping, is_started;
static pthread_t remover;

/* Handlers but for the first: what they are told is counted. */
static struct listener {
    atomic_long calls;
    atomic_int is_inside;
    atomic_int is_removed;
} same_as_first, self_removed, transient_listener;

int ends_of(int is_hidden, int number)
{
    return number < 0 || number >= NUMBERS_MAX ? -1
                                               : atomic_load(&unloaded[is_hidden != 0][number]);
}

static void end_method(const struct jaywalk_class_event *event, jaywalk_method method, unsigned now)
{
    struct answers answers;
    int is_class_gone, state;
    struct kept *kept = kept_add(method);
    struct jaywalk_method_info info = {0};

    count(METHODS_ENDED);
    if (kept == NULL)
        return;
    if (atomic_exchange(&kept->told_in, now) != 0)
        wrong("the end of a method is told twice", kept->first.class_name, kept->first.name,
              method);
    if (answers_ask(method, &answers, &is_class_gone) != JAYWALK_OK) {
        wrong("a method is gone while its end is told", kept->first.class_name, kept->first.name,
              method);
        return;
    }
    if (answers.klass != event->klass)
        wrong("a method of another class ends", answers.class_name, answers.name, event->klass);
    state = atomic_load(&kept->state);
    if (state == KEPT_READY && !answers_equal(&kept->first, &answers))
        wrong("another name at the end", kept->first.class_name, answers.class_name, method);
    if (rules_wrong_frame(answers.class_name, answers.name, -1) != NULL)
        wrong("a wrong name at the end", answers.class_name, answers.name, method);
    if (event->is_redefined &&
        (jaywalk_method_info(method, &info) != JAYWALK_OK || info.is_obsolete != 1))
        wrong("code was replaced, and is not obsolete", answers.class_name, answers.name, method);
}

/* The first that is told: of what was told before, no handler hears any more. */
static void on_class(const struct jaywalk_class_event *event, void *argument)
{
    char name[160] = "";
    struct jaywalk_class_info info = {.name = {name, sizeof name, 0}};
    struct kept_class *kept = kept_class_add(event->klass);
    int number = -1;

    (void)argument;
    atomic_store(&event_over, atomic_load(&event_now));
    const unsigned now = atomic_fetch_add(&event_now, 1) + 1;
    count(event->is_redefined ? REDEFINITIONS : UNLOADS);
    if (jaywalk_class_info(event->klass, &info) != JAYWALK_OK ||
        jaywalk_class_idnum(event->klass) == 0)
        wrong("a class is gone while its end is told", name, NULL, event->klass);
    if ((event->method_count == 0) != (event->methods == NULL))
        wrong("methods without number", name, NULL, event->method_count);
    if (event->is_redefined && event->method_count == 0)
        wrong("nothing was redefined", name, NULL, event->klass);
    const char family = rules_family(name, &number);
    if (event->is_redefined && family != 'R')
        wrong("another class was redefined", name, NULL, event->klass);
    if (kept != NULL && atomic_load(&kept->unloaded_in) != 0)
        wrong("a class ends twice", name, NULL, event->klass);
    if (kept != NULL && !event->is_redefined)
        atomic_store(&kept->unloaded_in, now);
    if (!event->is_redefined && (family == 'C' || family == 'H') && number < NUMBERS_MAX &&
        atomic_fetch_add(&unloaded[family == 'H'][number], 1) != 0)
        wrong("a class ends twice, by its name", name, NULL, event->klass);
    for (size_t i = 0; i < event->method_count; i++)
        end_method(event, event->methods[i], now);
}

static void on_other(const struct jaywalk_class_event *event, void *argument)
{
    const struct timespec nap = {0, 300000};
    struct listener *listener = argument;
    struct jaywalk_class_info info = {0};

    atomic_store(&listener->is_inside, 1);
    if (atomic_load(&listener->is_removed))
        wrong("a handler is called after its removal", NULL, NULL, event->klass);
    if (jaywalk_class_info(event->klass, &info) != JAYWALK_OK)
        wrong("a class is gone while its end is told to others", NULL, NULL, event->klass);
    const long calls = atomic_fetch_add(&listener->calls, 1) + 1;
    if (listener == &transient_listener && calls % 8 == 0)
        nanosleep(&nap, NULL);
    if (listener == &self_removed && calls == 3) {
        if (jaywalk_class_handler_remove(on_other, listener) != JAYWALK_OK)
            wrong("a handler does not remove itself", NULL, NULL, event->klass);
        atomic_store(&listener->is_removed, 1);
    }
    atomic_store(&listener->is_inside, 0);
}

/* Comes and goes, on a thread that is no thread of the JVM. */
static void *remove_and_add(void *argument)
{
    const struct timespec rest = {0, 15000000};

    while (!atomic_load(&is_stopping)) {
        atomic_store(&transient_listener.is_removed, 0);
        if (jaywalk_class_handler_add(on_other, &transient_listener) != JAYWALK_OK)
            wrong("a handler is not added again", NULL, NULL, 0);
        nanosleep(&rest, NULL);
        if (jaywalk_class_handler_remove(on_other, &transient_listener) != JAYWALK_OK)
            wrong("a handler is not removed", NULL, NULL, 0);
        if (atomic_load(&transient_listener.is_inside))
            wrong("a handler runs on after its removal", NULL, NULL, 0);
        atomic_store(&transient_listener.is_removed, 1);
        nanosleep(&rest, NULL);
    }
    return argument;
}

static void add(jaywalk_class_handler *handler, void *argument)
{
    const int result = jaywalk_class_handler_add(handler, argument);

    if (result != JAYWALK_OK)
        wrong("a handler is not added", NULL, NULL, (uint64_t)result);
}

void ends_start(void)
{
    add(on_class, NULL);
    add(on_other, &same_as_first);
    add(on_other, &self_removed);
    if (pthread_create(&remover, NULL, remove_and_add, NULL) == 0)
        atomic_store(&is_started, 1);
}

void ends_stop(void)
{
    atomic_store(&is_stopping, 1);
    if (atomic_load(&is_started))
        pthread_join(remover, NULL);
    /* In this order the second is told of at least what the first is. */
    if (jaywalk_class_handler_remove(on_class, NULL) != JAYWALK_OK ||
        jaywalk_class_handler_remove(on_other, &same_as_first) != JAYWALK_OK)
        wrong("a handler is not removed at the end", NULL, NULL, 0);
    if (jaywalk_class_handler_remove(on_class, NULL) != JAYWALK_BAD_ARGUMENT)
        wrong("a handler is removed twice", NULL, NULL, 0);
    atomic_store(&figures[TRANSIENT_CALLS], atomic_load(&transient_listener.calls));
    if (atomic_load(&same_as_first.calls) < (long)atomic_load(&event_now))
        wrong("one handler is told more than the other", NULL, NULL,
              (uint64_t)atomic_load(&same_as_first.calls));
    if (atomic_load(&event_now) > 3 && atomic_load(&self_removed.calls) != 3)
        wrong("the handler that removes itself", NULL, NULL,
              (uint64_t)atomic_load(&self_removed.calls));
}
