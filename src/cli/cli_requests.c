/*
 * Which root span was a request to which endpoint, of a whole recording: the event that says so often
 * comes after the samples. Context: tool.
 */
#include <string.h>

#include "base/glob.h"
#include "base/hash.h"
#include "base/map.h"
#include "cli/cli_contexts_internal.h"
#include "jfr/jfr_context.h"

#define CLI_ROOTS_FIRST    1024u
#define CLI_REQUESTS_LIMIT (1u << 22) /* distinct endpoints and operations */

/* A root span; 0 is none. */
struct cli_root {
    uint64_t id;
    uint32_t request; /* number + 1; 0: not known */
};

struct cli_requests {
    struct cli_root *roots; /* open addressing; a quarter stays free */
    uint32_t root_slots;    /* a power of two, or 0 */
    uint32_t root_count;

    struct cli_request **items;
    size_t count, capacity;
    struct jw_map number_of; /* both texts -> number + 1 */

    struct jw_map known; /* keys of both constants of this chunk -> number + 1 */
    struct jfr_text endpoint;
    struct jfr_text operation;
    bool is_of_samples;
    bool is_out_of_memory;
};

static struct cli_root *root_slot(const struct cli_requests *requests, uint64_t id)
{
    const uint32_t mask = requests->root_slots - 1;
    uint32_t at = (uint32_t)jw_hash_word(id) & mask;

    while (requests->roots[at].id != 0 && requests->roots[at].id != id)
        at = (at + 1) & mask;
    return &requests->roots[at];
}

static bool grow_roots(struct cli_requests *requests)
{
    struct cli_requests grown = {
        .root_slots = requests->root_slots == 0 ? CLI_ROOTS_FIRST : 2 * requests->root_slots};

    if (grown.root_slots != 0)
        grown.roots = jw_alloc(jw_mul_bytes(grown.root_slots, sizeof *grown.roots));
    if (grown.roots == NULL) {
        requests->is_out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < requests->root_slots; i++) {
        if (requests->roots[i].id != 0)
            *root_slot(&grown, requests->roots[i].id) = requests->roots[i];
    }
    jw_free(requests->roots);
    requests->roots = grown.roots;
    requests->root_slots = grown.root_slots;
    return true;
}

/* The place of a root span, added on first sight; NULL: no memory. */
static struct cli_root *root_at(struct cli_requests *requests, uint64_t id)
{
    if (requests->root_count >= requests->root_slots / 4 * 3 && !grow_roots(requests))
        return NULL;

    struct cli_root *root = root_slot(requests, id);
    if (root->id == 0) {
        root->id = id;
        requests->root_count++;
    }
    return root;
}

/* A copy that lives as long as the struct. */
static struct cli_request *make_request(const struct jfr_text *endpoint,
                                        const struct jfr_text *operation)
{
    const size_t bytes = endpoint->length_bytes + 1;
    struct cli_request *made = jw_alloc(sizeof *made + bytes + operation->length_bytes + 1);

    if (made == NULL)
        return NULL;

    char *texts = (char *)(made + 1);
    memcpy(texts, endpoint->text, bytes);
    if (operation->length_bytes > 0) {
        memcpy(texts + bytes, operation->text, operation->length_bytes + 1);
        made->operation = texts + bytes;
    }
    made->endpoint = texts;
    made->is_wished = true;
    return made;
}

static bool add_request(struct cli_requests *requests)
{
    if (requests->count == requests->capacity) {
        const size_t capacity = requests->capacity == 0 ? 64 : 2 * requests->capacity;
        void *items = jw_realloc(requests->items, jw_mul_bytes(capacity, sizeof *requests->items));

        if (items == NULL)
            return false;
        requests->items = items;
        requests->capacity = capacity;
    }

    struct cli_request *made = make_request(&requests->endpoint, &requests->operation);
    if (made == NULL)
        return false;
    requests->items[requests->count++] = made;
    return true;
}

