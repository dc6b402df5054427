/*
 * The probes in a JVM, as its agent tells of them (schema jaywalk.probes/1), in words. Context: tool.
 *
 * The answer comes from another process: whatever it is, reading it ends, inside of it and with bounded depth.
 */
#include "cli/cli_probe_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_text_internal.h"

#define SCHEMA      "jaywalk.probes/1"
#define DEPTH_LIMIT 16
#define TEXT_BYTES  1024

struct reader {
    const char *at;
    bool is_bad; /* nothing is read any more */
};

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

/* The character, or the text is none that is understood. */
static void expect(struct reader *reader, char one)
{
    skip_blanks(reader);
    if (reader->is_bad || *reader->at != one)
        reader->is_bad = true;
    else
        reader->at++;
}

/* Whether it stands there; then it is behind us. */
static bool take(struct reader *reader, char one)
{
    skip_blanks(reader);
    if (reader->is_bad || *reader->at != one)
        return false;
    reader->at++;
    return true;
}

/* A string without its quotes; what is longer than the room is cut. Of \u four digits ASCII alone is shown as it is. */
static void read_text(struct reader *reader, char out[TEXT_BYTES])
{
    size_t used = 0;

    expect(reader, '"');
    while (!reader->is_bad && *reader->at != '"') {
        char one = *reader->at;

        if (one == '\0') {
            reader->is_bad = true; /* and its end is not passed */
            break;
        }
        reader->at++;
        if (one == '\\') {
            one = *reader->at;
            if (one == 'u' && strspn(reader->at + 1, "0123456789abcdefABCDEF") >= 4) {
                char digits[5] = {0};

                memcpy(digits, reader->at + 1, 4);
                const unsigned long code = strtoul(digits, NULL, 16);
                one = code < 0x80 ? (char)code : '?';
                reader->at += 4;
            } else if (memchr("\"\\/", one, 3) == NULL) {
                one = '?'; /* \n and its like have no place in a name */
            }
            if (*reader->at != '\0')
                reader->at++;
        }
        if (used + 1 < TEXT_BYTES)
            out[used++] = one;
    }
    out[used] = '\0';
    expect(reader, '"');
}

static uint64_t read_number(struct reader *reader)
{
    uint64_t number = 0;

    skip_blanks(reader);
    if (*reader->at < '0' || *reader->at > '9')
        reader->is_bad = true;
    while (!reader->is_bad && *reader->at >= '0' && *reader->at <= '9')
        number = number * 10 + (uint64_t)(*reader->at++ - '0');
    return number;
}

/* Whatever it is: fields of later agents. */
static void skip_value(struct reader *reader, int depth)
{
    char text[TEXT_BYTES];

    skip_blanks(reader);
    if (depth == DEPTH_LIMIT) {
        reader->is_bad = true;
    } else if (*reader->at == '"') {
        read_text(reader, text);
    } else if (take(reader, '{') || take(reader, '[')) {
        const char end = reader->at[-1] == '{' ? '}' : ']';

        while (!reader->is_bad && !take(reader, end)) {
            if (end == '}') {
                read_text(reader, text);
                expect(reader, ':');
            }
            skip_value(reader, depth + 1);
            if (!take(reader, ',')) {
                expect(reader, end);
                return;
            }
        }
    } else {
        const size_t length = strspn(reader->at, "-+.0123456789eEtrufalsn");

        reader->is_bad |= length == 0;
        reader->at += length;
    }
}

/* Calls `field` for each field of an object; it reads the value. */
typedef void read_field(struct reader *reader, const char *name, void *out);

static void read_object(struct reader *reader, read_field *field, void *out)
{
    char name[TEXT_BYTES];

    expect(reader, '{');
    while (!reader->is_bad && !take(reader, '}')) {
        read_text(reader, name);
        expect(reader, ':');
        if (!reader->is_bad)
            field(reader, name, out);
        if (!take(reader, ',')) {
            expect(reader, '}');
            return;
        }
    }
}

static void read_array(struct reader *reader, void (*item)(struct reader *reader, void *context),
                       void *context)
{
    expect(reader, '[');
    while (!reader->is_bad && !take(reader, ']')) {
        item(reader, context);
        if (!take(reader, ',')) {
            expect(reader, ']');
            return;
        }
    }
}

/* ---- what is told ---- */

struct handler {
    char method[TEXT_BYTES], place[TEXT_BYTES], of[TEXT_BYTES];
    uint64_t line, placeless, misfits, skipped; /* of later agents */
    uint64_t methods, places, calls, throws, ns_per_call, unfit, untold, refused, nested, dropped,
        linked, missed;
    bool is_reached_told; /* of later agents, and not of the agent's own probes */
};

