/* Methods of the JDK that read and write. Context: control, tool. */
#include "probe/probe_io.h"

#include <string.h>

#include "probe/probe_read_internal.h"

#define RULE(class_name, name, which)                                                              \
    "include class name=" class_name " method name=" name " " which " lift platform"

/* What of a call are its bytes. */
enum bytes {
    BYTES_RETURNED, /* an int */
    BYTES_RETURNED_LONG,
    BYTES_ONE_RETURNED, /* the byte itself */
    BYTES_ONE,
    BYTES_ARRAY,  /* all of the first argument */
    BYTES_LENGTH, /* the third */
    BYTES_META,   /* none: the first is a boolean */
};

/* How JaywalkIo is told of them: method, type, and what is given beside the object and the time. */
static const struct told {
    const char *method, *descriptor;
    struct probe_capture bytes; /* of kind THIS: nothing */
} tolds[] = {
    [BYTES_RETURNED] = {"ended",
                        "(Ljava/lang/Object;IJII)V",
                        {.kind = PROBE_RETURNED, .type = 'I'}},
    [BYTES_RETURNED_LONG] = {"ended",
                             "(Ljava/lang/Object;JJII)V",
                             {.kind = PROBE_RETURNED, .type = 'J'}},
    [BYTES_ONE_RETURNED] = {"one",
                            "(Ljava/lang/Object;IJII)V",
                            {.kind = PROBE_RETURNED, .type = 'I'}},
    [BYTES_ONE] = {"one", "(Ljava/lang/Object;JII)V", {.kind = PROBE_THIS}},
    [BYTES_ARRAY] = {"ended",
                     "(Ljava/lang/Object;Ljava/lang/Object;JII)V",
                     {.kind = PROBE_ARGUMENT, .argument = 0, .type = 'L'}},
    [BYTES_LENGTH] = {"ended",
                      "(Ljava/lang/Object;IJII)V",
                      {.kind = PROBE_ARGUMENT, .argument = 2, .type = 'I'}},
    [BYTES_META] = {"ended",
                    "(Ljava/lang/Object;ZJII)V",
                    {.kind = PROBE_ARGUMENT, .argument = 0, .type = 'Z'}},
};
static const struct told failed = {"failed", "(Ljava/lang/Object;JII)V", {.kind = PROBE_THIS}};

#define INPUT          "java.io.FileInputStream"
#define OUTPUT         "java.io.FileOutputStream"
#define RANDOM         "java.io.RandomAccessFile"
#define CHANNEL        "sun.nio.ch.FileChannelImpl"
#define SOCKET_CHANNEL "sun.nio.ch.SocketChannelImpl"
#define SOCKET_INPUT   "java.net.Socket$SocketInputStream"
#define SOCKET_OUTPUT  "java.net.Socket$SocketOutputStream"
#define PLAIN_INPUT    "java.net.SocketInputStream"
#define PLAIN_OUTPUT   "java.net.SocketOutputStream"

#define NOTHING "descriptor=()I"
#define ONE     "parameters=int"
#define ARRAY   "parameters=byte[]"
#define PART    "parameters=byte[],int,int"
#define BUFFER  "parameters=java.nio.ByteBuffer"
#define AT      "parameters=java.nio.ByteBuffer,long"
#define BUFFERS "parameters=java.nio.ByteBuffer[],int,int"

