/*
 * Commands in line, and the agent's thread that does them; control and dump.
 *
 * The thread begins with the first command that needs it and ends when no session runs, nobody waits and no other agent
 * walks stacks. All
 * of the session belongs to it, so that commands need no lock but that of the line. Whoever sends a command
 * comes back at once; one who gets no answer but a number waits a moment for it.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "agent/agent.h"
#include "agent/probes.h"
#include "agent/stacks.h"
#include "base/atomics.h"
#include "base/clock.h"
#include "os/os_thread.h"
#include "signals/signals.h"

/* What exit of the JVM waits at most, all in all: for a session to end; and where that means that the graph is drawn which
 * the start named, and of which nothing is on disk before, or the agent's thread works, as far as it is let. */
#define END_WAIT_NS   (2 * JW_NS_PER_SECOND)
#define WRITE_WAIT_NS (10 * JW_NS_PER_SECOND)
/* So long the program waits for a session that begins with the JVM, beyond what it waits anyway, while that thread works. */
#define BEGIN_WORK_NS (20 * JW_NS_PER_SECOND)
/* It works where it did for a quarter of the time between two looks, of which the last is that long ago at most: who gets stuck is
 * waited for so long beyond. On a busy machine the waits for a processor of who only polls count as well. */
#define LOOK_NS       (JW_NS_PER_SECOND / 2)
#define WORK_SHARE    4
#define WORK_PAUSE_NS (2 * JW_NS_PER_SECOND)
#define OLD_WAIT_NS   JW_NS_PER_SECOND /* for the end of a thread that has nothing left to do */

enum place { PLACE_FREE, PLACE_WAITING, PLACE_AT_WORK, PLACE_DONE };

struct command {
    enum place place;
    enum states_command what;
    uint64_t number; /* of arrival */
    int answer;
    int code;
    bool is_awaited; /* the sender gives the place back */
    struct os_wake done;
    struct options options;
};

static struct {
    pthread_mutex_t lock; /* around all of this */
    enum states_state state;
    bool is_ending; /* the JVM ends: nothing is taken any more */
    bool has_thread;
    bool has_old_thread; /* that has ended, or is about to, and was not joined */
    uint64_t arrived;
    /* Those that wait, one at work, two whose end was not taken yet, and the end of the JVM. */
    struct command commands[COMMANDS_WAITING + 4];
    struct os_thread thread;
    _Atomic uint32_t is_over;    /* the end of the JVM waits for nothing more */
    _Atomic uint32_t is_at_work; /* it is waited for longer on that account. Relaxed: a hint */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t count_at(enum place place)
{
    size_t count = 0;

    for (size_t i = 0; i < JW_COUNT_OF(line.commands); i++)
        count += line.commands[i].place == place;
    return count;
}

static struct command *find_at(enum place place)
{
    struct command *first = NULL;

