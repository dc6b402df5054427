/* What is said to those who ask: status, metrics, list; any. */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/agree.h"
#include "agent/alloc.h"
#include "agent/census.h"
#include "agent/delays.h"
#include "agent/events.h"
#include "agent/live.h"
#include "agent/locks.h"
#include "agent/nativecheck.h"
#include "agent/probes.h"
#include "agent/queues.h"
#include "agent/session_internal.h"
#include "agent/tell_internal.h"
#include "base/ascii.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/version.h"
#include "signals/signals.h"
#include "walk/walk_breaker.h"

static struct {
    pthread_mutex_t lock;
    struct session_info info;
} published = {.lock = PTHREAD_MUTEX_INITIALIZER};

void session_info(struct session_info *out)
{
    pthread_mutex_lock(&published.lock);
    *out = published.info;
    pthread_mutex_unlock(&published.lock);
}

static uint64_t left_ns(const struct limits_deadline *deadline)
{
    const uint64_t now_ns = deadline->at_ns != 0 ? jw_now_ns() : jw_wall_ns();
    const uint64_t at_ns = deadline->at_ns != 0 ? deadline->at_ns : deadline->at_wall_ns;

    return at_ns > now_ns ? at_ns - now_ns : 0;
}

/* One more of them, behind "; ". */
static void append(char *text, size_t room_bytes, const char *engine)
{
    const size_t length = strlen(text);

    if (engine[0] != '\0')
        snprintf(text + length, room_bytes - length, "%s%s", length == 0 ? "" : "; ", engine);
}

static void describe_engines(const struct sampler_config *config, char *text, size_t room_bytes)
{
    static const char *const ways[] = {
        [SAMPLER_CPU_NONE] = "",
        [SAMPLER_CPU_TIMER] = " by timers of the threads",
        [SAMPLER_CPU_FINE] = " by comparing the clocks of the threads",
        [SAMPLER_CPU_PERF] = " by perf_events of the kernel",
        [SAMPLER_CPU_ITIMER] = " by one timer of the process",
    };
    const bool is_instead =
        session.options.event == OPTIONS_EVENT_CPU_CLOCK && events_reason()[0] != '\0';
    const struct options *values = &session.options;
    char cpu[400] = "", wall[48] = "", alloc[300] = "", lock[300] = "";
    uint64_t cpu_ns = config->interval_ns, wall_ns = config->wall_interval_ns;

    if (session.is_sampling)
        sampler_intervals(&cpu_ns, &wall_ns);
    if (config->is_counting)
        snprintf(cpu, sizeof cpu, "%.200s%s, each %llu %s%s", session.options.perf,
                 config->is_user_only ? " of user code" : "",
                 (unsigned long long)session.options.interval_count,
                 session.options.interval_count == 1 ? "one" : "of them", ways[config->cpu]);
    else if (values->event == OPTIONS_EVENT_METHOD)
        snprintf(cpu, sizeof cpu, "%.200s, each %llu%s", values->perf,
                 (unsigned long long)values->interval_count,
                 values->interval_count == 1 ? " call" : " calls of a thread");
    else if (values->event == OPTIONS_EVENT_EXCEPTION || values->event == OPTIONS_EVENT_NEW)
        snprintf(cpu, sizeof cpu, "%.200s, each %llu%s", values->perf,
                 (unsigned long long)values->interval_count,
                 values->interval_count == 1 ? " that is made" : " that a thread makes");
    else if (config->cpu != SAMPLER_CPU_NONE)
        snprintf(cpu, sizeof cpu, "CPU time every %llu us%s%s%s%s",
                 (unsigned long long)(cpu_ns / 1000), ways[config->cpu],
                 is_instead ? " (not by perf_events: " : "", is_instead ? events_reason() : "",
                 is_instead ? ")" : "");
    if (config->wall_interval_ns != 0)
        snprintf(wall, sizeof wall, "the wall clock every %llu us",
                 (unsigned long long)(wall_ns / 1000));
    if (values->alloc_bytes != 0)
        snprintf(alloc, sizeof alloc, "allocations every %llu bytes%s%.200s",
                 (unsigned long long)values->alloc_bytes,
                 strcmp(alloc_text(values), "on") == 0 ? "" : ", which are off: ",
                 strcmp(alloc_text(values), "on") == 0 ? "" : alloc_text(values));
    if (values->lock_ns != 0)
        snprintf(lock, sizeof lock, "waits for Java locks from %llu ns on%s%.200s",
                 (unsigned long long)values->lock_ns,
                 strcmp(locks_text(values), "on") == 0 ? "" : ", which are off: ",
                 strcmp(locks_text(values), "on") == 0 ? "" : locks_text(values));
    text[0] = '\0';
    append(text, room_bytes, cpu);
    append(text, room_bytes, wall);
    append(text, room_bytes, alloc);
    append(text, room_bytes, lock);
    const size_t length = strlen(text);
    snprintf(text + length, room_bytes - length, "%s%s",
             config->filter != NULL && config->filter[0] != '\0' ? "; some threads alone" : "",
             config->window != 0 ? "; in a window alone" : "");
}

