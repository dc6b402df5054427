/* Records of threads. Handlers read by index or tid; hooks and the agent's thread add and end. */
#include "thread/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "base/clock.h"
#include "base/counters.h"
#include "base/memory.h"
#include "os/os_tasks.h"
#include "os/os_thread.h"
#include "thread/thread_filter.h"

enum record_state { RECORD_FREE, RECORD_LIVE, RECORD_ENDED };

/* A JNIEnv* that was there and is gone: never given out, and never replaced by a late finder. */
#define ENV_GONE ((uintptr_t)1)

#define NO_TIMER (-1)

/* Numbers of threads on a page of the map, for the largest page of any kernel. */
#define MAP_PAGE_BYTES 65536u
#define MAP_PAGE_TIDS  (MAP_PAGE_BYTES / sizeof(uint32_t))

struct record {
    _Atomic uint32_t state;
    /* Relaxed: published with the state; who does not keep the record may read that of its next life. */
    _Atomic uint32_t tid;
    _Atomic uint64_t serial;     /* relaxed: read by who got the index from a live timer or event */
    _Atomic uintptr_t env;       /* relaxed: written by the thread itself or checked again after */
    _Atomic int timer;           /* relaxed: the exchange alone decides who deletes */
    _Atomic uint64_t debt_ns;    /* relaxed: the exchange alone decides who gets it */
    _Atomic uint32_t java_state; /* JAVA_NONE, JAVA_FILLING, JAVA_READY */
    uint32_t scan_stamp;         /* of the scanning thread alone */
    _Atomic uint32_t keep;       /* KEEP_NONE, ...: the CAS decides */
    _Atomic uint32_t is_wanted;  /* relaxed: a flag on its own */
    uint64_t begin_ns;
    _Atomic uint64_t end_ns;           /* relaxed: a time on its own; 0: it lives */
    _Atomic uint32_t next_free;        /* relaxed: whoever reads a stale one fails to pop */
    _Atomic uint64_t ended_generation; /* published with state ENDED */
    uint64_t java_id;
    char os_name[THREAD_OS_NAME_BYTES];
    char java_name[THREAD_NAME_BYTES];
    char group[THREAD_GROUP_BYTES];
    bool is_renamed;                  /* dump thread alone */
    char new_name[THREAD_NAME_BYTES]; /* dump thread alone */
};

enum { JAVA_NONE, JAVA_FILLING, JAVA_READY };
/* Whether a record outlives its end:  NONE or NEW --thread_keep--> KEPT --thread_let_go--> NONE --reap--> REAPED */
enum { KEEP_NONE, KEEP_NEW, KEEP_KEPT, KEEP_REAPED };

static struct record *records;
static _Atomic uint32_t *index_by_tid;         /* index + 1; 0: no record */
static _Atomic uint32_t next_unused;           /* relaxed: hands out numbers */
static _Atomic uint64_t free_head;             /* count of pushes << 32 | index + 1 */
static _Atomic uint64_t last_serial;           /* relaxed: hands out numbers */
static _Atomic bool are_new_kept;              /* relaxed: a flag on its own */
static _Atomic uint32_t live_count;            /* relaxed: a figure to show */
static uint32_t capacity = THREAD_RECORDS_MAX; /* constant while records are open */

/* Pages of the map are charged as they are touched: numbers of threads wander over all of it. */
static _Atomic uint64_t charged_pages[THREAD_TID_LIMIT / MAP_PAGE_TIDS / 64];

static void *reserve(size_t size_bytes, struct jw_error *err)
{
    void *memory = jw_memory_map(JW_MEMORY_THREADS, size_bytes);

    if (memory == NULL)
        jw_error_set(err, "cannot reserve %zu bytes for thread records: %s", size_bytes,
                     strerror(errno));
    return memory;
}

bool threads_open(struct jw_error *err)
{
    if (records != NULL)
        return true;
    /* Half of the share is for the map of their numbers. */
    const uint64_t room_bytes = jw_memory_limit_of(JW_MEMORY_THREADS, UINT64_MAX) / 2;
    const uint64_t most = room_bytes / (sizeof *records + THREAD_TABLES_BYTES);

    capacity = most < THREAD_RECORDS_MAX ? (uint32_t)most : THREAD_RECORDS_MAX;
    if (!jw_memory_charge(JW_MEMORY_THREADS, (uint64_t)capacity * sizeof *records)) {
        jw_error_set(err, "memlimit leaves no room for %u thread records; try a larger one",
                     capacity);
        return false;
    }
    records = reserve(jw_mul_bytes(capacity, sizeof *records), err);
    index_by_tid = reserve(jw_mul_bytes(THREAD_TID_LIMIT, sizeof *index_by_tid), err);
    if (records == NULL || index_by_tid == NULL) {
        if (records == NULL)
            jw_memory_credit(JW_MEMORY_THREADS, (uint64_t)capacity * sizeof *records);
        threads_close();
        return false;
    }
    return true;
}

