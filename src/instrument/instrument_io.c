/* Files and sockets that are read and written, as places in the JDK tell of them. Context: hook, on any Java thread; begin, bind: the agent's. */
#include <stdio.h>
#include <string.h>

#include "base/atomics.h"
#include "instrument/instrument_internal.h"
#include "probe/probe_io.h"

#define EVENTS_CLASS "io/jaywalk/IoEvents"
#define NO_FIELD     ((uintptr_t)1)
#define FAMILY_IPV4  1 /* Source: OpenJDK 8 to 28, java.net.InetAddress */
#define IPV6_BYTES   16

static struct instrument_tells java;

/* Set before there are threads that look. */
static instrument_io_told *told;
static uint64_t least_ns; /* of the attach to come */

/*
 * What it is that is read or written: read out of fields, so that no code is called, nor a lock taken. Looked for when an object that has them is
 * first told of, since that makes their class begin. A field that is not there is not read.
 * Source: OpenJDK 8 to 28.
 */
enum field {
    INPUT_PATH,
    OUTPUT_PATH,
    RANDOM_PATH,
    CHANNEL_PATH,
    STREAM_OF_INPUT,
    STREAM_OF_OUTPUT,
    SOCKET_IMPL,
    IMPL_DELEGATE,
    PLAIN_IMPL_OF_INPUT,
    PLAIN_IMPL_OF_OUTPUT,
    IMPL_ADDRESS,
    IMPL_PORT,
    CHANNEL_REMOTE,
    REMOTE_HOLDER,
    REMOTE_HOST,
    REMOTE_ADDRESS,
    REMOTE_PORT,
    ADDRESS_HOLDER,
    ADDRESS_NAME,
    ADDRESS_WORD,
    ADDRESS_FAMILY,
    ADDRESS_HOLDER6,
    ADDRESS_BYTES,
    FIELD_LIMIT,
};

#define TEXT           "Ljava/lang/String;"
#define IMPL           "java/net/SocketImpl"
#define REMOTE         "java/net/InetSocketAddress"
#define REMOTE_HOLDERS REMOTE "$InetSocketAddressHolder"
#define ADDRESS        "java/net/InetAddress"
#define HOLDER         ADDRESS "$InetAddressHolder"
#define ADDRESS6       "java/net/Inet6Address"
#define HOLDER6        ADDRESS6 "$Inet6AddressHolder"
#define OF(class_name) "L" class_name ";"

static const struct {
    const char *class_name, *name, *type, *other_type;
} known[] = {
    [INPUT_PATH] = {"java/io/FileInputStream", "path", TEXT, NULL},
    [OUTPUT_PATH] = {"java/io/FileOutputStream", "path", TEXT, NULL},
    [RANDOM_PATH] = {"java/io/RandomAccessFile", "path", TEXT, NULL},
    [CHANNEL_PATH] = {"sun/nio/ch/FileChannelImpl", "path", TEXT, NULL},
    [STREAM_OF_INPUT] = {"java/net/Socket$SocketInputStream", "parent", OF("java/net/Socket"),
                         NULL},
    [STREAM_OF_OUTPUT] = {"java/net/Socket$SocketOutputStream", "parent", OF("java/net/Socket"),
                          NULL},
    [SOCKET_IMPL] = {"java/net/Socket", "impl", OF(IMPL), NULL},
    [IMPL_DELEGATE] = {"java/net/DelegatingSocketImpl", "delegate", OF(IMPL), NULL},
    [PLAIN_IMPL_OF_INPUT] = {"java/net/SocketInputStream", "impl",
                             OF("java/net/AbstractPlainSocketImpl"), NULL},
    [PLAIN_IMPL_OF_OUTPUT] = {"java/net/SocketOutputStream", "impl",
                              OF("java/net/AbstractPlainSocketImpl"), NULL},
    [IMPL_ADDRESS] = {IMPL, "address", OF(ADDRESS), NULL},
    [IMPL_PORT] = {IMPL, "port", "I", NULL},
    [CHANNEL_REMOTE] = {"sun/nio/ch/SocketChannelImpl", "remoteAddress",
                        OF("java/net/SocketAddress"), OF(REMOTE)},
    [REMOTE_HOLDER] = {REMOTE, "holder", OF(REMOTE_HOLDERS), NULL},
    [REMOTE_HOST] = {REMOTE_HOLDERS, "hostname", TEXT, NULL},
    [REMOTE_ADDRESS] = {REMOTE_HOLDERS, "addr", OF(ADDRESS), NULL},
    [REMOTE_PORT] = {REMOTE_HOLDERS, "port", "I", NULL},
    [ADDRESS_HOLDER] = {ADDRESS, "holder", OF(HOLDER), NULL},
    [ADDRESS_NAME] = {HOLDER, "hostName", TEXT, NULL},
    [ADDRESS_WORD] = {HOLDER, "address", "I", NULL},
    [ADDRESS_FAMILY] = {HOLDER, "family", "I", NULL},
    [ADDRESS_HOLDER6] = {ADDRESS6, "holder6", OF(HOLDER6), NULL},
    [ADDRESS_BYTES] = {HOLDER6, "ipaddress", "[B", NULL},
};

