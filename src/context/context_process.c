/* The process context of OTEP 4719; any. */
#include "context/context_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "base/memory.h"
#include "context/context_internal.h"

/* Source: Linux, include/uapi/linux/prctl.h, memfd.h; older headers have neither. */
#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#define NAME           "OTEL_CTX"
#define VERSION        2
#define SCHEMA         "tlsdesc_v1_dev"
#define MAPPING_BYTES  8192u
#define FIRST_PLACE    64u
#define SECOND_PLACE   4096u
#define PAYLOAD_BYTES  (SECOND_PLACE - FIRST_PLACE)
#define MAPS_AT_A_TIME 1024u

struct header {
    char signature[8];
    uint32_t version;
    _Atomic uint32_t payload_bytes;
    _Atomic uint64_t published_ns;
    _Atomic uintptr_t payload;
};
_Static_assert(sizeof(struct header) == 32, "as OTEP 4719 draws it");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* around all of this */
static struct header *header;                            /* NULL: not published */
static pid_t owner;                                      /* the process that did */
static unsigned turn;                                    /* which place is in use */
static char service[CONTEXT_SERVICE_MAX_BYTES + 1];

/* A message of protobuf that grows; what does not fit marks it. Largest: 16 names of 64 bytes, and a service. */
struct message {
    unsigned char bytes[PAYLOAD_BYTES];
    size_t used_bytes;
    bool is_full;
};
static struct message payload, list, pair, value; /* from the outermost to the innermost */

static void put_byte(struct message *to, unsigned char byte)
{
    if (to->used_bytes == sizeof to->bytes)
        to->is_full = true;
    else
        to->bytes[to->used_bytes++] = byte;
}

/* Source: Protocol Buffers, "Encoding": field number and wire type 2 (length and bytes). */
static void put_field(struct message *to, unsigned number, const void *bytes, size_t length_bytes)
{
    size_t length = length_bytes;

    put_byte(to, (unsigned char)(number << 3 | 2));
    for (; length > 0x7f; length >>= 7)
        put_byte(to, (unsigned char)(0x80 | (length & 0x7f)));
    put_byte(to, (unsigned char)length);
    for (size_t i = 0; i < length_bytes; i++)
        put_byte(to, ((const unsigned char *)bytes)[i]);
}

static void put_message(struct message *to, unsigned number, const struct message *from)
{
    put_field(to, number, from->bytes, from->used_bytes);
    to->is_full |= from->is_full;
}

static void empty(struct message *message)
{
    message->used_bytes = 0;
    message->is_full = false;
}

/* KeyValue: key = 1, value = 2. `value` holds the AnyValue. */
static void put_pair(struct message *to, unsigned number, const char *key)
{
    empty(&pair);
    put_field(&pair, 1, key, strlen(key));
    put_message(&pair, 2, &value);
    put_message(to, number, &pair);
}

/* AnyValue: string_value = 1. */
static void set_text_value(const char *text)
{
    empty(&value);
    put_field(&value, 1, text, strlen(text));
}

/* AnyValue: array_value = 5; ArrayValue: values = 1. */
static void set_names_value(void)
{
    empty(&list);
    for (unsigned i = 0; context_attribute_name(i) != NULL; i++) {
        set_text_value(context_attribute_name(i));
        put_message(&list, 1, &value);
    }
    empty(&value);
    put_message(&value, 5, &list);
}

/* ProcessContext: resource = 1, attributes = 2; Resource: attributes = 1. */
static void encode(void)
{
    empty(&list);
    if (service[0] != '\0') {
        set_text_value(service);
        put_pair(&list, 1, "service.name");
    }
    empty(&payload);
    put_message(&payload, 1, &list);
    set_text_value(SCHEMA);
    put_pair(&payload, 2, "threadlocal.schema_version");
    set_names_value();
    put_pair(&payload, 2, "threadlocal.attribute_key_map");
}

/* True when a mapping of that name is there: it is not ours. What lies across two readings is seen too. */
static bool is_published_by_others(void)
{
    char text[MAPS_AT_A_TIME + sizeof NAME];
    size_t kept_bytes = 0;
    bool is_there = false;
    ssize_t got_bytes;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    while (!is_there && (got_bytes = read(fd, text + kept_bytes, MAPS_AT_A_TIME)) > 0) {
        const size_t all_bytes = kept_bytes + (size_t)got_bytes;

        is_there = memmem(text, all_bytes, NAME, sizeof NAME - 1) != NULL;
        kept_bytes = all_bytes < sizeof NAME - 2 ? all_bytes : sizeof NAME - 2;
        memmove(text, text + all_bytes - kept_bytes, kept_bytes);
    }
    close(fd);
    return is_there;
}