uint32_t threads_capacity(void)
{
    return capacity;
}

void threads_close(void)
{
    if (records != NULL)
        jw_memory_credit(JW_MEMORY_THREADS, (uint64_t)capacity * sizeof *records);
    for (size_t i = 0; i < JW_COUNT_OF(charged_pages); i++) {
        const uint64_t pages = jw_load_relaxed(&charged_pages[i]);

        jw_memory_credit(JW_MEMORY_THREADS, (uint64_t)__builtin_popcountll(pages) * MAP_PAGE_BYTES);
        jw_store_relaxed(&charged_pages[i], 0);
    }
    jw_memory_unmap(records, jw_mul_bytes(capacity, sizeof *records));
    jw_memory_unmap((void *)(uintptr_t)index_by_tid,
                    jw_mul_bytes(THREAD_TID_LIMIT, sizeof *index_by_tid));
    records = NULL;
    index_by_tid = NULL;
    jw_store_relaxed(&next_unused, 0);
    jw_store_relaxed(&free_head, 0);
    jw_store_relaxed(&live_count, 0);
}

/* Whether the page of the map with this number is paid for. */
static bool charge_map(uint32_t tid)
{
    const uint32_t page = tid / MAP_PAGE_TIDS;
    const uint64_t bit = UINT64_C(1) << page % 64;

    if ((jw_load_relaxed(&charged_pages[page / 64]) & bit) != 0)
        return true;
    if (!jw_memory_charge(JW_MEMORY_THREADS, MAP_PAGE_BYTES)) {
        jw_count(JW_COUNT_THREAD_RECORDS_FULL);
        return false;
    }
    if ((jw_or_relaxed(&charged_pages[page / 64], bit) & bit) != 0)
        jw_memory_credit(JW_MEMORY_THREADS, MAP_PAGE_BYTES); /* another was faster */
    return true;
}

/* A free record: a recycled one, else one never used. The count of pushes keeps a slow popper from
 * putting back an old head (ABA). */
static thread_index take_record(void)
{
    /* order THREAD_FREE: acquires what threads_reap released, the link in the record. */
    uint64_t head = jw_load_acquire(&free_head);

    while ((uint32_t)head != 0) {
        const thread_index index = (uint32_t)head - 1;
        const uint64_t next = (head >> 32) << 32 | jw_load_relaxed(&records[index].next_free);

        /* order THREAD_FREE: acquires what threads_reap released, the link in the record. */
        if (jw_cas_acq_rel(&free_head, &head, next))
            return index;
    }
    const uint32_t unused = jw_add_relaxed(&next_unused, 1);

    if (unused < capacity)
        return unused;
    jw_store_relaxed(&next_unused, capacity);
    jw_count(JW_COUNT_THREAD_RECORDS_FULL);
    return THREAD_NONE;
}

static void push_free(thread_index index)
{
    uint64_t head = jw_load_relaxed(&free_head);
    uint64_t wanted;

    do {
        jw_store_relaxed(&records[index].next_free, (uint32_t)head);
        wanted = ((head >> 32) + 1) << 32 | (index + 1);
        /* order THREAD_FREE: releases the link in the record to take_record. */
    } while (!jw_cas_acq_rel(&free_head, &head, wanted));
}

static void copy_text(char *to, size_t size_bytes, const char *from)
{
    size_t length_bytes = from == NULL ? 0 : strnlen(from, size_bytes);

    if (length_bytes == size_bytes) {
        length_bytes = size_bytes - 1;
        while (length_bytes > 0 && ((unsigned char)from[length_bytes] & 0xc0) == 0x80)
            length_bytes--;
    }
    if (length_bytes > 0)
        memcpy(to, from, length_bytes);
    to[length_bytes] = '\0';
}

static bool is_let_in(const struct record *record, const char *name)
{
    const uint32_t tid = jw_load_relaxed(&record->tid);

    return !os_thread_is_own((int)tid) && thread_filter_lets_in(tid, name);
}

