/*
 * The CPU ledger: what the clocks of threads and process say, beside the samples that were taken; dump.
 *
 * A thread has an account under the index of its record, from its first sample or first reading until it is
 * told to have ended. Events hold what came since the event before of the same thread, so that they add up
 * over the file and each chunk stands alone.
 */
#include <string.h>

#include "base/clock.h"
#include "jfr/jfr_reader.h"
#include "recording/recording_internal.h"

/* Threads that get an event of their own in one chunk: so many that ended, so many that live. With the
 * constant that names it a thread takes about a hundred bytes of the file. */
#define THREAD_ROWS_MAX 1000u

/* Names that the others of a chunk are summed up under; what is beyond goes under "*". */
#define GROUPS_MAX       256u
#define GROUP_NAME_BYTES 128
#define FIRST_ACCOUNTS   ((size_t)256)
#define ALL_OTHERS       "*"

struct recording_account {
    uint32_t serial;
    bool is_used;
    bool is_own;
    bool is_refused;
    bool is_left_out;
    struct recording_cpu_sums now;
    struct recording_cpu_sums told; /* the part that is in events already */
};

struct recording_cpu_group {
    char name[GROUP_NAME_BYTES];
    struct recording_cpu_sums sums;
    uint64_t threads;
    uint64_t ended_threads;
};

static struct recording_cpu_sums minus(const struct recording_cpu_sums *left,
                                       const struct recording_cpu_sums *right)
{
    return (struct recording_cpu_sums){
        .used_ns = left->used_ns - right->used_ns,
        .sampled_ns = left->sampled_ns - right->sampled_ns,
        .samples = left->samples - right->samples,
    };
}

static void add(struct recording_cpu_sums *to, const struct recording_cpu_sums *more)
{
    to->used_ns += more->used_ns;
    to->sampled_ns += more->sampled_ns;
    to->samples += more->samples;
}

/* ---- events ---- */

static bool name_of(struct recording *recording, uint32_t index, uint32_t serial,
                    struct recording_text *name)
{
    const struct recording_sources *sources = &recording->config.sources;
    struct recording_thread told = {0};

    if (sources->thread == NULL || !sources->thread(sources->context, index, serial, &told))
        return false;
    *name = told.java_name.bytes != NULL ? told.java_name : told.os_name;
    return name->bytes != NULL;
}

/* The group that this thread is summed up in; NULL: no memory. */
static struct recording_cpu_group *group_of(struct recording *recording, uint32_t index,
                                            uint32_t serial)
{
    struct recording_ledger *ledger = &recording->ledger;
    struct recording_text name = {JW_LEDGER_NO_NAME, sizeof JW_LEDGER_NO_NAME - 1};
    char text[GROUP_NAME_BYTES];

    (void)name_of(recording, index, serial, &name);
    size_t length_bytes = jw_ledger_group(name.bytes, name.length_bytes, text, sizeof text);
    if (ledger->group_count >= GROUPS_MAX)
        length_bytes = jw_ledger_group(ALL_OTHERS, sizeof ALL_OTHERS - 1, text, sizeof text);

    uint64_t *known = jw_map_put(&ledger->group_of, text, length_bytes);
    if (known == NULL)
        return NULL;
    if (*known != 0)
        return &ledger->groups[*known - 1];
    if (ledger->group_count == ledger->group_capacity) {
        const size_t capacity = ledger->group_capacity == 0 ? 16 : 2 * ledger->group_capacity;
        struct recording_cpu_group *groups =
            jw_realloc(ledger->groups, jw_mul_bytes(capacity, sizeof *groups));

        if (groups == NULL)
            return NULL;
        ledger->groups = groups;
        ledger->group_capacity = capacity;
    }

    struct recording_cpu_group *group = &ledger->groups[ledger->group_count];
    *group = (struct recording_cpu_group){0};
    memcpy(group->name, text, length_bytes + 1);
    *known = ++ledger->group_count;
    return group;
}

