/* The file on disk: sound at every instant, whatever call is the last one or fails. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jfr/jfr_writer.h"
#include "os/os_output.h"
#include "recording/recording_file.h"
#include "support/jfr_check.h"
#include "support/one_thread.h"

#define START_TICKS 1000000000ull
#define PART_TICKS  1000000ull

static char directory[] = "/tmp/jaywalk-file-XXXXXX";
static char path[64];
static struct jw_error err;

/* What a writer above the file keeps: the time, the last checkpoint, the next key. */
static uint64_t now_ticks;
static uint64_t chunk_start_ticks;
static uint64_t checkpoint_offset;
static uint64_t next_key;

static void make_directory(void)
{
    cr_assert_not_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/out.jfr", directory);
    now_ticks = START_TICKS;
    next_key = 1;
}

static void remove_directory(void)
{
    unlink(path);
    cr_expect_eq(rmdir(directory), 0, "something was left behind: %s", strerror(errno));
}

TestSuite(recording_file, .init = make_directory, .fini = remove_directory, .timeout = 1800);

/* A new thread group and an event that names it, with a text that makes the part as long as wanted. */
static struct recording_file_part make_part(struct jfr_buffer *out, uint64_t part_offset,
                                            bool begins_chunk, size_t text_bytes)
{
    static struct jfr_pools pools;
    char *text = calloc(1, text_bytes + 1);

    jfr_buffer_clear(out);
    now_ticks += PART_TICKS;
    if (begins_chunk) {
        chunk_start_ticks = now_ticks;
        jfr_put_metadata(out, now_ticks,
                         &(struct jfr_declaration){.dialect = JFR_DIALECT_STANDARD});
    }

    const uint64_t symbol = next_key++;
    jfr_put_text(jfr_pool_put(&pools, JFR_TYPE_THREAD_STATE, symbol), "STATE", 5);
    memset(text, 'x', text_bytes);
    size_t begin = jfr_event_begin(out, JFR_TYPE_OS_INFORMATION);
    jfr_put_varint(out, now_ticks);
    jfr_put_string(out, text);
    jfr_event_end(out, begin);
    begin = jfr_event_begin(out, JFR_TYPE_EXECUTION_SAMPLE);
    jfr_put_varint(out, now_ticks);
    jfr_put_varint(out, 0);
    jfr_put_varint(out, 0);
    jfr_put_varint(out, symbol);
    jfr_put_varint(out, 10000000);
    for (int i = 0; i < 5; i++) /* wallTime, no carrier, and no context */
        jfr_put_varint(out, 0);
    jfr_event_end(out, begin);

    const size_t checkpoint_at = out->used_bytes;
    const uint64_t offset = part_offset + checkpoint_at;
    jfr_put_checkpoint(out, &pools, now_ticks, begins_chunk ? 0 : offset - checkpoint_offset);
    checkpoint_offset = offset;
    jfr_pools_close(&pools);
    free(text);
    cr_assert(!out->has_failed);
    return (struct recording_file_part){
        .bytes = out->bytes,
        .length_bytes = out->used_bytes,
        .has_checkpoint = true,
        .checkpoint_at = checkpoint_at,
        .start_wall_ns = 1700000000000000000ull + chunk_start_ticks,
        .start_ticks = chunk_start_ticks,
        .duration_ns = now_ticks - chunk_start_ticks + 1,
    };
}

static struct recording_file *open_file(struct jfr_buffer *buffer,
                                        const struct os_output_calls *calls)
{
    const struct recording_file_part part = make_part(buffer, JFR_HEADER_BYTES, true, 100);

    return recording_file_open(path, calls, &part, &err);
}

static bool append(struct recording_file *file, struct jfr_buffer *buffer, size_t text_bytes)
{
    const struct recording_file_part part =
        make_part(buffer, recording_file_next_offset(file), false, text_bytes);

    return recording_file_append(file, &part, &err);
}

static bool begin_chunk(struct recording_file *file, struct jfr_buffer *buffer)
{
    const struct recording_file_part part = make_part(buffer, JFR_HEADER_BYTES, true, 300);

    return recording_file_begin_chunk(file, &part, &err);
}