/* Text of a value that may be none, "" then. */
static bool read_text(const struct jfr_value *value, struct jfr_text *text)
{
    if (value->reader != NULL && jfr_value_text(value, text))
        return true;
    return jfr_text_set(text, "", 0);
}

/* Number + 1 of what is in both texts; 0: no memory, or far too many. */
static uint32_t number_of_texts(struct cli_requests *requests)
{
    const struct jfr_text *endpoint = &requests->endpoint;
    const size_t endpoint_bytes = endpoint->length_bytes + 1;
    const size_t bytes = endpoint_bytes + requests->operation.length_bytes;
    char *both = jw_alloc(bytes);
    uint64_t *number = NULL;

    if (both != NULL) {
        memcpy(both, endpoint->text, endpoint_bytes);
        memcpy(both + endpoint_bytes, requests->operation.text, bytes - endpoint_bytes);
        number = jw_map_put(&requests->number_of, both, bytes);
    }
    jw_free(both);
    if (number == NULL ||
        (*number == 0 && (requests->count >= CLI_REQUESTS_LIMIT || !add_request(requests)))) {
        requests->is_out_of_memory = true;
        return 0;
    }
    if (*number == 0)
        *number = requests->count;
    return (uint32_t)*number;
}

/* The same for an event, whose texts are read once in a chunk; 0 also: it names no endpoint. */
static uint32_t number_of_event(struct cli_requests *requests, const struct jfr_endpoint *event)
{
    const uint64_t keys[] = {event->endpoint.reader == NULL ? 0 : jfr_value_key(&event->endpoint),
                             event->operation.reader == NULL ? 0
                                                             : jfr_value_key(&event->operation)};
    const bool is_pooled = keys[0] != 0 && (keys[1] != 0 || event->operation.reader == NULL);
    uint64_t *known = is_pooled ? jw_map_put(&requests->known, keys, sizeof keys) : NULL;

    if (known != NULL && *known != 0)
        return (uint32_t)*known;
    if (!read_text(&event->endpoint, &requests->endpoint) ||
        !read_text(&event->operation, &requests->operation)) {
        requests->is_out_of_memory = true;
        return 0;
    }
    if (requests->endpoint.length_bytes == 0)
        return 0;

    const uint32_t number = number_of_texts(requests);
    if (known != NULL)
        *known = number;
    return number;
}

static void take_endpoint(struct cli_requests *requests, const struct jfr_reader_event *event)
{
    struct jfr_endpoint endpoint;

    if (!jfr_endpoint_read(event, &endpoint) || endpoint.root_span_id == 0)
        return;

    struct cli_root *root = NULL;
    if (!requests->is_of_samples)
        root = root_at(requests, endpoint.root_span_id);
    else if (requests->root_slots > 0)
        root = root_slot(requests, endpoint.root_span_id);
    if (root == NULL || root->id == 0)
        return;

    const uint32_t number = number_of_event(requests, &endpoint);
    if (number == 0)
        return;
    if (root->request != 0)
        requests->items[root->request - 1]->count--;
    requests->items[number - 1]->count++;
    root->request = number;
}

static void take_root(struct cli_requests *requests, const struct jfr_reader_event *event)
{
    struct jfr_context context;

    if (jfr_context_read(event, &context) && context.root_span_id != 0 &&
        jfr_value_has_field(&event->value, "stackTrace"))
        (void)root_at(requests, context.root_span_id);
}

static bool has_endpoints(const struct jfr_reader *reader)
{
    return jfr_reader_has_event(reader, "jaywalk.Endpoint") ||
           jfr_reader_has_event(reader, "datadog.Endpoint");
}