    for (size_t i = 0; i < JW_COUNT_OF(line.commands); i++) {
        struct command *command = &line.commands[i];

        if (command->place == place && (first == NULL || command->number < first->number))
            first = command;
    }
    return first;
}

static bool is_wanted(enum states_command what)
{
    for (size_t i = 0; i < JW_COUNT_OF(line.commands); i++) {
        if (line.commands[i].place == PLACE_WAITING && line.commands[i].what == what)
            return true;
    }
    return false;
}

/* ---- the agent's thread ---- */

/* It is known to the JVM, so that it may ask for modules and thread names; it is a daemon and never keeps the
 * JVM from ending. */
static JNIEnv *attach(void)
{
    static char name[] = "jaywalk";
    JavaVMAttachArgs arguments = {.version = JNI_VERSION_1_6, .name = name};
    JNIEnv *jni = NULL;

    if ((*agent.java_vm)->AttachCurrentThreadAsDaemon(agent.java_vm, (void **)&jni, &arguments) !=
        JNI_OK)
        return NULL;
    return jni;
}

static bool obey(JNIEnv *jni, enum states_command what, const struct options *options,
                 struct jw_error *err)
{
    switch (what) {
    case STATES_START:
    case STATES_RESUME:
        if (!run_begin(jni, options, what == STATES_RESUME, err))
            return false;
        probes_begin(jni, options);
        return true;
    case STATES_STOP:
        return run_stop(jni, options, err);
    case STATES_DUMP:
        return run_dump(jni, options, err);
    case STATES_TURN:
        return run_turn(jni, err);
    case STATES_OPEN:
        return stacks_open(jni, options, err);
    case STATES_PROBES:
        return probes_obey(jni, options, err);
    case STATES_END:
        if (run_settled() != STATES_RUNNING)
            return true;
        run_end(jni);
        return run_stop(jni, NULL, err);
    case STATES_ASK:
    case STATES_COMMAND_LIMIT:
        break;
    }
    return true;
}

/* What the session wants by itself is done like a command. */
static int carry_out(JNIEnv *jni, enum states_command what, const struct options *options)
{
    struct jw_error err = {0};

    if (obey(jni, what, options, &err))
        return 0;
    agent_log(OPTIONS_LOGLEVEL_ERROR, "%s%s",
              what == STATES_START || what == STATES_RESUME ? "profiling was not started: " : "",
              err.message);
    return COMMANDS_FAILED;
}

static void settle(enum states_command what)
{
    pthread_mutex_lock(&line.lock);
    line.state = what == STATES_END ? STATES_GONE : run_settled();
    copies_set_active(line.state == STATES_RUNNING);
    pthread_mutex_unlock(&line.lock);
}

static void finish(struct command *command, int code)
{
    pthread_mutex_lock(&line.lock);
    command->code = code;
    command->place = command->is_awaited ? PLACE_DONE : PLACE_FREE;
    pthread_mutex_unlock(&line.lock);
    os_wake_post(&command->done);
}

/* The next command that the state allows, which is then at work; `refused` is one that it does not. */
static struct command *next(struct command **refused, const char **why)
{
    *refused = NULL;
    pthread_mutex_lock(&line.lock);
    struct command *command = find_at(PLACE_WAITING);
    if (command != NULL) {
        const struct states_cell *cell = states_look(line.state, command->what);

        command->place = PLACE_AT_WORK;
        if (cell->verdict == STATES_DO) {
            line.state = cell->during;
            /* A stop that waits behind this start has taken it back already. */
            run_give_up(cell->during == STATES_STARTING &&
                        (is_wanted(STATES_STOP) || is_wanted(STATES_END)));
        } else {
            *refused = command;
            *why = cell->why;
            command = NULL;
        }
    }
    pthread_mutex_unlock(&line.lock);
    return command;
}

/* False: nobody waits. */
static bool serve_one(JNIEnv *jni)
{
    const char *why = NULL;
    struct command *refused;
    struct command *command = next(&refused, &why);
    int code = COMMANDS_FAILED;

    if (command == NULL && refused == NULL)
        return false;
    if (command != NULL) {
        answer_adopt(command->answer);
        code = carry_out(jni, command->what, &command->options);
        settle(command->what);
    } else {
        command = refused;
        answer_adopt(command->answer);
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", why);
    }
    /* The state is told before the answer: who has it may send the next command. */
    finish(command, code);
    answer_end(code);
    return true;
}

static void serve_session(JNIEnv *jni, enum states_command wish)
{
    pthread_mutex_lock(&line.lock);
    const struct states_cell *cell = states_look(line.state, wish);
    const bool is_allowed = cell->verdict == STATES_DO;
    if (is_allowed)
        line.state = cell->during;
    pthread_mutex_unlock(&line.lock);
    if (!is_allowed)
        return;
    (void)carry_out(jni, wish, NULL);
    settle(wish);
}

static bool may_leave(void)
{
    pthread_mutex_lock(&line.lock);
    const bool has_nothing = count_at(PLACE_WAITING) == 0;
    if (has_nothing) {
        line.has_thread = false;
        line.has_old_thread = true;
    }
    pthread_mutex_unlock(&line.lock);
    return has_nothing;
}

/* Without a session. */
static bool is_needed(void)
{
    return (stacks_are_open() || probes_are_any()) && commands_state() != STATES_GONE;
}

static void body(void *argument)
{
    (void)argument;
    do {
        JNIEnv *jni = attach();

        sources_set_jni(jni);
        for (;;) {
            if (serve_one(jni))
                continue;
            if (run_settled() != STATES_RUNNING) {
                if (!is_needed())
                    break;
                if (stacks_are_open())
                    stacks_serve();
                else
                    run_rest(PROBES_WAIT_NS);
                probes_turn(jni);
                continue;
            }
            const enum states_command wish = run_work(jni);
            probes_turn(jni);
            if (wish != STATES_COMMAND_LIMIT)
                serve_session(jni, wish);
        }
        sources_set_jni(NULL);
        if (jni != NULL)
            (*agent.java_vm)->DetachCurrentThread(agent.java_vm);
    } while (!may_leave());
}

/* The lock is held. */
static bool join_old(uint64_t deadline_ns)
{
    if (line.has_old_thread && os_thread_join(&line.thread, deadline_ns))
        line.has_old_thread = false;
    return !line.has_old_thread;
}

/* The lock is held. */
static bool ensure_thread(struct jw_error *err)
{
    if (line.has_thread)
        return true;
    if (!join_old(jw_now_ns() + OLD_WAIT_NS)) {
        jw_error_set(err, "the agent's last thread has not ended yet; try again");
        return false;
    }
    line.has_thread = os_thread_start(&line.thread, AGENT_THREAD_NAME, body, NULL, err);
    return line.has_thread;
}

/* ---- whoever sends a command ---- */

/* The lock is held. NULL: refused, and `code` and `err` say why. */
static struct command *take_place(enum states_command what, int *code, struct jw_error *err)
{
    const struct states_cell cell =
        states_arrive(line.is_ending ? STATES_GONE : line.state, what, count_at(PLACE_WAITING));
    struct command *command = find_at(PLACE_FREE);