static thread_index fill_record(uint32_t tid)
{
    const thread_index index = take_record();

    if (index == THREAD_NONE)
        return THREAD_NONE;

    struct record *record = &records[index];
    jw_store_relaxed(&record->tid, tid);
    jw_store_relaxed(&record->serial, jw_add_relaxed(&last_serial, 1) + 1);
    jw_store_relaxed(&record->env, (uintptr_t)0);
    jw_store_relaxed(&record->timer, NO_TIMER);
    jw_store_relaxed(&record->debt_ns, 0);
    jw_store_relaxed(&record->java_state, JAVA_NONE);
    record->scan_stamp = 0;
    record->java_id = 0;
    record->java_name[0] = record->group[0] = record->new_name[0] = '\0';
    record->is_renamed = false;
    record->begin_ns = jw_now_ns();
    jw_store_relaxed(&record->end_ns, 0);
    jw_store_relaxed(&record->ended_generation, 0);
    if (!os_task_name((int)tid, record->os_name)) {
        snprintf(record->os_name, sizeof record->os_name, "tid %u", tid);
        jw_count(JW_COUNT_THREADS_UNNAMED);
    }
    jw_store_relaxed(&record->is_wanted, is_let_in(record, record->os_name));
    /* order THREAD_KEEP: releases the record's fields to who may keep it from now on. */
    jw_store_release(&record->keep, jw_load_relaxed(&are_new_kept) ? KEEP_NEW : KEEP_NONE);
    return index;
}

thread_index thread_add(uint32_t tid, bool *is_new)
{
    *is_new = false;
    if (index_by_tid == NULL || tid == 0 || tid >= THREAD_TID_LIMIT)
        return THREAD_NONE;

    const thread_index existing = thread_find(tid);
    if (existing != THREAD_NONE)
        return existing;

    const thread_index index = charge_map(tid) ? fill_record(tid) : THREAD_NONE;
    if (index == THREAD_NONE)
        return THREAD_NONE;

    uint32_t other = 0;
    /* order THREAD_MAP: acquires another record's fields or releases this one's. */
    if (!jw_cas_acq_rel(&index_by_tid[tid], &other, index + 1)) {
        push_free(index); /* nobody has seen it: it was never live */
        return other - 1;
    }
    jw_add_relaxed(&live_count, 1);
    /* Only now: who ends a record takes it out of the map, where it must be by then.
     * order THREAD_STATE: releases the record's fields. */
    jw_store_release(&records[index].state, RECORD_LIVE);
    jw_count(JW_COUNT_THREADS_SEEN);
    *is_new = true;
    return index;
}

void thread_set_java(thread_index index, const struct thread_java *java)
{
    struct record *record = &records[index];
    uint32_t none = JAVA_NONE;
    uintptr_t no_env = 0;

    if (jw_cas_relaxed(&record->java_state, &none, JAVA_FILLING)) {
        record->java_id = java->java_id;
        copy_text(record->java_name, sizeof record->java_name, java->name);
        copy_text(record->group, sizeof record->group, java->group);
        jw_store_relaxed(&record->is_wanted, is_let_in(record, record->java_name));
        /* order THREAD_JAVA: releases names and number to thread_info and thread_java_id. */
        jw_store_release(&record->java_state, JAVA_READY);
    }
    if (java->env != NULL)
        (void)jw_cas_relaxed(&record->env, &no_env, (uintptr_t)java->env);
}

static void note_end(struct record *record)
{
    uint64_t none = 0;

    (void)jw_cas_relaxed(&record->end_ns, &none, jw_now_ns());
}

void thread_end_java(thread_index index)
{
    jw_store_relaxed(&records[index].env, ENV_GONE);
    jw_signal_fence();
    note_end(&records[index]);
}

/* Whoever names a generation, the latest one counts. */
static void raise_ended_generation(struct record *record, uint64_t generation)
{
    uint64_t before = jw_load_relaxed(&record->ended_generation);

    while (before < generation && !jw_cas_relaxed(&record->ended_generation, &before, generation))
        ;
}

void thread_outlive(thread_index index, uint32_t serial, uint64_t generation)
{
    if (index < threads_limit() && (uint32_t)thread_serial(index) == serial)
        raise_ended_generation(&records[index], generation);
}