/* Relaxed: each number stands alone, and whoever looks for one twice finds the same. 0: not looked for yet. */
static _Atomic uintptr_t fields[FIELD_LIMIT];

void instrument_set_io(instrument_io_told *calls, uint64_t ns)
{
    told = calls;
    least_ns = ns;
}

/* ---- fields ---- */

static jfieldID find_field(JNIEnv *jni, enum field number)
{
    jclass klass = (*jni)->FindClass(jni, known[number].class_name);
    jfieldID field = NULL;

    if (klass != NULL)
        field = (*jni)->GetFieldID(jni, klass, known[number].name, known[number].type);
    (*jni)->ExceptionClear(jni);
    if (klass != NULL && field == NULL && known[number].other_type != NULL)
        field = (*jni)->GetFieldID(jni, klass, known[number].name, known[number].other_type);
    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, klass);
    return field;
}

/* NULL: this JDK has none of that name. */
static jfieldID field_of(JNIEnv *jni, enum field number)
{
    uintptr_t field = jw_load_relaxed(&fields[number]);

    if (field == 0) {
        field = (uintptr_t)find_field(jni, number);
        if (field == 0)
            field = NO_FIELD;
        jw_store_relaxed(&fields[number], field);
    }
    return field == NO_FIELD ? NULL : (jfieldID)field;
}

/* A local reference, or NULL. */
static jobject object_in(JNIEnv *jni, jobject object, enum field number)
{
    const jfieldID field = object == NULL ? NULL : field_of(jni, number);

    return field == NULL ? NULL : (*jni)->GetObjectField(jni, object, field);
}

static jint number_in(JNIEnv *jni, jobject object, enum field number)
{
    const jfieldID field = object == NULL ? NULL : field_of(jni, number);

    return field == NULL ? 0 : (*jni)->GetIntField(jni, object, field);
}

static bool is_a(JNIEnv *jni, jobject object, const char *class_name)
{
    jclass klass = object == NULL ? NULL : (*jni)->FindClass(jni, class_name);
    const bool is = klass != NULL && (*jni)->IsInstanceOf(jni, object, klass) != JNI_FALSE;

    (*jni)->ExceptionClear(jni);
    (*jni)->DeleteLocalRef(jni, klass);
    return is;
}

/* ---- sockets ---- */

/* Source: what InetAddress.getHostAddress says. */
static void put_ipv6(JNIEnv *jni, jobject address, struct instrument_io *out)
{
    jobject holder = object_in(jni, address, ADDRESS_HOLDER6);
    jbyteArray array = object_in(jni, holder, ADDRESS_BYTES);
    jbyte bytes[IPV6_BYTES];
    size_t used = 0;

    if (array != NULL && (*jni)->GetArrayLength(jni, array) == IPV6_BYTES) {
        (*jni)->GetByteArrayRegion(jni, array, 0, IPV6_BYTES, bytes);
        for (int i = 0; i < IPV6_BYTES && used < sizeof out->address; i += 2)
            used += (size_t)snprintf(out->address + used, sizeof out->address - used, "%s%x",
                                     i == 0 ? "" : ":",
                                     (unsigned)(uint8_t)bytes[i] << 8 | (uint8_t)bytes[i + 1]);
    }
    (*jni)->DeleteLocalRef(jni, array);
    (*jni)->DeleteLocalRef(jni, holder);
}

/* Takes the name of the host, if nothing has said one before. */
static void put_address(JNIEnv *jni, jobject address, struct instrument_io *out)
{
    jobject holder = object_in(jni, address, ADDRESS_HOLDER);

    if (holder == NULL)
        return;
    if (out->name == NULL)
        out->name = object_in(jni, holder, ADDRESS_NAME);
    if (number_in(jni, holder, ADDRESS_FAMILY) == FAMILY_IPV4) {
        const uint32_t word = (uint32_t)number_in(jni, holder, ADDRESS_WORD);

        snprintf(out->address, sizeof out->address, "%u.%u.%u.%u", word >> 24, word >> 16 & 255,
                 word >> 8 & 255, word & 255);
    } else {
        put_ipv6(jni, address, out);
    }
    (*jni)->DeleteLocalRef(jni, holder);
}

static void put_impl(JNIEnv *jni, jobject impl, struct instrument_io *out)
{
    jobject address = object_in(jni, impl, IMPL_ADDRESS);

    put_address(jni, address, out);
    out->port = number_in(jni, impl, IMPL_PORT);
    (*jni)->DeleteLocalRef(jni, address);
}