static void put_sums(struct jfr_buffer *out, const struct recording_cpu_sums *sums)
{
    jfr_put_long(out, sums->used_ns);
    jfr_put_long(out, sums->sampled_ns);
    jfr_put_long(out, sums->used_ns - sums->sampled_ns);
    jfr_put_varint(out, sums->samples);
}

static void put_thread(struct recording *recording, uint64_t now_ns, uint32_t index,
                       const struct recording_account *account,
                       const struct recording_cpu_sums *sums, bool is_ended)
{
    struct jfr_buffer *out = &recording->events;
    const uint64_t key = recording_thread_key(&recording->names, index, account->serial);
    const size_t begin = recording_event(recording, JFR_TYPE_THREAD_CPU, now_ns);

    jfr_put_varint(out, key);
    put_sums(out, sums);
    jfr_put_u8(out, is_ended);
    jfr_put_u8(out, account->is_refused);
    jfr_event_end(out, begin);
}

static void add_to_group(struct recording *recording, uint32_t index, uint32_t serial,
                         const struct recording_cpu_sums *sums, bool is_ended)
{
    struct recording_cpu_group *group = group_of(recording, index, serial);

    if (group == NULL) {
        recording_fail_memory(recording);
        return;
    }
    add(&group->sums, sums);
    group->threads++;
    group->ended_threads += is_ended;
}

static void add_to_profile(struct recording *recording, uint32_t index, uint32_t serial,
                           const struct recording_cpu_sums *sums, bool is_ended)
{
    struct recording_text name = {JW_LEDGER_NO_NAME, sizeof JW_LEDGER_NO_NAME - 1};
    struct jfr_buffer scratch = {0};
    struct jfr_text text = {0};
    struct profile_cpu cpu = {
        .used_ns = sums->used_ns,
        .sampled_ns = sums->sampled_ns,
        .ended_threads = is_ended,
    };

    (void)name_of(recording, index, serial, &name);
    /* As a reader would show it out of a file. */
    jfr_put_clean_utf8(&scratch, name.bytes, name.length_bytes);
    if (!scratch.has_failed && jfr_text_set(&text, scratch.bytes, scratch.used_bytes)) {
        cpu.name = text.text;
        profile_thread_cpu(recording->graph.profile, &cpu);
    } else {
        recording_fail_memory(recording);
    }
    jfr_buffer_close(&scratch);
    jfr_text_free(&text);
}

/* Tells what is new of a thread; `rows` counts the threads that were told alone. */
static void tell(struct recording *recording, uint32_t index, bool is_ended, uint64_t now_ns,
                 uint32_t *rows)
{
    struct recording_account *account = &recording->ledger.accounts[index];
    const struct recording_cpu_sums sums = minus(&account->now, &account->told);

    const bool is_of_interest = !account->is_left_out || account->now.samples != 0;
    const bool is_news = sums.used_ns != 0 || sums.sampled_ns != 0 ||
                         (is_ended && (account->told.used_ns != 0 || account->told.samples != 0));

    if (recording->has_failed || !recording->ledger.is_kept || !is_of_interest || !is_news)
        return;
    if (recording->graph.profile != NULL)
        add_to_profile(recording, index, account->serial, &sums, is_ended);
    else if ((*rows)++ < THREAD_ROWS_MAX)
        put_thread(recording, now_ns, index, account, &sums, is_ended);
    else
        add_to_group(recording, index, account->serial, &sums, is_ended);
    account->told = account->now;
}