    *code = COMMANDS_FAILED;
    if (cell.verdict == STATES_REFUSE) {
        jw_error_set(err, "%s", cell.why);
        return NULL;
    }
    if (command == NULL || count_at(PLACE_WAITING) >= COMMANDS_WAITING) {
        jw_error_set(err, "%d commands wait already; try again when they are done",
                     COMMANDS_WAITING);
        *code = COMMANDS_BUSY;
        return NULL;
    }
    if (!ensure_thread(err))
        return NULL;
    if (cell.verdict == STATES_GIVE_UP)
        run_give_up(true);
    return command;
}

/* The agent's thread, as whoever waits for it looks at it. */
struct work {
    uint64_t wanted_ns; /* os_thread_wanted_cpu_ns of the last look that was told; 0: none was */
    uint64_t looked_ns; /* when that was */
    uint64_t seen_ns;   /* when it was seen at work; 0: not yet */
};

static struct work first_look(void)
{
    return (struct work){.wanted_ns = os_thread_wanted_cpu_ns(&line.thread),
                         .looked_ns = jw_now_ns()};
}

/* True while it works, or would if it had a processor; also where this thread comes back late from its wait until `until_ns`: nothing had
 * a processor, and the look says nothing. */
static bool is_at_work(struct work *work, uint64_t until_ns)
{
    const uint64_t wanted_ns = os_thread_wanted_cpu_ns(&line.thread), now_ns = jw_now_ns();

    const bool is_told = work->wanted_ns != 0 && wanted_ns > work->wanted_ns;

    if ((is_told && (wanted_ns - work->wanted_ns) * WORK_SHARE >= now_ns - work->looked_ns) ||
        now_ns >= until_ns + LOOK_NS / 2)
        work->seen_ns = now_ns;
    if (wanted_ns != 0) {
        work->wanted_ns = wanted_ns;
        work->looked_ns = now_ns;
    }
    return work->seen_ns != 0 && now_ns - work->seen_ns < WORK_PAUSE_NS;
}

/* No later than the next of the times at which the wait may be over. */
static uint64_t next_look_ns(uint64_t deadline_ns, uint64_t limit_ns)
{
    const uint64_t now_ns = jw_now_ns(), end_ns = now_ns < deadline_ns ? deadline_ns : limit_ns;

    return now_ns + LOOK_NS < end_ns ? now_ns + LOOK_NS : end_ns;
}

/* The end of a command that was waited for; false: the time is over, and it goes on. `is_last`: its place is given up then. */
static bool await(struct command *command, uint64_t deadline_ns, bool is_last, int *code)
{
    bool is_done = false;

    for (bool is_late = false; !is_done && !is_late;) {
        is_late = !os_wake_wait(&command->done, deadline_ns);
        pthread_mutex_lock(&line.lock);
        is_done = command->place == PLACE_DONE;
        if (is_done) {
            *code = command->code;
            command->place = PLACE_FREE;
        } else if (is_late && is_last) {
            command->is_awaited = false;
        }
        pthread_mutex_unlock(&line.lock);
    }
    return is_done;
}

/* The program waits for the session that begins with the JVM, longer while the agent's thread works on that. */
static bool await_begin(struct command *command, uint64_t wait_ns, int *code)
{
    const uint64_t deadline_ns = jw_now_ns() + wait_ns, limit_ns = deadline_ns + BEGIN_WORK_NS;
    struct work work = first_look();

    for (;;) {
        const uint64_t until_ns = next_look_ns(deadline_ns, limit_ns);

        if (await(command, until_ns, false, code))
            return true;
        const bool goes_on = is_at_work(&work, until_ns);
        if (jw_now_ns() >= limit_ns || (jw_now_ns() >= deadline_ns && !goes_on))
            return await(command, jw_now_ns(), true, code);
    }
}

bool commands_submit(enum states_command what, const struct options *options, uint64_t wait_ns,
                     int *code, struct jw_error *err)
{
    pthread_mutex_lock(&line.lock);
    struct command *command = take_place(what, code, err);
    if (command == NULL) {
        pthread_mutex_unlock(&line.lock);
        return false;
    }
    command->what = what;
    command->number = ++line.arrived;
    command->options = *options;
    command->answer = answer_park();
    command->is_awaited = command->answer == ANSWER_NONE;
    os_wake_init(&command->done);
    command->place = PLACE_WAITING;
    const bool is_awaited = command->is_awaited;
    pthread_mutex_unlock(&line.lock);

    run_wake();
    *code = 0;
    const bool is_begin = what == STATES_START && options->is_with_jvm;
    const uint64_t begun_ns = jw_now_ns();
    if (!is_awaited || (is_begin ? await_begin(command, wait_ns, code)
                                 : await(command, begun_ns + wait_ns, true, code)))
        return true;
    if (is_begin)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "the session has not begun within %llu s of the JVM, whose program waits no "
                  "longer: what that does until it has begun is not told, nor are locks that it "
                  "waits for since before",
                  (unsigned long long)((jw_now_ns() - begun_ns) / JW_NS_PER_SECOND));
    else
        agent_log(OPTIONS_LOGLEVEL_INFO, "the command goes on; status tells how far it is");
    return true;
}