static void put_stream(JNIEnv *jni, jobject stream, enum field to_socket, struct instrument_io *out)
{
    jobject socket = object_in(jni, stream, to_socket);
    jobject impl = object_in(jni, socket, SOCKET_IMPL);
    /* A socket that a proxy may stand before gives all on to another one. */
    jobject inner = is_a(jni, impl, "java/net/DelegatingSocketImpl")
                        ? object_in(jni, impl, IMPL_DELEGATE)
                        : NULL;

    put_impl(jni, inner == NULL ? impl : inner, out);
    (*jni)->DeleteLocalRef(jni, inner);
    (*jni)->DeleteLocalRef(jni, impl);
    (*jni)->DeleteLocalRef(jni, socket);
}

static void put_plain(JNIEnv *jni, jobject stream, enum field to_impl, struct instrument_io *out)
{
    jobject impl = object_in(jni, stream, to_impl);

    put_impl(jni, impl, out);
    (*jni)->DeleteLocalRef(jni, impl);
}

/* One that is a file of the system has no address. */
static void put_channel(JNIEnv *jni, jobject channel, struct instrument_io *out)
{
    jobject remote = object_in(jni, channel, CHANNEL_REMOTE);
    jobject holder = is_a(jni, remote, REMOTE) ? object_in(jni, remote, REMOTE_HOLDER) : NULL;
    jobject address = object_in(jni, holder, REMOTE_ADDRESS);

    out->name = object_in(jni, holder, REMOTE_HOST);
    put_address(jni, address, out);
    out->port = number_in(jni, holder, REMOTE_PORT);
    (*jni)->DeleteLocalRef(jni, address);
    (*jni)->DeleteLocalRef(jni, holder);
    (*jni)->DeleteLocalRef(jni, remote);
}

/* ---- what is told ---- */

static void put_what(JNIEnv *jni, jobject of, enum probe_io_by by, struct instrument_io *out)
{
    switch (by) {
    case PROBE_IO_BY_INPUT:
        out->name = object_in(jni, of, INPUT_PATH);
        break;
    case PROBE_IO_BY_OUTPUT:
        out->name = object_in(jni, of, OUTPUT_PATH);
        break;
    case PROBE_IO_BY_RANDOM:
        out->name = object_in(jni, of, RANDOM_PATH);
        break;
    case PROBE_IO_BY_CHANNEL:
        out->name = object_in(jni, of, CHANNEL_PATH);
        break;
    case PROBE_IO_BY_SOCKET_INPUT:
        put_stream(jni, of, STREAM_OF_INPUT, out);
        break;
    case PROBE_IO_BY_SOCKET_OUTPUT:
        put_stream(jni, of, STREAM_OF_OUTPUT, out);
        break;
    case PROBE_IO_BY_PLAIN_INPUT:
        put_plain(jni, of, PLAIN_IMPL_OF_INPUT, out);
        break;
    case PROBE_IO_BY_PLAIN_OUTPUT:
        put_plain(jni, of, PLAIN_IMPL_OF_OUTPUT, out);
        break;
    case PROBE_IO_BY_SOCKET_CHANNEL:
        put_channel(jni, of, out);
        break;
    case PROBE_IO_BY_LIMIT:
        break;
    }
}

static void JNICALL tell(JNIEnv *jni, jobject object, jobject of, jint site, jlong bytes, jlong ns)
{
    struct instrument_io io = {.what = PROBE_IO_WHAT_OF(site),
                               .duration_ns = (uint64_t)ns,
                               .bytes = bytes < 0 ? 0 : (uint64_t)bytes,
                               .is_end = bytes < 0};

    (void)object;
    if (told == NULL || of == NULL || ns < 0)
        return;
    put_what(jni, of, (enum probe_io_by)PROBE_IO_BY_OF(site), &io);
    told(jni, &io);
    (*jni)->DeleteLocalRef(jni, io.name);
}

bool instrument_bind_io(JNIEnv *jni, struct jw_error *err)
{
    const struct instrument_teller of = {
        .class_name = PROBE_IO_CLASS,
        .open_type = "(Ljava/lang/JaywalkIo;)V",
        .begin_type = "(IJ)V",
        .natives_class = EVENTS_CLASS,
        .natives = {{"tell", "(Ljava/lang/Object;IJJ)V", (uintptr_t)&tell}}};

    return instrument_bind_teller(jni, &of, &java, err);
}

void instrument_io_begin(JNIEnv *jni, int32_t attach)
{
    (*jni)->CallStaticVoidMethod(jni, java.klass, java.begin, (jint)attach,
                                 least_ns > INT64_MAX ? INT64_MAX : (jlong)least_ns);
    (*jni)->ExceptionClear(jni);
}