void session_publish(void)
{
    struct session_info *info = &published.info;
    struct recording_status status = {0};

    if (session.recording != NULL)
        recording_get_status(session.recording, &status);
    pthread_mutex_lock(&published.lock);
    info->has_file = session.has_file;
    info->is_unwritten = session.is_unwritten && session.recording != NULL;
    info->has_cpu = options_has_cpu(&session.options);
    snprintf(info->event_text, sizeof info->event_text, "%s", options_event_text(&session.options));
    info->start_ns = session.start_ns;
    info->samples = session.samples;
    info->samples_before = session.samples_before;
    info->file_bytes = status.file_bytes;
    info->memory_bytes = status.memory_bytes;
    info->timeout_left_ns = session.is_on ? left_ns(&session.timeout) : 0;
    info->loop_left_ns = session.is_on ? left_ns(&session.loop) : 0;
    memcpy(info->path, session.path, sizeof info->path);
    describe_engines(&session.sampler, info->engines, sizeof info->engines);
    pthread_mutex_unlock(&published.lock);
}

void session_publish_failure(const char *text)
{
    pthread_mutex_lock(&published.lock);
    snprintf(published.info.failure, sizeof published.info.failure, "%s", text);
    pthread_mutex_unlock(&published.lock);
}

/* ---- status ---- */

static void tell_deadlines(const struct session_info *info)
{
    if (info->timeout_left_ns != 0)
        agent_log(OPTIONS_LOGLEVEL_INFO, "It stops by itself in %llu seconds",
                  (unsigned long long)(info->timeout_left_ns / JW_NS_PER_SECOND));
    if (info->loop_left_ns != 0)
        agent_log(OPTIONS_LOGLEVEL_INFO, "The next file begins in %llu seconds",
                  (unsigned long long)(info->loop_left_ns / JW_NS_PER_SECOND));
}

/* Who else lays hands on what we need. */
static void tell_others(bool is_running)
{
    static const struct {
        int number;
        const char *name;
    } signals[] = {{SIGPROF, "SIGPROF"}, {SIGVTALRM, "SIGVTALRM"}};
    struct jw_error err = {0};
    struct copies copies;
    char owner[256];

    for (size_t i = 0; i < JW_COUNT_OF(signals); i++) {
        signals_describe_previous(signals[i].number, owner, sizeof owner);
        if (strcmp(owner, "nobody") != 0)
            agent_log(OPTIONS_LOGLEVEL_INFO,
                      "%s had an owner before, who gets what is not ours: %s", signals[i].name,
                      owner);
    }
    if (is_running && !signals_check(&err))
        agent_log(OPTIONS_LOGLEVEL_WARN, "%s", err.message);
    copies_look(&copies);
    if (copies.count > 0)
        agent_log(OPTIONS_LOGLEVEL_WARN, "%u more %s of jaywalk in this process%s: %s",
                  copies.count, copies.count == 1 ? "copy" : "copies",
                  copies.is_active ? ", which samples" : ", at rest", copies.path);
}

