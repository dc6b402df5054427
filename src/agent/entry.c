/* The two ways into a JVM; control. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/census.h"
#include "agent/limits.h"
#include "agent/probes.h"
#include "base/clock.h"
#include "base/version.h"
#include "context/context.h"

/* For one who learns of the end by a number alone. */
#define COMMAND_WAIT_NS (2 * JW_NS_PER_SECOND)
#define INIT_WAIT_NS    (10 * JW_NS_PER_SECOND)

struct agent agent;

/* Those of Agent_OnLoad are used at VMInit, when somebody may have attached already. */
static struct options_result load_options, attach_options;

enum sender {
    SENDER_FLAG,    /* -agentpath */
    SENDER_TOOL,    /* a tool that attached */
    SENDER_PROGRAM, /* the program itself: Java API */
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void tell_warnings(const struct options_result *options)
{
    for (uint32_t i = 0; i < options->warnings.count && i < OPTIONS_MESSAGES_KEPT; i++)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s", options->warnings.texts[i]);
}

/* What a session says, and where, is for its start to choose: who merely asks changes nothing. */
static bool begins_session(const struct options *options)
{
    const enum states_state state = commands_state();

    return (options->action == OPTIONS_ACTION_START || options->action == OPTIONS_ACTION_RESUME) &&
           state != STATES_RUNNING && !states_is_busy(state);
}

static bool read_options(const char *text, enum sender sender, struct options_result *options)
{
    struct jw_error err = {0};
    bool is_good = options_parse(text, text == NULL ? 0 : strlen(text), options);
    enum options_loglevel level = OPTIONS_LOGLEVEL_ERROR;

    if (sender == SENDER_TOOL && options->values.answer[0] != '\0' &&
        !answer_open(&options->values, &err)) {
        /* For somebody who gave up nothing is begun, but a session is ended; and nobody is told. */
        if (answer_is_gone(options->values.answer))
            level = OPTIONS_LOGLEVEL_DEBUG;
        agent_log(level, "%s", err.message);
        is_good = is_good && level == OPTIONS_LOGLEVEL_DEBUG &&
                  options->values.action == OPTIONS_ACTION_STOP;
        options->values.is_quiet = level == OPTIONS_LOGLEVEL_DEBUG || options->values.is_quiet;
    }
    if (sender == SENDER_FLAG || begins_session(&options->values))
        agent_log_open(&options->values);
    tell_warnings(options);
    for (uint32_t i = 0; i < options->errors.count && i < OPTIONS_MESSAGES_KEPT; i++)
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", options->errors.texts[i]);
    if (!is_good)
        agent_log(level, "profiling was not started; the JVM runs on without it");
    return is_good;
}

/* At the start of a JVM "file=x.jfr" alone can only mean: profile into it. */
static bool asks_for_start(const struct options *options)
{
    return options->action == OPTIONS_ACTION_START || options->action == OPTIONS_ACTION_RESUME ||
           (options->action == OPTIONS_ACTION_DUMP && !options->is_action_given);
}

/* Samples without context are samples all the same. */
static void open_contexts(void)
{
    struct jw_error err = {0};

    if (!contexts_open(&err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "samples will have no context: %s", err.message);
}

static bool find_jvmti(JavaVM *java_vm, const struct options *options)
{
    void *jvmti = NULL;

    if (agent.jvmti != NULL)
        return true;
    if ((*java_vm)->GetEnv(java_vm, &jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
        agent_log(OPTIONS_LOGLEVEL_ERROR,
                  "the JVM is still starting or ending, and offers no JVMTI 1.2; nothing was done, "
                  "try again in a moment");
        return false;
    }
    agent.java_vm = java_vm;
    agent.jvmti = jvmti;
    agent.pid = getpid();
    ending_watch();
    if (asks_for_start(options))
        run_share_memory(options);
    open_contexts();
    return true;
}

/* Nothing that goes wrong here may keep the JVM from running, so the answer is always JNI_OK. */
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *java_vm, char *text, void *reserved)
{
    struct jw_error err = {0};

    (void)reserved;
    if (agent.jvmti != NULL) {
        agent_log(
            OPTIONS_LOGLEVEL_WARN,
            "the JVM was told to load jaywalk twice; \"%s\" has no effect, as one JVM has one "
            "profiler",
            text == NULL ? "" : text);
        return JNI_OK;
    }
    if (!read_options(text, SENDER_FLAG, &load_options))
        return JNI_OK;
    if (load_options.values.action == OPTIONS_ACTION_VERSION) {
        agent_log(OPTIONS_LOGLEVEL_INFO, "jaywalk " JAYWALK_VERSION);
        return JNI_OK;
    }
    if (!asks_for_start(&load_options.values)) {
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "nothing was started: \"%s\" does not ask for it; try start,file=profile.jfr",
                  text == NULL ? "" : text);
        return JNI_OK;
    }
    if (!find_jvmti(java_vm, &load_options.values))
        return JNI_OK;
    if (!hooks_install(false, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "profiling was not started: %s", err.message);
    else
        probes_prepare(&load_options.values);
    census_prepare(&load_options.values);
    return JNI_OK;
}

/* A command for the agent's thread. */
static bool submit(enum states_command what, int *code, struct jw_error *err)
{
    return commands_submit(what, &attach_options.values, COMMAND_WAIT_NS, code, err);
}

/*
 * A JVM that starts may serve attaches before its module system is there, and ends itself when it then meets a class of ours.
 * Source: OpenJDK 17, AttachListener::init_at_startup and ModuleEntryTable::finalize_javabase; JDK 25 refuses by itself.
 */
static bool is_live(struct jw_error *err)
{
    jvmtiPhase phase = JVMTI_PHASE_DEAD;

    if ((*agent.jvmti)->GetPhase(agent.jvmti, &phase) == JVMTI_ERROR_NONE &&
        phase == JVMTI_PHASE_LIVE)
        return true;
    jw_error_set(err, phase == JVMTI_PHASE_DEAD
                          ? "the JVM is ending"
                          : "the JVM is still starting; nothing was done, try again in a moment");
    return false;
}

static bool run_action(int *code, struct jw_error *err)
{
    switch ((enum options_action)attach_options.values.action) {
    case OPTIONS_ACTION_START:
        return is_live(err) && hooks_install(true, err) && submit(STATES_START, code, err);
    case OPTIONS_ACTION_RESUME:
        return is_live(err) && hooks_install(true, err) && submit(STATES_RESUME, code, err);
    case OPTIONS_ACTION_STOP:
        return submit(STATES_STOP, code, err);
    case OPTIONS_ACTION_DUMP:
        return submit(STATES_DUMP, code, err);
    case OPTIONS_ACTION_STATUS:
        tell_status();
        return true;
    case OPTIONS_ACTION_METRICS:
        tell_metrics();
        return true;
    case OPTIONS_ACTION_LIST:
        tell_list();
        return true;
    case OPTIONS_ACTION_PROBE_ATTACH:
    case OPTIONS_ACTION_PROBE_LIST:
    case OPTIONS_ACTION_PROBE_DETACH:
        return is_live(err) && submit(STATES_PROBES, code, err);
    case OPTIONS_ACTION_VERSION:
        agent_log(OPTIONS_LOGLEVEL_INFO, JAYWALK_VERSION);
        return true;
    case OPTIONS_ACTION_NONE:
    case OPTIONS_ACTION_LIMIT:
        return true;
    }
    return true;
}

/* Who sends one command after the other from outside is sent away, but for the one that ends a session. */
static bool is_too_often(enum sender sender)
{
    static struct limits_rate rate;

    return sender == SENDER_TOOL && attach_options.values.action != OPTIONS_ACTION_STOP &&
           !limits_take(&rate, jw_now_ns());
}

/* Whoever waits for an answer gets it; the JVM's own log is not filled by a storm. */
static void tell_too_often(void)
{
    static uint64_t told_ns;
    const uint64_t now_ns = jw_now_ns();

    if (attach_options.values.answer[0] == '\0' && told_ns != 0 &&
        now_ns - told_ns < JW_NS_PER_SECOND)
        return;
    told_ns = now_ns;
    agent_log(OPTIONS_LOGLEVEL_ERROR,
              "more than %d commands in a second; nothing was done, try again later",
              LIMITS_PER_SECOND);
}

static jint obey(JavaVM *java_vm, const char *text, enum sender sender)
{
    struct jw_error err = {0};
    int code = 0;

    if (!read_options(text, sender, &attach_options))
        return 100;
    if (is_too_often(sender)) {
        tell_too_often();
        return COMMANDS_BUSY;
    }
    if (!find_jvmti(java_vm, &attach_options.values))
        return COMMANDS_FAILED;
    if (!run_action(&code, &err)) {
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
        return code == 0 ? COMMANDS_FAILED : code;
    }
    return code;
}

static jint open_stacks(JavaVM *java_vm)
{
    struct jw_error err = {0};
    int code = 0;

    if (!options_parse("", 0, &attach_options) || !find_jvmti(java_vm, &attach_options.values))
        return COMMANDS_FAILED;
    if (!is_live(&err) || !hooks_install(true, &err) || !submit(STATES_OPEN, &code, &err)) {
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
        return code == 0 ? COMMANDS_FAILED : code;
    }
    return code;
}

/* The tool that attached learns of a failure by the number, and of its reason in the JVM's stderr; the
 * command jaywalk, by its answer. */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *java_vm, char *text, void *reserved)
{
    (void)reserved;
    pthread_mutex_lock(&one_at_a_time);
    const jint code = obey(java_vm, text, SENDER_TOOL);
    answer_end(code);
    pthread_mutex_unlock(&one_at_a_time);
    return code;
}

bool entry_is_child(void)
{
    return agent.pid != 0 && agent.pid != getpid();
}

/* `text` NULL: open_stacks. */
static bool answer(JavaVM *java_vm, const char *text, struct answer_memory *memory,
                   struct jw_error *err)
{
    /* Nobody is there who would do it, and a lock may have been held when the process was copied. */
    if (entry_is_child()) {
        jw_error_set(err, "this is a child of the process that the agent is in; nothing was done");
        return false;
    }
    pthread_mutex_lock(&one_at_a_time);
    const bool is_open = answer_open_memory(memory, err);
    if (is_open)
        answer_end(text == NULL ? open_stacks(java_vm) : obey(java_vm, text, SENDER_PROGRAM));
    pthread_mutex_unlock(&one_at_a_time);
    if (is_open)
        (void)os_wake_wait(&memory->done, OS_WAKE_NEVER);
    return is_open;
}

bool entry_obey(JavaVM *java_vm, const char *text, struct answer_memory *memory,
                struct jw_error *err)
{
    return answer(java_vm, text, memory, err);
}

bool entry_open_stacks(JavaVM *java_vm, struct answer_memory *memory, struct jw_error *err)
{
    return answer(java_vm, NULL, memory, err);
}

/* The program begins when samples arrive. */
void run_vm_init(void)
{
    struct jw_error err = {0};
    int code;

    load_options.values.is_with_jvm = true;
    if (!commands_submit(STATES_START, &load_options.values, INIT_WAIT_NS, &code, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "profiling was not started: %s", err.message);
}
