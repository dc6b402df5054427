/* A probe in words: for people, for programs. Context: tool. */
#include "cli/cli_probe_internal.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli_text_internal.h"

#define SCHEMA        "jaywalk.probe/1"
#define CAPTURE_BYTES 128

/* Primitive types by their letter; of others the last part of the name, with brackets: "Object[]". */
static void type_words(struct classfile_text type, char *text, size_t room_bytes)
{
    static const char letters[] = "BCDFIJSZ";
    static const char *const words[] = {"byte", "char", "double", "float",
                                        "int",  "long", "short",  "boolean"};
    const bool is_array = type.bytes[0] == '[';
    const char *begin = type.bytes + is_array;
    size_t length = type.length_bytes - is_array;

    if (length == 1) {
        const char *letter = strchr(letters, *begin);

        snprintf(text, room_bytes, "%s%s", letter == NULL ? "?" : words[letter - letters],
                 is_array ? "[]" : "");
        return;
    }
    const char *slash = memrchr(begin, '/', length);
    if (slash != NULL) {
        length -= (size_t)(slash + 1 - begin);
        begin = slash + 1;
    }
    snprintf(text, room_bytes, "%.*s%s", (int)length - 1, begin, is_array ? "[]" : "");
}

static void capture_words(const struct probe_capture *capture, char text[CAPTURE_BYTES])
{
    if (capture->kind == PROBE_ARGUMENT || capture->kind == PROBE_CALL_ARGUMENT)
        snprintf(text, CAPTURE_BYTES, "@%s(%u)", probe_kind_annotation(capture->kind),
                 capture->argument);
    else
        snprintf(text, CAPTURE_BYTES, "@%s", probe_kind_annotation(capture->kind));
}

/* The type of its parameter of that number. */
static void parameter_type(const struct probe_handler *handler, unsigned number,
                           char text[CAPTURE_BYTES])
{
    const struct classfile_text descriptor = {handler->descriptor,
                                              (uint32_t)strlen(handler->descriptor)};
    struct classfile_text type = {"?", 1};
    uint32_t at = 1;

    for (unsigned i = 0; i <= number; i++) {
        if (!classfile_next_type(descriptor, &at, &type))
            break;
    }
    type_words(type, text, CAPTURE_BYTES);
}

void cli_probe_signature(const struct probe_handler *handler, char out[CLI_SIGNATURE_BYTES])
{
    size_t used = (size_t)snprintf(out, CLI_SIGNATURE_BYTES, "%.512s(", handler->method_name);

    for (unsigned i = 0; i < handler->capture_count && used + 80 < CLI_SIGNATURE_BYTES; i++) {
        char capture[CAPTURE_BYTES], type[CAPTURE_BYTES];

        capture_words(&handler->captures[i], capture);
        parameter_type(handler, i, type);
        used += (size_t)snprintf(out + used, CLI_SIGNATURE_BYTES - used, "%s%.32s %.32s",
                                 i == 0 ? "" : ", ", capture, type);
    }
    snprintf(out + used, CLI_SIGNATURE_BYTES - used, ")");
}

/* ---- for people ---- */

static void put_limit(uint64_t limit, const char *text, FILE *to)
{
    char digits[32];

    if (limit == 0) {
        fprintf(to, "no limit of %s", text);
        return;
    }
    cli_text_digits(limit, digits);
    fprintf(to, "%s %s", digits, text);
}

/* Names of classes as people write them. */
static void dots_of(const char *name, char out[CLI_CELL_BYTES])
{
    snprintf(out, CLI_CELL_BYTES, "%s", name);
    for (char *slash = out; (slash = strchr(slash, '/')) != NULL;)
        *slash = '.';
}

static void field_words(const struct probe_field *field, char text[CAPTURE_BYTES])
{
    static const char letters[] = "BCDFIJSZ";
    static const char *const words[] = {"byte", "char", "double", "float",
                                        "int",  "long", "short",  "boolean"};
    const char *letter = strchr(letters, field->type);

    snprintf(text, CAPTURE_BYTES, "%s",
             letter != NULL                      ? words[letter - letters]
             : field->type == PROBE_FIELD_TEXT   ? "String"
             : field->type == PROBE_FIELD_CLASS  ? "Class"
             : field->type == PROBE_FIELD_THREAD ? "Thread"
                                                 : "?");
}

/* Its fields as a viewer will show them. */
static void put_event(const struct probe_event *event, FILE *to)
{
    char type[CAPTURE_BYTES];

    fputs("\nevent  jaywalk.probe.", to);
    cli_put(event->name, to);
    fputs(event->has_duration ? " (@Duration" : " (", to);
    for (uint8_t i = 0; i < event->field_count; i++) {
        const struct probe_field *field = &event->fields[i];

        field_words(field, type);
        fprintf(to, "%s%s %s", i == 0 && !event->has_duration ? "" : ", ", type, field->name);
        if (field->unit != PROBE_UNIT_NONE)
            fprintf(to, " in %s", probe_unit_word(field->unit));
    }
    fprintf(to, ")%s\n", event->has_stack ? "" : ", without stack");
}