void thread_end(thread_index index, uint64_t generation)
{
    struct record *record = &records[index];
    uint32_t live = RECORD_LIVE;

    if (jw_load_relaxed(&record->state) != RECORD_LIVE)
        return;
    jw_store_relaxed(&record->env, ENV_GONE);
    note_end(record);
    raise_ended_generation(record, generation);
    /* order THREAD_STATE: releases the number of the generation to threads_reap. */
    if (!jw_cas_acq_rel(&record->state, &live, RECORD_ENDED))
        return;

    uint32_t mine = index + 1;
    (void)jw_cas_relaxed(&index_by_tid[jw_load_relaxed(&record->tid)], &mine, 0);
    jw_add_relaxed(&live_count, UINT32_MAX);
}

thread_index thread_find(uint32_t tid)
{
    if (index_by_tid == NULL || tid >= THREAD_TID_LIMIT)
        return THREAD_NONE;
    /* order THREAD_MAP: acquires what thread_add released, the record's fields. */
    return jw_load_acquire(&index_by_tid[tid]) - 1;
}

bool thread_is_live(thread_index index)
{
    /* order THREAD_STATE: acquires the record's fields. */
    return records != NULL && index < capacity &&
           jw_load_acquire(&records[index].state) == RECORD_LIVE;
}

uint32_t thread_tid(thread_index index)
{
    return jw_load_relaxed(&records[index].tid);
}

uint64_t thread_serial(thread_index index)
{
    return jw_load_relaxed(&records[index].serial);
}

void *thread_env(thread_index index)
{
    const uintptr_t env = jw_load_relaxed(&records[index].env);

    return env == ENV_GONE ? NULL : (void *)env;
}

bool thread_is_java(thread_index index)
{
    return jw_load_relaxed(&records[index].java_state) != JAVA_NONE;
}

uint64_t thread_java_id(thread_index index)
{
    /* order THREAD_JAVA: acquires what thread_set_java released, the number. */
    return jw_load_acquire(&records[index].java_state) == JAVA_READY ? records[index].java_id : 0;
}

static bool has_java_id(thread_index index, uint64_t java_id)
{
    return thread_is_live(index) && thread_java_id(index) == java_id;
}

thread_index thread_find_java(uint64_t java_id)
{
    static _Atomic uint32_t found[64]; /* relaxed: where to look first */
    _Atomic uint32_t *const last = &found[java_id % JW_COUNT_OF(found)];
    const uint32_t limit = java_id == 0 ? 0 : threads_limit();
    const thread_index likely = jw_load_relaxed(last);

    if (likely < limit && has_java_id(likely, java_id))
        return likely;
    for (thread_index index = 0; index < limit; index++) {
        if (!has_java_id(index, java_id))
            continue;
        jw_store_relaxed(last, index);
        return index;
    }
    return THREAD_NONE;
}

int thread_exchange_timer(thread_index index, int timer)
{
    /* order THREAD_TIMER: the one who takes a timer out acquires what the one who put it released. */
    return jw_exchange_acq_rel(&records[index].timer, timer);
}

bool thread_has_timer(thread_index index)
{
    return jw_load_relaxed(&records[index].timer) != NO_TIMER;
}

void thread_set_debt(thread_index index, uint64_t debt_ns)
{
    jw_store_relaxed(&records[index].debt_ns, debt_ns);
}

uint64_t thread_take_debt(thread_index index)
{
    return jw_load_relaxed(&records[index].debt_ns) == 0
               ? 0
               /* order THREAD_DEBT: the one who takes it acquires and releases; nobody else reads. */
               : jw_exchange_acq_rel(&records[index].debt_ns, 0);
}

void thread_set_scan_stamp(thread_index index, uint32_t stamp)
{
    records[index].scan_stamp = stamp;
}

uint32_t thread_scan_stamp(thread_index index)
{
    return records[index].scan_stamp;
}

uint64_t thread_begin_ns(thread_index index)
{
    return records[index].begin_ns;
}

uint64_t thread_end_ns(thread_index index)
{
    return jw_load_relaxed(&records[index].end_ns);
}

/* By the name that it had first: another one, of which the dump thread alone knows, is asked for at the next change. */
void thread_ask_filter(thread_index index)
{
    struct record *record = &records[index];
    /* order THREAD_JAVA: acquires what thread_set_java released, the name. */
    const bool is_java = jw_load_acquire(&record->java_state) == JAVA_READY;

    jw_store_relaxed(&record->is_wanted,
                     is_let_in(record, is_java ? record->java_name : record->os_name));
}

bool thread_is_wanted(thread_index index)
{
    return jw_load_relaxed(&records[index].is_wanted) != 0;
}

void threads_keep_new(bool are_kept)
{
    jw_store_relaxed(&are_new_kept, are_kept);
}

