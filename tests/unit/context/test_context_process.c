/* The process context and a thread's record, as another process finds them. */
#include "context/context_process.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context/context_internal.h"
#include "support/emulated.h"

TestSuite(context_process, .timeout = 1800);

extern __thread const void *otel_thread_ctx_v1; /* of room thread, for outsiders alone */

struct header {
    char signature[8];
    uint32_t version, payload_bytes;
    uint64_t published_ns, payload;
};

/* Begin of the mapping in another process; 0: it has none, or several. */
static uintptr_t find_mapping(pid_t pid)
{
    char path[64], line[512];
    unsigned long found = 0, count = 0, begin;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    cr_assert(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        if ((strstr(line, "/memfd:OTEL_CTX") != NULL ||
             strstr(line, "[anon_shmem:OTEL_CTX]") != NULL) &&
            sscanf(line, "%lx-", &begin) == 1) {
            found = begin;
            count++;
        }
    fclose(maps);
    return count == 1 ? found : 0;
}

static bool read_other(pid_t pid, uintptr_t addr, void *to, size_t length_bytes)
{
    const struct iovec local = {to, length_bytes}, remote = {(void *)addr, length_bytes};

    const ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

    if (got < 0 && (errno == EPERM || errno == ENOSYS))
        cr_skip_test("another process may not be read here: %s", strerror(errno));
    return got == (ssize_t)length_bytes;
}

/* A child that does this, says that it is done, and waits until it is killed. */
static pid_t child_that(void (*does)(void))
{
    int ready[2];
    char byte;

    cr_assert(eq(int, pipe(ready), 0));
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        does();
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    close(ready[1]); /* else the end of a child that has failed would not be read */
    cr_assert(child > 0 && read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* An emulated process lies elsewhere in its host, and does not tell the host what a child shall not have. */
#define SKIP_EMULATED()                                                                            \
    do {                                                                                           \
        if (is_emulated())                                                                         \
            cr_skip_test("another process cannot be read under an emulator");                      \
    } while (0)

static unsigned char payload[4096];

static struct header read_context(pid_t child)
{
    struct header header;
    const uintptr_t begin = find_mapping(child);

    cr_assert(begin != 0);
    cr_assert(read_other(child, begin, &header, sizeof header));
    cr_assert(memcmp(header.signature, "OTEL_CTX", 8) == 0);
    cr_assert(eq(u32, header.version, 2));
    cr_assert(ne(u64, header.published_ns, 0));
    cr_assert(header.payload_bytes <= sizeof payload);
    cr_assert(read_other(child, header.payload, payload, header.payload_bytes));
    return header;
}

static bool holds(const struct header *header, const char *bytes, size_t length_bytes)
{
    return memmem(payload, header->payload_bytes, bytes, length_bytes) != NULL;
}

static void name_two_and_bind(void)
{
    struct jw_error err = {0};

    cr_assert(contexts_open(&err));
    context_process_set_service("checkout");
    (void)context_attribute("tenant", 6, &err);
    (void)context_attribute("shop", 4, &err);
    const context_slot slot = context_bind(CONTEXT_NATIVE_OWNER | (uint64_t)getpid(), false);
    context_set(slot, &(struct context_ids){1, 2, 3, 4});
    (void)context_attribute_set(slot, 1, "north", 5);
}

/* Written by hand from the definitions of the messages. */
static const char whole[] =
    "\x0a\x1c"
    "\x0a\x1a\x0a\x0cservice.name\x12\x0a\x0a\x08"
    "checkout"
    "\x12\x2e\x0a\x1athreadlocal.schema_version\x12\x10\x0a\x0etlsdesc_v1_dev"
    "\x12\x35\x0a\x1dthreadlocal.attribute_key_"
    "map\x12\x14\x2a\x12\x0a\x08\x0a\x06tenant\x0a\x06\x0a\x04shop";

Test(context_process, another_process_reads_what_was_published)
{
    SKIP_EMULATED();
    const pid_t child = child_that(name_two_and_bind);
    const struct header header = read_context(child);

    cr_assert(eq(u32, header.payload_bytes, sizeof whole - 1));
    cr_assert(memcmp(payload, whole, sizeof whole - 1) == 0);
    end_child(child);
}

Test(context_process, another_process_reads_a_thread_s_record)
{
    SKIP_EMULATED();
    struct context_place place;
    const void *record;
    const pid_t child = child_that(name_two_and_bind);
    /* A copy of this process: its main thread's symbol lies where ours does. */
    const uintptr_t symbol = (uintptr_t)&otel_thread_ctx_v1;

    cr_assert(read_other(child, symbol, &record, sizeof record));
    cr_assert(record != NULL);
    cr_assert(read_other(child, (uintptr_t)record, place.trace_id,
                         CONTEXT_SLOT_BYTES - CONTEXT_RECORD_OFFSET));
    cr_assert(eq(u8, place.trace_id[7], 1));
    cr_assert(eq(u8, place.trace_id[15], 2));
    cr_assert(eq(u8, place.span_id[7], 3));
    cr_assert(eq(u8, place.valid, 1));
    cr_assert(eq(u16, place.attributes_bytes, 7));
    cr_assert(memcmp(place.attributes, "\1\5north", 7) == 0);
    end_child(child);
}

static void bind_alone(void)
{
    struct jw_error err = {0};

    cr_assert(contexts_open(&err));
    (void)context_bind(7, true);
}

Test(context_process, the_first_context_is_enough)
{
    SKIP_EMULATED();
    const pid_t child = child_that(bind_alone);
    const struct header header = read_context(child);

    cr_assert(holds(&header, "threadlocal.attribute_key_map", 29));
    cr_assert(not(holds(&header, "service.name", 12)));
    end_child(child);
}

static void publish_nothing(void)
{
    struct jw_error err = {0};

    cr_assert(contexts_open(&err));
    context_process_set_service("checkout");
}

Test(context_process, nothing_is_published_before_there_is_anything_to_tell)
{
    const pid_t child = child_that(publish_nothing);

    cr_assert(eq(u64, find_mapping(child), 0));
    end_child(child);
}

static void name_all_sixteen(void)
{
    struct jw_error err = {0};
    char name[CONTEXT_NAME_MAX_BYTES + 1], longest[CONTEXT_SERVICE_MAX_BYTES + 1];

    memset(longest, 's', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    context_process_set_service(longest);
    for (int i = 0; i < (int)CONTEXT_ATTRIBUTES_MAX; i++) {
        memset(name, 'n', sizeof name);
        name[0] = (char)('a' + i);
        (void)context_attribute(name, CONTEXT_NAME_MAX_BYTES, &err);
    }
}

Test(context_process, the_largest_context_fits)
{
    SKIP_EMULATED();
    const pid_t child = child_that(name_all_sixteen);
    const struct header header = read_context(child);

    cr_assert(holds(&header, "\x0a\x40pnnn", 6), "the last of the names");
    cr_assert(holds(&header, "ssss", 4));
    cr_assert(header.payload_bytes > 16 * 64 + 255);
    end_child(child);
}

Test(context_process, a_child_that_names_an_attribute_has_a_context_of_its_own)
{
    SKIP_EMULATED();
    name_two_and_bind();
    const struct header mine = *(const struct header *)find_mapping(getpid());
    const pid_t silent = child_that(publish_nothing), telling = child_that(name_all_sixteen);

    cr_assert(eq(u64, find_mapping(silent), 0), "a parent's context is none of its child");
    const struct header header = read_context(telling);
    cr_assert(holds(&header, "shop", 4));
    cr_assert(
        eq(u64, ((const struct header *)find_mapping(getpid()))->published_ns, mine.published_ns));
    end_child(silent);
    end_child(telling);
}

Test(context_process, another_library_s_context_stands)
{
    struct jw_error err = {0};
    const int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);

    cr_assert(fd >= 0 && ftruncate(fd, 4096) == 0);
    cr_assert(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED);
    cr_assert(not(context_process_publish(&err)));
    cr_assert(strstr(err.message, "another library") != NULL);
    cr_assert(ne(u64, find_mapping(getpid()), 0), "one, not two");
}

/* What a reader must see while the context changes: never a payload that is not whole. */
Test(context_process, each_change_has_another_time)
{
    struct jw_error err = {0};
    uint64_t last_ns = 0;

    cr_assert(context_process_publish(&err), "%s", err.message);
    const struct header *header = (const struct header *)find_mapping(getpid());
    for (int i = 0; i < 1000; i++) {
        cr_assert(context_process_publish(&err));
        cr_assert(header->published_ns > last_ns);
        last_ns = header->published_ns;
    }
}