static void read_handler_field(struct reader *reader, const char *name, void *out)
{
    struct handler *handler = out;
    const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {{"methods", &handler->methods},
                   {"places", &handler->places},
                   {"calls", &handler->calls},
                   {"throws", &handler->throws},
                   {"ns_per_call", &handler->ns_per_call},
                   {"unfit", &handler->unfit},
                   {"untold", &handler->untold},
                   {"refused", &handler->refused},
                   {"line", &handler->line},
                   {"placeless", &handler->placeless},
                   {"misfits", &handler->misfits},
                   {"skipped", &handler->skipped},
                   {"nested", &handler->nested},
                   {"dropped", &handler->dropped},
                   {"linked", &handler->linked},
                   {"missed", &handler->missed}};

    for (size_t i = 0; i < JW_COUNT_OF(numbers); i++) {
        if (strcmp(name, numbers[i].name) == 0) {
            *numbers[i].number = read_number(reader);
            handler->is_reached_told |= numbers[i].number == &handler->linked;
            return;
        }
    }
    if (strcmp(name, "method") == 0)
        read_text(reader, handler->method);
    else if (strcmp(name, "place") == 0)
        read_text(reader, handler->place);
    else if (strcmp(name, "of") == 0)
        read_text(reader, handler->of);
    else
        skip_value(reader, 0);
}

static void put_note(uint64_t number, const char *text, FILE *to)
{
    char digits[32];

    if (number == 0)
        return;
    cli_text_digits(number, digits);
    fprintf(to, "    %s %s\n", digits, text);
}

static void put_cell_number(uint64_t number, int columns, FILE *to)
{
    char digits[32];

    cli_text_digits(number, digits);
    fprintf(to, "%*s", columns, digits);
}

/* Of one probe. */
struct rows {
    FILE *to;
    bool is_attached;
    bool has_events; /* one was told */
};

static void put_handler(struct reader *reader, void *context)
{
    const struct rows *rows = context;
    FILE *to = rows->to;
    struct handler handler = {.methods = 0};
    char name[2 * TEXT_BYTES + 40], clean[CLI_CELL_BYTES];

    read_object(reader, read_handler_field, &handler);
    if (reader->is_bad)
        return;
    if (handler.line != 0)
        snprintf(name, sizeof name, "%s (%s %" PRIu64 ")", handler.method, handler.place,
                 handler.line);
    else
        snprintf(name, sizeof name, "%s (%s)", handler.method, handler.place);
    fputs("  ", to);
    cli_text_clean(name, clean);
    cli_text_put_cell(clean, 28, false, to);
    put_cell_number(handler.methods, 9, to);
    put_cell_number(handler.places, 9, to);
    put_cell_number(handler.calls, 18, to);
    put_cell_number(handler.ns_per_call, 12, to);
    put_cell_number(handler.throws, 12, to);
    fputc('\n', to);
    if (handler.of[0] != '\0') {
        cli_text_clean(handler.of, clean);
        fprintf(to, "    of %s\n", clean);
    }
    if (rows->is_attached && handler.methods == 0) {
        fputs("    no method of the classes that are loaded calls it\n", to);
        put_note(handler.placeless, "methods that its rules take have no such place", to);
    }
    if (rows->is_attached && handler.is_reached_told && handler.places != 0 && handler.calls == 0 &&
        handler.nested == 0 && handler.dropped == 0) {
        if (handler.linked == 0)
            fputs("    never called yet: no place of it was reached\n", to);
        put_note(handler.linked, "times a place was linked to it, and it was never called", to);
    }
    put_note(handler.missed, "places of another type do nothing", to);
    put_note(handler.unfit, "methods that its rules take have not what it asks for", to);
    put_note(handler.untold, "methods of which its rules ask what is not known", to);
    put_note(handler.refused, "methods that its rules take cannot be written anew", to);
    put_note(handler.misfits, "places have not what it asks for", to);
    put_note(handler.skipped,
             "places are left out, where a failing call would never end or hold a lock", to);
    put_note(handler.nested, "calls from inside of the probe's own handlers were left out", to);
    put_note(handler.dropped, "calls were left out", to);
}

struct event {
    char type[TEXT_BYTES];
    uint64_t recorded, lost, idle;
};

static void read_event_field(struct reader *reader, const char *name, void *out)
{
    struct event *event = out;

    if (strcmp(name, "type") == 0)
        read_text(reader, event->type);
    else if (strcmp(name, "recorded") == 0)
        event->recorded = read_number(reader);
    else if (strcmp(name, "lost") == 0)
        event->lost = read_number(reader);
    else if (strcmp(name, "idle") == 0)
        event->idle = read_number(reader);
    else
        skip_value(reader, 0);
}