static bool finish(struct recording_file *file, struct jfr_buffer *buffer)
{
    const struct recording_file_part part =
        make_part(buffer, recording_file_next_offset(file), false, 7);

    return recording_file_finish(file, &part, &err);
}

/* A life with all that can happen to a file: parts, chunks, growth of the reserve, the end. False when
 * a step said that it failed. */
static bool live(const struct os_output_calls *calls)
{
    struct jfr_buffer buffer = {0};
    struct recording_file *file = open_file(&buffer, calls);
    bool is_good = file != NULL;

    for (int chunk = 0; is_good && chunk < 3; chunk++) {
        is_good = chunk == 0 || begin_chunk(file, &buffer);
        for (int part = 0; is_good && part < 3; part++)
            is_good = append(file, &buffer, part == 1 && chunk == 2 ? (size_t)1 << 20 : 40);
    }
    is_good = is_good && finish(file, &buffer);
    recording_file_close(file);
    jfr_buffer_close(&buffer);
    return is_good;
}

/* ---- calls that look at the file, or fail, at every turn ---- */

static size_t calls_made;
static size_t fail_at; /* 1: the first; 0: none */
static int failure;
static bool is_watching;  /* every state is looked at */
static bool is_shortened; /* each write is cut short once */
static size_t last_events;
static size_t states_checked;

/* The file as it is now: absent before the first rename, and from then on sound and never poorer. */
static void check_state(void)
{
    struct jfr_check check;
    struct stat found;

    if (!is_watching || stat(path, &found) != 0)
        return;
    states_checked++;
    cr_assert(jfr_check_file(path, &check), "after call %zu: %s", calls_made, check.problem);
    cr_assert(check.event_count >= last_events, "after call %zu: events were lost", calls_made);
    last_events = check.event_count;
}

static bool must_fail(void)
{
    if (++calls_made != fail_at)
        return false;
    errno = failure;
    return true;
}

static ssize_t watched_write(int fd, const void *bytes, size_t length_bytes, off_t offset)
{
    check_state();
    if (must_fail())
        return -1;
    /* The system cuts a write between pages only: the small ones that commit stay whole. */
    if (is_shortened && length_bytes > 4096)
        length_bytes = length_bytes / 2;

    const ssize_t written = pwrite(fd, bytes, length_bytes, offset);
    check_state();
    return written;
}

static int watched_set_size(int fd, off_t size_bytes)
{
    return must_fail() ? -1 : ftruncate(fd, size_bytes);
}

static int no_clone(int to_fd, int from_fd)
{
    (void)to_fd;
    (void)from_fd;
    errno = EOPNOTSUPP;
    return -1;
}

static ssize_t watched_copy(int from_fd, off_t *from, int to_fd, off_t *to, size_t length_bytes)
{
    return must_fail() ? -1
                       : os_output_system_calls.copy_range(
                             from_fd, from, to_fd, to,
                             is_shortened && length_bytes > 100 ? length_bytes / 3 : length_bytes);
}

static int watched_rename(int directory_fd, const char *from, const char *to)
{
    check_state();
    if (must_fail())
        return -1;

    const int result = os_output_system_calls.rename_at(directory_fd, from, to);
    check_state();
    return result;
}

static struct os_output_calls watched_calls(void)
{
    struct os_output_calls calls = os_output_system_calls;

    calls_made = 0;
    is_watching = true;
    last_events = 0;
    states_checked = 0;
    calls.write_at = watched_write;
    calls.set_size = watched_set_size;
    calls.clone = no_clone;
    calls.copy_range = watched_copy;
    calls.rename_at = watched_rename;
    return calls;
}

Test(recording_file, a_whole_life_leaves_all_events_and_no_reserve)
{
    struct jfr_check check;

    cr_assert(live(NULL), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(check.chunk_count, 3);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 13);
    cr_expect_eq(jfr_check_events(&check, "jdk.OSInformation"), 13);
    cr_expect_eq(check.checkpoint_count, 13);
    cr_expect(check.is_final);
    cr_expect_eq(check.final_count, 1, "only the last chunk is final");
    cr_expect_lt(check.skipped_bytes, 600, "the reserve is gone");
}