static void json_event(const struct probe_event *event, FILE *to)
{
    char type[CAPTURE_BYTES];

    fputs("\n{\"type\":\"jaywalk.probe.", to);
    fputs(event->name, to); /* an identifier */
    fputs("\",\"label\":", to);
    cli_text_json(event->label, to);
    fprintf(to, ",\"duration\":%s,\"stack\":%s,\"fields\":[",
            event->has_duration ? "true" : "false", event->has_stack ? "true" : "false");
    for (uint8_t i = 0; i < event->field_count; i++) {
        field_words(&event->fields[i], type);
        fprintf(to, "%s{\"name\":\"%s\",\"type\":\"%s\",\"unit\":\"%s\"}", i == 0 ? "" : ",",
                event->fields[i].name, type, probe_unit_word(event->fields[i].unit));
    }
    fputs("]}", to);
}

void cli_probe_put_head(const struct probe *probe, const char *path, FILE *to)
{
    char name[CLI_CELL_BYTES];

    dots_of(probe->class_name, name);
    fprintf(to, "Probe %s: class ", probe->name);
    cli_put(name, to);
    fputs(" of ", to);
    cli_put(path, to);
    fprintf(to, ", for Java %u and later\nTaken out past ", probe->java_version);
    put_limit(probe->limits.max_ns_per_call, "ns a call", to);
    fputs(", ", to);
    put_limit(probe->limits.max_calls_per_second, "calls a second", to);
    fputs(", ", to);
    put_limit(probe->limits.max_throws, "exceptions", to);
    fputc('\n', to);
    for (uint32_t i = 0; i < probe->event_count; i++)
        put_event(&probe->events[i], to);
}

void cli_probe_put_replaced(const struct probe_replaced *replaced, const char *path, FILE *to)
{
    if (replaced->count == 0)
        return;
    fprintf(to, "%" PRIu32 " of its rules are those of ", replaced->count);
    cli_put(path, to);
    if (replaced->kept[0] != '\0') {
        fputs("; as the probe has them: ", to);
        cli_put(replaced->kept, to);
    }
    fputc('\n', to);
}

void cli_probe_put_handler(const struct probe_handler *handler, FILE *to)
{
    char signature[CLI_SIGNATURE_BYTES], words[CLI_CELL_BYTES];

    cli_probe_signature(handler, signature);
    (void)probe_place_words(handler, words, sizeof words);
    fputc('\n', to);
    cli_put(words, to);
    fputs("  ", to);
    cli_put(signature, to);
    fputc('\n', to);
    for (const char *line = handler->rules, *end; *line != '\0'; line = end + (*end == '\n')) {
        char text[CLI_CELL_BYTES];

        end = line + strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)(end - line), line);
        fputs("    ", to);
        cli_put(text, to);
        fputc('\n', to);
    }
}

/* ---- for programs ---- */

void cli_probe_json_head(const struct probe *probe, const char *path, FILE *to)
{
    char name[CLI_CELL_BYTES];

    dots_of(probe->class_name, name);
    fputs("{\"schema\":\"" SCHEMA "\",\n\"name\":", to);
    cli_text_json(probe->name, to);
    fputs(",\"class\":", to);
    cli_text_json(name, to);
    fputs(",\"file\":", to);
    cli_text_json(path, to);
    fprintf(to,
            ",\"java\":%u,\n\"limits\":{\"max_ns_per_call\":%" PRIu64
            ",\"max_calls_per_second\":%" PRIu32 ",\"max_throws\":%" PRIu32 "},\n\"events\":[",
            probe->java_version, probe->limits.max_ns_per_call, probe->limits.max_calls_per_second,
            probe->limits.max_throws);
    for (uint32_t i = 0; i < probe->event_count; i++) {
        if (i != 0)
            fputc(',', to);
        json_event(&probe->events[i], to);
    }
    fputs("],\n\"handlers\":[", to);
}

void cli_probe_json_handler(const struct probe_handler *handler, FILE *to)
{
    fputs("\n{\"method\":", to);
    cli_text_json(handler->method_name, to);
    fputs(",\"descriptor\":", to);
    cli_text_json(handler->descriptor, to);
    fprintf(to, ",\"place\":\"%s\"", probe_place_word(handler->place));
    if (handler->of != NULL) {
        fputs(",\"of\":", to);
        cli_text_json(handler->of, to);
    }
    if (handler->line != 0)
        fprintf(to, ",\"line\":%u", handler->line);
    fputs(",\"rules\":", to);
    cli_text_json(handler->rules, to);
    fputs(",\"captures\":[", to);
    for (unsigned i = 0; i < handler->capture_count; i++) {
        const struct probe_capture *capture = &handler->captures[i];
        char type[CAPTURE_BYTES];

        parameter_type(handler, i, type);
        fprintf(to, "%s{\"kind\":\"%s\",\"type\":", i == 0 ? "" : ",",
                probe_kind_annotation(capture->kind));
        cli_text_json(type, to);
        if (capture->kind == PROBE_ARGUMENT || capture->kind == PROBE_CALL_ARGUMENT)
            fprintf(to, ",\"argument\":%u", capture->argument);
        fputc('}', to);
    }
    fputc(']', to);
}