bool thread_keep(thread_index index)
{
    struct record *record = &records[index];
    uint32_t before = jw_load_relaxed(&record->keep);

    /* Before its first life a record cannot be told from one that may be kept.
     * order THREAD_STATE: acquires the record's fields. */
    if (jw_load_acquire(&record->state) == RECORD_FREE)
        return false;
    /* order THREAD_KEEP: acquires the fields that fill_record released, or the end of an earlier keeping. */
    if ((before != KEEP_NONE && before != KEEP_NEW) ||
        !jw_cas_acq_rel(&record->keep, &before, KEEP_KEPT))
        return false;
    /* order THREAD_STATE: acquires the record's fields. */
    if (jw_load_acquire(&record->state) != RECORD_FREE)
        return true;
    /* order THREAD_KEEP: releases nothing: it was reaped, and is being filled for another thread. */
    jw_store_release(&record->keep, KEEP_NONE);
    return false;
}

void thread_let_go(thread_index index, uint64_t generation)
{
    raise_ended_generation(&records[index], generation);
    /* order THREAD_KEEP: releases the number of the generation to threads_reap. */
    jw_store_release(&records[index].keep, KEEP_NONE);
}

uint32_t threads_limit(void)
{
    const uint32_t limit = jw_load_relaxed(&next_unused);

    return limit < capacity ? limit : capacity;
}

bool thread_info(thread_index index, struct thread_info *out)
{
    if (records == NULL || index >= capacity)
        return false;

    const struct record *record = &records[index];
    /* order THREAD_STATE: acquires the record's fields. */
    if (jw_load_acquire(&record->state) == RECORD_FREE)
        return false;
    memset(out, 0, sizeof *out);
    out->serial = jw_load_relaxed(&record->serial);
    out->tid = jw_load_relaxed(&record->tid);
    copy_text(out->os_name, sizeof out->os_name, record->os_name);
    /* order THREAD_JAVA: acquires the names that thread_set_java released. */
    if (jw_load_acquire(&record->java_state) == JAVA_READY) {
        out->java_id = record->java_id;
        copy_text(out->java_name, sizeof out->java_name,
                  record->is_renamed ? record->new_name : record->java_name);
        copy_text(out->group, sizeof out->group, record->group);
    }
    return true;
}

void thread_rename(thread_index index, const char *java_name)
{
    struct record *record = &records[index];

    copy_text(record->new_name, sizeof record->new_name, java_name);
    record->is_renamed = true;
    jw_store_relaxed(&record->is_wanted, is_let_in(record, record->new_name));
}

void threads_each(void (*visit)(thread_index index, bool is_live, void *argument), void *argument)
{
    if (records == NULL)
        return;

    const uint32_t limit = threads_limit();

    for (thread_index index = 0; index < limit; index++) {
        /* order THREAD_STATE: acquires the record's fields. */
        const uint32_t state = jw_load_acquire(&records[index].state);

        if (state != RECORD_FREE)
            visit(index, state == RECORD_LIVE, argument);
    }
}

bool thread_is_done(thread_index index, uint64_t oldest_generation)
{
    const struct record *record = &records[index];

    /* order THREAD_STATE: acquires the number of the generation that thread_end released. */
    return jw_load_acquire(&record->state) == RECORD_ENDED &&
           jw_load_relaxed(&record->ended_generation) < oldest_generation;
}

static void reap_one(thread_index index, bool is_live, void *argument)
{
    const uint64_t *oldest_generation = argument;
    struct record *record = &records[index];
    uint32_t none = KEEP_NONE;

    if (is_live || !thread_is_done(index, *oldest_generation) ||
        jw_load_relaxed(&record->timer) != NO_TIMER)
        return;
    /* order THREAD_KEEP: acquires the generation that thread_let_go released. */
    if (!jw_cas_acq_rel(&record->keep, &none, KEEP_REAPED))
        return;
    if (jw_load_relaxed(&record->ended_generation) >= *oldest_generation) {
        /* order THREAD_KEEP: releases nothing: it lives on until the next look. */
        jw_store_release(&record->keep, KEEP_NONE);
        return;
    }
    /* order THREAD_STATE: releases the end of the record's use. */
    jw_store_release(&record->state, RECORD_FREE);
    push_free(index);
}

void threads_reap(uint64_t oldest_generation)
{
    threads_each(reap_one, &oldest_generation);
}

uint32_t threads_live(void)
{
    return jw_load_relaxed(&live_count);
}