Test(recording_file, m54_is_sound_before_and_after_every_call)
{
    const struct os_output_calls calls = watched_calls();

    cr_assert(live(&calls), "%s", err.message);
    cr_expect_gt(states_checked, 80, "%zu states were looked at", states_checked);
}

Test(recording_file, is_sound_when_the_kernel_cuts_long_writes_short)
{
    LEAVE_TO_ADDRESS_SANITIZER();

    const struct os_output_calls calls = watched_calls();
    struct jfr_check check;

    is_shortened = true;
    cr_assert(live(&calls), "%s", err.message);
    cr_assert(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 13);
}

Test(recording_file, m53_stays_sound_and_says_why_when_any_call_fails)
{
    calls_made = fail_at = 0;
    while (fail_at++ <= calls_made) {
        const struct os_output_calls calls = watched_calls();
        struct jfr_check check;

        failure = fail_at % 2 == 0 ? ENOSPC : EIO;
        is_watching = false;
        unlink(path);
        now_ticks = START_TICKS;
        jw_error_clear(&err);
        if (live(&calls)) {
            /* Only the copy that would have cut the reserve off may fail unsaid. */
            cr_assert(jfr_check_file(path, &check), "%s", check.problem);
            cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 13);
            cr_expect(check.is_final);
        } else {
            cr_expect(strstr(err.message, strerror(failure)), "call %zu: %s", fail_at, err.message);
            cr_expect(strstr(err.message, path), "call %zu: %s", fail_at, err.message);
            is_watching = true;
            check_state();
        }
    }
    cr_expect_gt(fail_at, 40, "only %zu calls", fail_at);
}

Test(recording_file, m53_is_marked_complete_only_when_it_is)
{
    LEAVE_TO_ADDRESS_SANITIZER();

    calls_made = fail_at = 0;
    while (fail_at++ <= calls_made) {
        const struct os_output_calls calls = watched_calls();
        struct jfr_check check;

        failure = ENOSPC;
        is_watching = false;
        unlink(path);
        now_ticks = START_TICKS;
        jw_error_clear(&err);
        if (!live(&calls) && access(path, F_OK) == 0) {
            cr_assert(jfr_check_file(path, &check), "%s", check.problem);
            cr_expect(!check.is_final || jfr_check_events(&check, "jdk.ExecutionSample") == 13,
                      "call %zu of %zu", fail_at, calls_made);
        }
    }
}

Test(recording_file, after_a_failure_nothing_more_is_written)
{
    struct jfr_buffer buffer = {0};
    struct jfr_check check;
    struct os_output_calls calls = watched_calls();
    struct recording_file *file = open_file(&buffer, &calls);

    cr_assert_not_null(file);
    fail_at = calls_made + 1;
    failure = ENOSPC;
    cr_assert(!append(file, &buffer, 10));
    cr_expect(strstr(err.message, "stay readable"), "%s", err.message);
    cr_expect(recording_file_has_failed(file));

    const size_t made = calls_made;
    jw_error_clear(&err);
    cr_expect(append(file, &buffer, 10), "told once");
    cr_expect(begin_chunk(file, &buffer));
    cr_expect(finish(file, &buffer));
    cr_expect_str_empty(err.message);
    cr_expect_eq(calls_made, made);
    recording_file_close(file);
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(jfr_check_events(&check, "jdk.ExecutionSample"), 1);
    jfr_buffer_close(&buffer);
}

Test(recording_file, a_new_chunk_finds_room_when_the_reserve_is_used_up)
{
    const struct os_output_calls calls = watched_calls();
    struct jfr_buffer buffer = {0};
    struct jfr_check check;
    struct stat before;
    struct stat after;
    struct recording_file *file = open_file(&buffer, &calls);

    cr_assert_not_null(file);
    cr_assert_eq(stat(path, &before), 0);
    const uint64_t left_bytes = (uint64_t)before.st_size - recording_file_used_bytes(file);
    cr_assert(append(file, &buffer, (size_t)left_bytes - 1000), "%s", err.message);
    cr_assert_eq(stat(path, &after), 0);
    cr_assert_eq(after.st_size, before.st_size, "not grown yet");
    cr_assert(begin_chunk(file, &buffer), "%s", err.message);
    cr_assert_eq(stat(path, &after), 0);
    cr_expect_gt(after.st_size, before.st_size);
    recording_file_close(file);
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
    cr_expect_eq(check.chunk_count, 2);
    jfr_buffer_close(&buffer);
}