static void put_groups(struct recording *recording, uint64_t now_ns)
{
    struct recording_ledger *ledger = &recording->ledger;
    struct jfr_buffer *out = &recording->events;

    for (size_t i = 0; i < ledger->group_count; i++) {
        const struct recording_cpu_group *group = &ledger->groups[i];
        const size_t begin = recording_event(recording, JFR_TYPE_THREADS_CPU, now_ns);

        jfr_put_string(out, group->name);
        put_sums(out, &group->sums);
        jfr_put_varint(out, group->threads);
        jfr_put_varint(out, group->ended_threads);
        jfr_event_end(out, begin);
    }
    ledger->group_count = 0;
    jw_map_clear(&ledger->group_of);
}

static void put_totals(struct recording *recording, uint64_t now_ns)
{
    struct jfr_buffer *out = &recording->events;
    struct jw_ledger ledger;

    if (!recording_get_ledger(recording, &ledger))
        return;
    const size_t begin = recording_event(recording, JFR_TYPE_CPU_LEDGER, now_ns);
    jfr_put_long(out, ledger.process_ns);
    for (int line = 0; line < JW_LEDGER_LIMIT; line++)
        jfr_put_long(out, ledger.lines_ns[line]);
    jfr_put_varint(out, ledger.live_threads);
    jfr_put_varint(out, ledger.ended_threads);
    jfr_put_varint(out, ledger.short_threads);
    jfr_event_end(out, begin);
}

/* All that live, which get no event but at the end of a chunk. */
static void tell_live(struct recording *recording, uint64_t now_ns)
{
    uint32_t rows = 0;

    for (size_t i = 0; i < recording->ledger.account_count; i++)
        if (recording->ledger.accounts[i].is_used)
            tell(recording, (uint32_t)i, false, now_ns, &rows);
}

void recording_put_ledger(struct recording *recording, uint64_t now_ns, bool is_chunk_end)
{
    if (is_chunk_end) {
        tell_live(recording, now_ns);
        put_groups(recording, now_ns);
    }
    put_totals(recording, now_ns);
}

void recording_ledger_new_chunk(struct recording *recording)
{
    recording->ledger.closed_rows = 0;
}

void recording_ledger_tell_profile(struct recording *recording)
{
    struct jw_ledger ledger;

    if (recording->config.shows != RECORDING_SHOWS_CPU || !recording_get_ledger(recording, &ledger))
        return;
    tell_live(recording, jw_now_ns());
    profile_ledger(recording->graph.profile, &ledger);
}

/* ---- accounts ---- */

static bool reserve_accounts(struct recording_ledger *ledger, size_t count)
{
    size_t capacity = ledger->account_count == 0 ? FIRST_ACCOUNTS : ledger->account_count;

    while (capacity < count)
        capacity *= 2;
    if (capacity == ledger->account_count)
        return true;

    struct recording_account *accounts =
        jw_realloc(ledger->accounts, jw_mul_bytes(capacity, sizeof *accounts));
    if (accounts == NULL)
        return false;
    memset(accounts + ledger->account_count, 0,
           (capacity - ledger->account_count) * sizeof *accounts);
    ledger->accounts = accounts;
    ledger->account_count = capacity;
    return true;
}

/* The line that holds what is unsampled of a thread. */
static enum jw_ledger_line line_of(const struct recording_account *account, bool is_ended,
                                   bool is_short)
{
    if (account->is_own)
        return JW_LEDGER_OWN;
    if (account->is_left_out)
        return JW_LEDGER_LEFT_OUT;
    if (account->is_refused)
        return JW_LEDGER_REFUSED;
    if (!is_ended)
        return JW_LEDGER_LIVE;
    return is_short ? JW_LEDGER_SHORT : JW_LEDGER_ENDED;
}

static void add_to_lines(int64_t lines_ns[JW_LEDGER_LIMIT], enum jw_ledger_line line,
                         const struct recording_cpu_sums *sums)
{
    lines_ns[JW_LEDGER_SAMPLED] += sums->sampled_ns;
    lines_ns[line] += sums->used_ns - sums->sampled_ns;
}