/* A class, its name, the method's parameters, what it does, by what, and what its bytes are. Source: OpenJDK 8 to 28. */
#define METHOD(class_name, name, which, what, by, bytes)                                           \
    {                                                                                              \
        class_name "." name, RULE(class_name, name, which), (bytes),                               \
            PROBE_IO_SITE(JW_IO_##what, PROBE_IO_BY_##by)                                          \
    }
static const struct method {
    const char *name, *rules;
    enum bytes bytes;
    int32_t site;
} methods[] = {
    METHOD(INPUT, "read", NOTHING, FILE_READ, INPUT, BYTES_ONE_RETURNED),
    METHOD(INPUT, "read", ARRAY, FILE_READ, INPUT, BYTES_RETURNED),
    METHOD(INPUT, "read", PART, FILE_READ, INPUT, BYTES_RETURNED),
    METHOD(RANDOM, "read", NOTHING, FILE_READ, RANDOM, BYTES_ONE_RETURNED),
    METHOD(RANDOM, "read", ARRAY, FILE_READ, RANDOM, BYTES_RETURNED),
    METHOD(RANDOM, "read", PART, FILE_READ, RANDOM, BYTES_RETURNED),
    METHOD(CHANNEL, "read", BUFFER, FILE_READ, CHANNEL, BYTES_RETURNED),
    METHOD(CHANNEL, "read", AT, FILE_READ, CHANNEL, BYTES_RETURNED),
    METHOD(CHANNEL, "read", BUFFERS, FILE_READ, CHANNEL, BYTES_RETURNED_LONG),
    METHOD(OUTPUT, "write", ONE, FILE_WRITE, OUTPUT, BYTES_ONE),
    METHOD(OUTPUT, "write", ARRAY, FILE_WRITE, OUTPUT, BYTES_ARRAY),
    METHOD(OUTPUT, "write", PART, FILE_WRITE, OUTPUT, BYTES_LENGTH),
    METHOD(RANDOM, "write", ONE, FILE_WRITE, RANDOM, BYTES_ONE),
    METHOD(RANDOM, "write", ARRAY, FILE_WRITE, RANDOM, BYTES_ARRAY),
    METHOD(RANDOM, "write", PART, FILE_WRITE, RANDOM, BYTES_LENGTH),
    METHOD(CHANNEL, "write", BUFFER, FILE_WRITE, CHANNEL, BYTES_RETURNED),
    METHOD(CHANNEL, "write", AT, FILE_WRITE, CHANNEL, BYTES_RETURNED),
    METHOD(CHANNEL, "write", BUFFERS, FILE_WRITE, CHANNEL, BYTES_RETURNED_LONG),
    METHOD(CHANNEL, "force", "parameters=boolean", FILE_FORCE, CHANNEL, BYTES_META),
    METHOD(SOCKET_CHANNEL, "read", BUFFER, SOCKET_READ, SOCKET_CHANNEL, BYTES_RETURNED),
    METHOD(SOCKET_CHANNEL, "read", BUFFERS, SOCKET_READ, SOCKET_CHANNEL, BYTES_RETURNED_LONG),
    METHOD(SOCKET_CHANNEL, "write", BUFFER, SOCKET_WRITE, SOCKET_CHANNEL, BYTES_RETURNED),
    METHOD(SOCKET_CHANNEL, "write", BUFFERS, SOCKET_WRITE, SOCKET_CHANNEL, BYTES_RETURNED_LONG),
};

static const struct method plain_streams[] = {METHOD(PLAIN_INPUT, "read", PART, SOCKET_READ,
                                                     PLAIN_INPUT, BYTES_RETURNED),
                                              METHOD(PLAIN_OUTPUT, "socketWrite", PART,
                                                     SOCKET_WRITE, PLAIN_OUTPUT, BYTES_LENGTH)},
                           streams[] = {METHOD(SOCKET_INPUT, "read", PART, SOCKET_READ,
                                               SOCKET_INPUT, BYTES_RETURNED),
                                        METHOD(SOCKET_OUTPUT, "write", PART, SOCKET_WRITE,
                                               SOCKET_OUTPUT, BYTES_LENGTH)};

_Static_assert(2 * (JW_COUNT_OF(methods) + JW_COUNT_OF(streams)) <= PROBE_HANDLERS_LIMIT,
               "each has its handlers");

static bool add(struct probe_reader *reader, enum probe_place place, const struct method *method)
{
    const struct told *told = place == PROBE_THROW ? &failed : &tolds[method->bytes];
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];

    *handler = (struct probe_handler){.class_name = PROBE_IO_CLASS,
                                      .method_name = told->method,
                                      .descriptor = told->descriptor,
                                      .place = place,
                                      .target = PROBE_IO_CLASS,
                                      .site = method->site};
    handler->captures[handler->capture_count++] =
        (struct probe_capture){.kind = PROBE_THIS, .type = 'L'};
    if (told->bytes.kind != PROBE_THIS)
        handler->captures[handler->capture_count++] = told->bytes;
    handler->captures[handler->capture_count++] =
        (struct probe_capture){.kind = PROBE_DURATION, .type = 'J'};
    handler->rules = probe_reader_keep(
        reader, (struct classfile_text){method->rules, (uint32_t)strlen(method->rules)});
    handler->pattern = probe_reader_keep(
        reader, (struct classfile_text){method->name, (uint32_t)strlen(method->name)});
    return handler->rules != NULL && handler->pattern != NULL;
}

static bool add_all(struct probe_reader *reader, const struct method *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!add(reader, PROBE_RETURN, &all[i]) || !add(reader, PROBE_THROW, &all[i]))
            return false;
    }
    return true;
}

struct probe *probe_io_open(const char *name, bool has_plain, struct jw_error *err)
{
    struct probe_reader reader = {.err = err};

    if (!probe_reader_begin_own(&reader, PROBE_IO_CLASS, name))
        return NULL;
    if (add_all(&reader, methods, JW_COUNT_OF(methods)) &&
        add_all(&reader, has_plain ? plain_streams : streams, JW_COUNT_OF(streams)))
        return &reader.whole->probe;
    probe_close(&reader.whole->probe);
    return NULL;
}