void tell_ledger(void)
{
    struct session_info info;
    char text[320];

    session_info(&info);
    if (info.has_cpu && ledger_tell(text, sizeof text))
        agent_log(OPTIONS_LOGLEVEL_INFO, "%s", text);
}

static void tell_running(const struct session_info *info, enum states_state state)
{
    const unsigned long long samples = session_since(info->samples_before);
    const char *now = state == STATES_STARTING   ? "; it is still starting"
                      : state == STATES_STOPPING ? "; it is stopping"
                                                 : "";

    agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling is running for %llu seconds",
              (unsigned long long)((jw_now_ns() - info->start_ns) / JW_NS_PER_SECOND));
    agent_log(OPTIONS_LOGLEVEL_INFO, "Sampling %s", info->engines);
    if (info->has_file)
        agent_log(OPTIONS_LOGLEVEL_INFO, "%llu samples in %s%s", samples, info->path, now);
    else
        agent_log(OPTIONS_LOGLEVEL_INFO, "%llu samples in memory%s", samples, now);
    breaker_tell();
    agree_tell();
    nativecheck_tell();
    delays_tell();
    live_tell();
    queues_tell();
    tell_ledger();
    cost_tell();
    tell_memory();
    tell_dictionaries();
    tell_ids();
    tell_deadlines(info);
}

void tell_status(void)
{
    const enum states_state state = commands_state();
    const bool was_turning = run_is_turning();
    const bool is_on = run_generations() != NULL;
    /* Looked at before and after, so that no turn begins or ends unseen in between. */
    const bool is_turning = run_is_turning() || was_turning;
    struct session_info info;

    session_info(&info);
    if (is_on && state != STATES_GONE) {
        tell_running(&info, state);
    } else if (state == STATES_STARTING) {
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling is starting");
    } else if (is_turning) {
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiling goes on in the next file in a moment");
    } else {
        agent_log(OPTIONS_LOGLEVEL_INFO, "Profiler is not active");
        if (state == STATES_KEPT)
            agent_log(
                OPTIONS_LOGLEVEL_INFO,
                "%llu samples are kept in memory, %llu KiB: dump,file=NAME writes them, resume "
                "goes on, start forgets them",
                (unsigned long long)info.samples, (unsigned long long)(info.memory_bytes >> 10));
    }
    if (info.failure[0] != '\0')
        agent_log(OPTIONS_LOGLEVEL_WARN, "the last session ended by itself: %s", info.failure);
    probes_tell();
    census_tell();
    tell_others(is_on);
}

void tell_unwritten(void)
{
    struct session_info info;

    session_info(&info);
    if (info.is_unwritten && info.samples > 0)
        agent_log(OPTIONS_LOGLEVEL_WARN,
                  "%llu samples in memory were never written; name a file at the start for those "
                  "that nobody comes for",
                  (unsigned long long)info.samples);
}

/* ---- metrics ---- */

#define METRICS_BYTES ((size_t)96 << 10)

void tell_put(struct tell_page *page, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(page->text + page->used_bytes, METRICS_BYTES - page->used_bytes,
                                 format, arguments);
    va_end(arguments);
    page->used_bytes += (size_t)length;
    /* A line that does not fit is left out whole. */
    if (page->used_bytes >= METRICS_BYTES) {
        page->used_bytes -= (size_t)length;
        page->text[page->used_bytes] = '\0';
    }
}