enum states_state commands_state(void)
{
    pthread_mutex_lock(&line.lock);
    const enum states_state state = line.is_ending ? STATES_GONE : line.state;
    pthread_mutex_unlock(&line.lock);
    return state;
}

/* ---- the end of the JVM ---- */

/* The lock is held. It goes before all others, in a place that is always free: the line takes one less. */
static void put_end_first(void)
{
    struct command *command = find_at(PLACE_FREE);

    if (!JW_INVARIANT(command != NULL))
        return;
    *command = (struct command){
        .place = PLACE_WAITING, .what = STATES_END, .number = 0, .answer = ANSWER_NONE};
    if (states_look(line.state, STATES_END)->verdict == STATES_GIVE_UP)
        run_give_up(true);
}

/* The lock, unless somebody holds it past the deadline: he may never give it back. */
static bool lock_until(uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = JW_NS_PER_MS};

    while (pthread_mutex_trylock(&line.lock) != 0) {
        if (jw_now_ns() >= deadline_ns)
            return false;
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

/*
 * Exit waits for the session's last file, but not for ever: for a thread that works as for one that draws, and less for one that has
 * been stuck for two seconds, whatever in. The thread's struct stays valid either way.
 */
static bool await_thread(uint64_t deadline_ns)
{
    const uint64_t limit_ns = deadline_ns - END_WAIT_NS + WRITE_WAIT_NS;
    struct work work = first_look();
    bool goes_on = true;

    while (goes_on) {
        const uint64_t until_ns = next_look_ns(deadline_ns, limit_ns);

        if (os_thread_join(&line.thread, until_ns))
            return true;
        const bool works = is_at_work(&work, until_ns);
        jw_store_relaxed(&line.is_at_work, works);
        goes_on =
            jw_now_ns() < limit_ns && (jw_now_ns() < deadline_ns || works || run_is_drawing());
    }
    os_thread_detach(&line.thread);
    return false;
}

/* Who comes second waits for the first: the process must not go while the last file is being written. */
static void await_first(uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = JW_NS_PER_MS};

    /* order COMMANDS_OVER: acquires nothing but that the first one is through. */
    while (jw_load_acquire(&line.is_over) == 0 &&
           jw_now_ns() < deadline_ns + (run_is_drawing() || jw_load_relaxed(&line.is_at_work) != 0
                                            ? WRITE_WAIT_NS - END_WAIT_NS
                                            : 0))
        (void)nanosleep(&pause, NULL);
}

/* What the agent's thread does from here on is its own affair; signals under way find nothing to do. */
static void let_go(void)
{
    signals_stop();
    agent_log(OPTIONS_LOGLEVEL_ERROR,
              "the session did not end in time before the JVM; its recording holds what was "
              "written until the last second");
}

void commands_end(void)
{
    const uint64_t deadline_ns = jw_now_ns() + END_WAIT_NS;

    /* order COMMANDS_OVER: acquires nothing but that it was let go before. */
    if (jw_load_acquire(&line.is_over) != 0)
        return;
    if (!lock_until(deadline_ns)) {
        let_go();
        /* order COMMANDS_OVER: releases that nobody need wait again. */
        jw_store_release(&line.is_over, 1);
        return;
    }
    const bool is_first = !line.is_ending;
    const bool has_thread = line.has_thread;
    line.is_ending = true;
    if (is_first && has_thread)
        put_end_first();
    pthread_mutex_unlock(&line.lock);
    if (!is_first) {
        await_first(deadline_ns);
        return;
    }
    run_wake();
    if (has_thread && !await_thread(deadline_ns))
        let_go();
    else
        tell_unwritten();
    /* order COMMANDS_OVER: releases that the end of the JVM need not wait for us any more. */
    jw_store_release(&line.is_over, 1);
}