/* One pass over the file; of chunks that may tell something alone the events are read. */
static bool
read_events(struct cli_requests *requests, const char *path,
            void (*take)(struct cli_requests *requests, const struct jfr_reader_event *event),
            bool (*may_tell)(const struct jfr_reader *reader), bool is_quiet, struct jw_error *err)
{
    struct jfr_reader *reader = jfr_reader_open(path, err);
    struct jfr_reader_chunk chunk;
    struct jfr_reader_event event;
    struct cli_progress progress;

    if (reader == NULL)
        return false;
    cli_progress_begin(&progress, is_quiet);
    while (!requests->is_out_of_memory && jfr_reader_next_types(reader, &chunk, err)) {
        if (!may_tell(reader)) /* its constants need not be read */
            continue;
        if (!jfr_reader_begin_events(reader, err))
            break;
        jw_map_clear(&requests->known);
        while (!requests->is_out_of_memory && jfr_reader_next_event(reader, &event, err)) {
            take(requests, &event);
            cli_progress_show(&progress, "looking for requests", jfr_reader_position_bytes(reader),
                              jfr_reader_size_bytes(reader));
        }
        if (err->message[0] != '\0')
            break;
    }
    cli_progress_end(&progress);
    jfr_reader_close(reader);
    if (requests->is_out_of_memory)
        jw_error_set(err,
                     "%s: out of memory at %u root spans; free some, or convert a shorter "
                     "recording",
                     path, requests->root_count);
    return err->message[0] == '\0';
}

struct cli_requests *cli_requests_read(const char *path, bool is_of_samples, bool is_quiet,
                                       struct jw_error *err)
{
    struct cli_requests *requests = jw_alloc(sizeof *requests);

    if (requests == NULL) {
        jw_error_set(err, "no memory");
        return NULL;
    }
    requests->is_of_samples = is_of_samples;
    if ((!is_of_samples ||
         read_events(requests, path, take_root, jfr_reader_has_contexts, is_quiet, err)) &&
        read_events(requests, path, take_endpoint, has_endpoints, is_quiet, err))
        return requests;
    cli_requests_close(requests);
    return NULL;
}

void cli_requests_close(struct cli_requests *requests)
{
    if (requests == NULL)
        return;
    for (size_t i = 0; i < requests->count; i++)
        jw_free(requests->items[i]);
    jw_free(requests->items);
    jw_free(requests->roots);
    jw_map_close(&requests->number_of);
    jw_map_close(&requests->known);
    jfr_text_free(&requests->endpoint);
    jfr_text_free(&requests->operation);
    jw_free(requests);
}

const struct cli_request *cli_requests_at(const struct cli_requests *requests, size_t number)
{
    return requests != NULL && number < requests->count ? requests->items[number] : NULL;
}

const struct cli_request *cli_requests_find(const struct cli_requests *requests,
                                            uint64_t root_span_id)
{
    if (requests == NULL || root_span_id == 0 || requests->root_slots == 0)
        return NULL;

    const struct cli_root *root = root_slot(requests, root_span_id);
    return root->request == 0 ? NULL : requests->items[root->request - 1];
}

void cli_requests_judge(struct cli_requests *requests, struct cli_part *part)
{
    for (size_t i = 0; i < requests->count; i++) {
        struct cli_request *request = requests->items[i];

        request->is_wished = part->endpoint_count == 0;
        for (size_t n = 0; n < part->endpoint_count; n++) {
            struct cli_pattern *pattern = &part->endpoints[n];

            if (!jw_glob(pattern->text, strlen(pattern->text), request->endpoint))
                continue;
            request->is_wished = pattern->is_used = true;
        }
    }
}

bool cli_requests_settle(struct cli_part *part, const struct cli_bys *bys, const char *path,
                         bool is_quiet, struct cli_requests **out, struct jw_error *err)
{
    *out = NULL;
    if (!cli_window_settle(part, path, err))
        return false;
    if (!cli_needs_requests(part, bys))
        return true;
    *out = cli_requests_read(path, false, is_quiet, err);
    if (*out == NULL)
        return false;
    cli_requests_judge(*out, part);
    return true;
}