/* "lostNoThread" as "lost_no_thread". */
static void snake(const char *field, char *text, size_t room_bytes)
{
    size_t used = 0;

    for (; *field != '\0' && used + 3 < room_bytes; field++) {
        if (jw_ascii_is_upper(*field))
            text[used++] = '_';
        text[used++] = jw_ascii_lower(*field);
    }
    text[used] = '\0';
}

static void put_counters(struct tell_page *page)
{
    uint64_t values[JW_COUNT_LIMIT];

    /* Outcomes before signals, so that the law holds: base/counters.h. */
    for (int id = JW_COUNT_LIMIT - 1; id >= 0; id--)
        values[id] = jw_counter((enum jw_counter_id)id);
    for (int id = 0; id < JW_COUNT_LIMIT; id++) {
        char name[64];

        snake(jw_counter_infos[id].field, name, sizeof name);
        tell_put(
            page,
            "# HELP jaywalk_%s_total %s\n# TYPE jaywalk_%s_total counter\njaywalk_%s_total %llu\n",
            name, jw_counter_infos[id].text, name, name, (unsigned long long)values[id]);
    }
}

void tell_put_head(struct tell_page *page, const char *name, const char *help)
{
    const size_t length = strlen(name);
    const bool is_total = length > 6 && strcmp(name + length - 6, "_total") == 0;

    tell_put(page, "# HELP jaywalk_%s %s\n# TYPE jaywalk_%s %s\n", name, help, name,
             is_total ? "counter" : "gauge");
}

static void put_selfcheck(struct tell_page *page)
{
    uint32_t compiled;
    const uint32_t all = selfcheck_agreed(&compiled);

    tell_put_head(page, "selfcheck_frames",
                  "frames of a known stack that the own walker found as JVMTI tells them");
    tell_put(page, "jaywalk_selfcheck_frames{tier=\"all\"} %u\n", all);
    tell_put(page, "jaywalk_selfcheck_frames{tier=\"compiled\"} %u\n", compiled);
}

static void put_walkers(struct tell_page *page)
{
    static const char *const standings[] = {
        [WALK_ABSENT] = "absent", [WALK_IN] = "in", [WALK_TRIAL] = "trial", [WALK_OUT] = "out"};
    struct walk_breaker_counts counts[WALK_WALKER_LIMIT];

    tell_put_head(page, "walker_in_use", "1 for the walkers in use, 0 for the others");
    for (int i = 0; i < WALK_WALKER_LIMIT; i++) {
        walk_breaker_get((enum walk_walker)i, &counts[i]);
        tell_put(page, "jaywalk_walker_in_use{walker=\"%s\",standing=\"%s\"} %d\n",
                 walk_walker_text((enum walk_walker)i), standings[counts[i].standing],
                 counts[i].is_in_use);
    }
    tell_put(page,
             "# HELP jaywalk_walks_total walks by walker\n# TYPE jaywalk_walks_total counter\n");
    for (int i = 0; i < WALK_WALKER_LIMIT; i++)
        tell_put(page, "jaywalk_walks_total{walker=\"%s\"} %llu\n",
                 walk_walker_text((enum walk_walker)i), (unsigned long long)counts[i].walks);
    tell_put(page, "# HELP jaywalk_walks_bad_total walks that failed or met unreadable memory\n"
                   "# TYPE jaywalk_walks_bad_total counter\n");
    for (int i = 0; i < WALK_WALKER_LIMIT; i++)
        tell_put(page, "jaywalk_walks_bad_total{walker=\"%s\"} %llu\n",
                 walk_walker_text((enum walk_walker)i), (unsigned long long)counts[i].bad);
}

static uint64_t failures_at(enum walk_walker walker, enum vm_place place)
{
    uint64_t count = 0;

    for (int32_t code = 0; code < WALK_CODE_COUNT; code++)
        count += walk_failures(walker, -code, place);
    return count;
}