/* Nothing more comes to this account; its thread ended, or goes on under another one. */
static void close_account(struct recording *recording, uint32_t index, bool is_ended, bool is_short)
{
    struct recording_ledger *ledger = &recording->ledger;
    struct recording_account *account = &ledger->accounts[index];

    tell(recording, index, is_ended, jw_now_ns(), &ledger->closed_rows);
    ledger->closed_used_ns += account->now.used_ns;
    add_to_lines(ledger->closed_lines_ns, line_of(account, is_ended, is_short), &account->now);
    ledger->ended_threads += is_ended;
    ledger->short_threads += is_short;
    *account = (struct recording_account){.is_used = false};
}

/* The account of this thread, opened on first sight; NULL: no memory. One that nobody told the end of
 * ends now: its record has gone to another thread. */
static struct recording_account *account_of(struct recording *recording, uint32_t index,
                                            uint32_t serial)
{
    struct recording_ledger *ledger = &recording->ledger;

    if (!reserve_accounts(ledger, (size_t)index + 1)) {
        recording_fail_memory(recording);
        return NULL;
    }

    struct recording_account *account = &ledger->accounts[index];
    if (account->is_used && account->serial != serial)
        close_account(recording, index, true, false);
    account->is_used = true;
    account->serial = serial;
    return account;
}

void recording_ledger_sample(struct recording *recording, const struct event_record *record)
{
    struct recording_account *account =
        account_of(recording, record->thread_index, (uint32_t)record->thread_serial);

    if (account == NULL)
        return;
    account->now.sampled_ns += (int64_t)record->weight_ns;
    account->now.samples++;
}

void recording_thread_cpu(struct recording *recording, const struct recording_thread_cpu *cpu)
{
    struct recording_account *account = account_of(recording, cpu->index, cpu->serial);

    if (account == NULL)
        return;
    recording->ledger.is_kept = true;
    account->now.used_ns = (int64_t)cpu->used_ns;
    account->is_own = cpu->is_own;
    account->is_refused = cpu->is_refused;
    account->is_left_out = cpu->is_left_out;
    if (cpu->is_ended)
        close_account(recording, cpu->index, true, cpu->is_short);
}

void recording_process_cpu(struct recording *recording, uint64_t used_ns)
{
    recording->ledger.is_kept = true;
    recording->ledger.process_ns = recording->ledger.process_before_ns + (int64_t)used_ns;
}

void recording_ledger_resume(struct recording *recording)
{
    struct recording_ledger *ledger = &recording->ledger;

    for (size_t i = 0; i < ledger->account_count; i++)
        if (ledger->accounts[i].is_used)
            close_account(recording, (uint32_t)i, false, false);
    ledger->process_before_ns = ledger->process_ns;
}

bool recording_get_ledger(const struct recording *recording, struct jw_ledger *out)
{
    const struct recording_ledger *ledger = &recording->ledger;
    int64_t used_ns = ledger->closed_used_ns;

    if (!ledger->is_kept)
        return false;
    *out = (struct jw_ledger){
        .process_ns = ledger->process_ns,
        .ended_threads = ledger->ended_threads,
        .short_threads = ledger->short_threads,
    };
    memcpy(out->lines_ns, ledger->closed_lines_ns, sizeof out->lines_ns);
    for (size_t i = 0; i < ledger->account_count; i++) {
        const struct recording_account *account = &ledger->accounts[i];

        if (!account->is_used)
            continue;
        used_ns += account->now.used_ns;
        add_to_lines(out->lines_ns, line_of(account, false, false), &account->now);
        out->live_threads++;
    }
    out->lines_ns[JW_LEDGER_UNSEEN] = ledger->process_ns - used_ns;
    return true;
}

void recording_ledger_close(struct recording *recording)
{
    struct recording_ledger *ledger = &recording->ledger;

    jw_free(ledger->accounts);
    jw_free(ledger->groups);
    jw_map_close(&ledger->group_of);
    *ledger = (struct recording_ledger){0};
}