/* The first one has the head of the table before it. */
static void put_event(struct reader *reader, void *context)
{
    struct rows *rows = context;
    char clean[CLI_CELL_BYTES];
    struct event event = {.recorded = 0};

    read_object(reader, read_event_field, &event);
    if (reader->is_bad)
        return;
    if (!rows->has_events)
        fprintf(rows->to, "  %-48s%18s%12s%12s\n", "event", "recorded", "lost", "idle");
    rows->has_events = true;
    fputs("  ", rows->to);
    cli_text_clean(event.type, clean);
    cli_text_put_cell(clean, 46, false, rows->to);
    put_cell_number(event.recorded, 18, rows->to);
    put_cell_number(event.lost, 12, rows->to);
    put_cell_number(event.idle, 12, rows->to);
    fputc('\n', rows->to);
}

struct listed {
    char name[TEXT_BYTES], class_name[TEXT_BYTES], file[TEXT_BYTES], rules[TEXT_BYTES],
        state[TEXT_BYTES], why[TEXT_BYTES];
    struct reader handlers; /* where they stand; they are told when all else is known */
    struct reader events;
};

static void read_probe_field(struct reader *reader, const char *name, void *out)
{
    struct listed *listed = out;
    const struct {
        const char *name;
        char *text;
    } texts[] = {{"name", listed->name},   {"class", listed->class_name}, {"file", listed->file},
                 {"rules", listed->rules}, {"state", listed->state},      {"why", listed->why}};

    for (size_t i = 0; i < JW_COUNT_OF(texts); i++) {
        if (strcmp(name, texts[i].name) == 0) {
            read_text(reader, texts[i].text);
            return;
        }
    }
    if (strcmp(name, "handlers") == 0)
        listed->handlers = *reader;
    else if (strcmp(name, "events") == 0)
        listed->events = *reader;
    skip_value(reader, 0);
}

struct listing {
    FILE *to;
    unsigned count;
};

static void put_probe(struct reader *reader, void *context)
{
    struct listing *listing = context;
    struct listed *listed = jw_alloc(sizeof *listed);
    char text[CLI_CELL_BYTES];

    if (listed == NULL) {
        reader->is_bad = true;
        return;
    }
    read_object(reader, read_probe_field, listed);
    if (!reader->is_bad) {
        for (char *slash = listed->class_name; (slash = strchr(slash, '/')) != NULL;)
            *slash = '.';
        fputs(listing->count++ == 0 ? "" : "\n", listing->to);
        cli_text_clean(listed->name, text);
        fprintf(listing->to, "%s  ", text);
        cli_text_clean(listed->state, text);
        fputs(text, listing->to);
        cli_text_clean(listed->why, text);
        fprintf(listing->to, "%s%s\n", text[0] == '\0' ? "" : ": ", text);
        cli_text_clean(listed->class_name, text);
        fprintf(listing->to, "  class %s of ", text);
        cli_text_clean(listed->file, text);
        fputs(text, listing->to);
        cli_text_clean(listed->rules, text); /* of agents that know of them */
        fprintf(listing->to, "%s%s\n  %-30s%9s%9s%18s%12s%12s\n",
                text[0] == '\0' ? "" : ", with rules of ", text, "handler", "methods", "places",
                "calls", "ns a call", "exceptions");
    }
    if (!reader->is_bad && listed->handlers.at != NULL) {
        struct rows rows = {listing->to, strcmp(listed->state, "attached") == 0, false};

        read_array(&listed->handlers, put_handler, &rows);
        if (listed->events.at != NULL) /* later agents have them */
            read_array(&listed->events, put_event, &rows);
    }
    reader->is_bad |= listed->handlers.is_bad || listed->events.is_bad;
    jw_free(listed);
}

struct answer {
    char schema[TEXT_BYTES];
    struct reader probes;
    uint64_t missed; /* later agents tell it */
};

static void read_answer_field(struct reader *reader, const char *name, void *out)
{
    struct answer *answer = out;

    if (strcmp(name, "schema") == 0) {
        read_text(reader, answer->schema);
        return;
    }
    if (strcmp(name, "missed") == 0) {
        answer->missed = read_number(reader);
        return;
    }
    if (strcmp(name, "probes") == 0)
        answer->probes = *reader;
    skip_value(reader, 0);
}

bool cli_probe_put_list(const char *text, FILE *to, struct jw_error *err)
{
    struct reader reader = {.at = text};
    struct answer answer = {.schema = ""};
    struct listing listing = {.to = to};

    read_object(&reader, read_answer_field, &answer);
    if (!reader.is_bad && strcmp(answer.schema, SCHEMA) == 0 && answer.probes.at != NULL) {
        read_array(&answer.probes, put_probe, &listing);
        if (!answer.probes.is_bad && listing.count == 0)
            fputs("No probe is attached.\n", to);
        if (!answer.probes.is_bad && answer.missed != 0) {
            char digits[32];

            cli_text_digits(answer.missed, digits);
            fprintf(to,
                    "%s places of probes do nothing: no handler was theirs when they were linked\n",
                    digits);
        }
        if (!answer.probes.is_bad)
            return true;
    }
    jw_error_set(err, "the agent's answer is not understood: is it of another version?");
    return false;
}