static void put_walk_places(struct tell_page *page, const char *name, const char *help,
                            uint64_t (*of)(enum walk_walker walker, enum vm_place place))
{
    tell_put(page, "# HELP jaywalk_%s_total %s\n# TYPE jaywalk_%s_total counter\n", name, help,
             name);
    for (int i = 0; i < WALK_WALKER_LIMIT * VM_PLACE_LIMIT; i++) {
        const enum walk_walker walker = (enum walk_walker)(i / VM_PLACE_LIMIT);
        const enum vm_place place = (enum vm_place)(i % VM_PLACE_LIMIT);

        if (of(walker, place) != 0)
            tell_put(page, "jaywalk_%s_total{walker=\"%s\",where=\"%s\"} %llu\n", name,
                     walk_walker_text(walker), vm_place_text(place),
                     (unsigned long long)of(walker, place));
    }
}

static void put_session(struct tell_page *page, const struct session_info *info)
{
    const enum states_state state = commands_state();
    const bool is_on = run_generations() != NULL;
    const uint64_t samples = is_on ? session_since(info->samples_before) : info->samples;

    tell_put_head(page, "info", "version of the agent");
    tell_put(page, "jaywalk_info{version=\"" JAYWALK_VERSION "\"} 1\n");
    tell_put_head(page, "state", "1 for the state of the session, 0 for the others");
    for (int other = 0; other < STATES_STATE_LIMIT; other++)
        tell_put(page, "jaywalk_state{state=\"%s\"} %d\n", states_name((enum states_state)other),
                 other == (int)state);
    tell_put_head(page, "session_samples", "samples of the present session, or of the last one");
    tell_put(page, "jaywalk_session_samples{event=\"%s\"} %llu\n", info->event_text,
             (unsigned long long)samples);
    tell_put_head(page, "session_seconds", "age of the present session");
    tell_put(page, "jaywalk_session_seconds %llu\n",
             (unsigned long long)(is_on ? (jw_now_ns() - info->start_ns) / JW_NS_PER_SECOND : 0));
    tell_put_head(page, "file_bytes", "size of the recording that is being written");
    tell_put(page, "jaywalk_file_bytes %llu\n", (unsigned long long)info->file_bytes);
}

void tell_metrics(void)
{
    struct tell_page page = {.text = jw_alloc(METRICS_BYTES)};
    struct jw_error err = {0};
    struct session_info info;

    if (page.text == NULL) {
        agent_log(OPTIONS_LOGLEVEL_ERROR, "metrics: out of memory");
        return;
    }
    session_info(&info);
    put_session(&page, &info);
    tell_memory_metrics(&page);
    tell_dictionaries_metrics(&page);
    tell_ids_metrics(&page);
    cost_metrics(&page);
    put_selfcheck(&page);
    put_walkers(&page);
    put_walk_places(&page, "walk_failures", "walks that failed, by what the walk was in then",
                    failures_at);
    put_walk_places(&page, "walk_load_faults",
                    "loads that faulted during walks and were contained, by what the walk began in",
                    walk_faults);
    put_counters(&page);
    if (!answer_takes_text())
        agent_log_text(page.text);
    else if (!answer_show(NULL, page.text, page.used_bytes, &err))
        agent_log(OPTIONS_LOGLEVEL_ERROR, "%s", err.message);
    jw_free(page.text);
}

void tell_list(void)
{
    agent_log(OPTIONS_LOGLEVEL_INFO, "Basic events:");
    for (uint64_t event = 0; event < OPTIONS_EVENT_PERF; event++)
        agent_log(OPTIONS_LOGLEVEL_INFO, "  %s", options_event_name(event));
    events_list();
    agent_log(OPTIONS_LOGLEVEL_INFO, "Methods and exceptions of Java:");
    agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s %s", "CLASS.METHOD",
              "calls, also of those that match: com.acme.*.find*");
    agent_log(OPTIONS_LOGLEVEL_INFO, "  %-24s %s", "exception[:CLASS]",
              "exceptions: all, or of a class and what extends it; or com.acme.**");
}