/* A write inside one page cannot be halved by SIGKILL, one across two pages can. */
static ssize_t page_checked_write(int fd, const void *bytes, size_t length_bytes, off_t offset)
{
    const bool is_header = length_bytes == JFR_HEADER_BYTES && memcmp(bytes, "FLR", 4) == 0;

    if (is_header || length_bytes == JFR_PADDING_SIZE_BYTES)
        cr_assert_eq(offset / 4096, (offset + (off_t)length_bytes - 1) / 4096,
                     "%zu bytes at %lld cross a page", length_bytes, (long long)offset);
    return pwrite(fd, bytes, length_bytes, offset);
}

Test(recording_file, no_committing_write_crosses_a_page)
{
    struct jfr_buffer buffer = {0};
    struct jfr_check check;
    struct os_output_calls calls = os_output_system_calls;

    calls.write_at = page_checked_write;
    struct recording_file *file = open_file(&buffer, &calls);
    cr_assert_not_null(file);
    for (size_t text_bytes = 0; text_bytes < 700; text_bytes++) {
        cr_assert(append(file, &buffer, text_bytes % 150), "%s", err.message);
        if (text_bytes % 37 == 0)
            cr_assert(begin_chunk(file, &buffer), "%s", err.message);
    }

    /* Parts that end just before, on and just behind the end of a page. */
    for (uint64_t wanted = 4080; wanted < 4100; wanted++) {
        const size_t without_text_bytes = 50;
        const uint64_t end = recording_file_used_bytes(file) + 100 + without_text_bytes;

        cr_assert(append(file, &buffer, 100 + (size_t)((wanted + 4096 - end % 4096) % 4096)));
    }
    cr_assert(finish(file, &buffer), "%s", err.message);
    recording_file_close(file);
    cr_expect(jfr_check_file(path, &check), "%s", check.problem);
    jfr_buffer_close(&buffer);
}

Test(recording_file, m54_a_killed_writer_leaves_a_sound_file)
{
    /* The writer is some steps ahead, and no more: the pipe is full then. */
    static char step[1024];

    for (int i = 0; i < 8; i++) {
        int to_parent[2];

        cr_assert_eq(pipe(to_parent), 0);
        cr_assert_geq(fcntl(to_parent[1], F_SETPIPE_SZ, 4096), 4096);
        const pid_t child = fork();
        if (child == 0) {
            struct jfr_buffer buffer = {0};
            struct recording_file *file = open_file(&buffer, NULL);

            alarm(600);
            while (append(file, &buffer, 20000) && write(to_parent[1], step, sizeof step) > 0)
                ;
            _exit(1);
        }
        close(to_parent[1]); /* else the end of a child that has failed would not be read */
        for (int appended = 0; appended < 20 + 7 * i; appended++)
            cr_assert_eq(read(to_parent[0], step, sizeof step), (ssize_t)sizeof step);
        kill(child, SIGKILL);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        close(to_parent[0]);

        struct jfr_check check;
        cr_expect(jfr_check_file(path, &check), "%s", check.problem);
        cr_expect_geq(check.event_count, 2 * 20);
        cr_assert_eq(unlink(path), 0);
    }
    /* A kill between naming a copy and putting it in place may leave that name. */
    char command[96];
    snprintf(command, sizeof command, "rm -f %s/.jaywalk-*.tmp", directory);
    cr_expect_eq(system(command), 0);
}

Test(recording_file, refuses_to_begin_where_it_may_not_write)
{
    struct jfr_buffer buffer = {0};

    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect_null(open_file(&buffer, NULL));
    cr_expect(strstr(err.message, "is a directory"), "%s", err.message);
    cr_assert_eq(rmdir(path), 0);
    jfr_buffer_close(&buffer);
}