/* A file in memory shows its name in /proc; where there can be none, a mapping that is given a name. */
static void *map(void)
{
    void *memory = MAP_FAILED;
    int fd = memfd_create(NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

    if (fd < 0)
        fd = memfd_create(NAME, MFD_CLOEXEC);
    if (fd >= 0) {
        if (ftruncate(fd, MAPPING_BYTES) == 0)
            memory = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
        close(fd);
    }
    if (memory == MAP_FAILED)
        memory =
            mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory;
}

static bool open_mapping(struct jw_error *err)
{
    if (is_published_by_others()) {
        jw_error_set(err, "another library of this process has published its context (mapping " NAME
                          "); readers see that one");
        return false;
    }
    if (!jw_memory_charge(JW_MEMORY_CONTEXTS, MAPPING_BYTES)) {
        jw_error_set(err,
                     "memlimit leaves no room for the context of the process; try a larger one");
        return false;
    }
    void *memory = map();
    if (memory == MAP_FAILED || madvise(memory, MAPPING_BYTES, MADV_DONTFORK) != 0) {
        jw_error_set(err, "no memory can be mapped for the context of the process: %s",
                     strerror(errno));
        if (memory != MAP_FAILED)
            (void)munmap(memory, MAPPING_BYTES);
        jw_memory_credit(JW_MEMORY_CONTEXTS, MAPPING_BYTES);
        return false;
    }
    jw_memory_note(JW_MEMORY_CONTEXTS, memory, MAPPING_BYTES);
    header = memory;
    header->version = VERSION;
    owner = getpid();
    return true;
}

/* Never the same twice, and never 0. */
static uint64_t next_time_ns(void)
{
    static uint64_t last_ns;
    struct timespec now;

    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        now = (struct timespec){0, 0};
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    last_ns = now_ns > last_ns ? now_ns : last_ns + 1;
    return last_ns;
}

/* The payload goes where no reader looks at this moment. */
static void publish(void)
{
    turn = 1 - turn;
    unsigned char *const place = (unsigned char *)header + (turn == 0 ? FIRST_PLACE : SECOND_PLACE);

    memcpy(place, payload.bytes, payload.used_bytes);
    /* order CONTEXT_PROCESS: before what is changed below; the readers are other processes. */
    (void)jw_exchange_acq_rel(&header->published_ns, 0);
    /* order CONTEXT_PROCESS: after the 0, and after the payload itself. */
    (void)jw_exchange_acq_rel(&header->payload, (uintptr_t)place);
    /* order CONTEXT_PROCESS: after the 0. */
    (void)jw_exchange_acq_rel(&header->payload_bytes, (uint32_t)payload.used_bytes);
    /* order CONTEXT_PROCESS: after all of it. */
    (void)jw_exchange_acq_rel(&header->published_ns, next_time_ns());
    memcpy(header->signature, NAME, sizeof header->signature);
    /* Each time, so that who watches for the call learns of a change; kernels without such names refuse it. */
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, MAPPING_BYTES, NAME);
}

/* The lock is held. */
static bool publish_changes(struct jw_error *err)
{
    if (header != NULL && owner != getpid())
        header = NULL; /* a child: the mapping stayed with its parent */
    if (header == NULL && !open_mapping(err))
        return false;
    encode();
    if (!JW_INVARIANT(!payload.is_full))
        return false;
    publish();
    return true;
}

bool context_process_publish(struct jw_error *err)
{
    pthread_mutex_lock(&lock);
    const bool is_good = publish_changes(err);
    pthread_mutex_unlock(&lock);
    return is_good;
}

void context_process_set_service(const char *name)
{
    pthread_mutex_lock(&lock);
    const size_t length_bytes = name == NULL ? 0 : strnlen(name, sizeof service - 1);
    memcpy(service, name == NULL ? "" : name, length_bytes);
    service[length_bytes] = '\0';
    pthread_mutex_unlock(&lock);
}
