/* Packs of rules for methods that serve requests. Context: control, tool. */
#include "probe/probe_routes.h"

#include <string.h>

#include "probe/probe_read_internal.h"

/*
 * Of servlets: all requests of a container's own chain of filters, of filters that say by their name what they are (who asks each class
 * whether it is one, reads each class of the program again), and of servlets.
 * Source: Servlet API 2.5 to 6.1; Tomcat 7 to 11, ApplicationFilterChain; Jetty 9 to 12, ServletHandler; Undertow 1 to 2.
 */
#define SERVLETS(package)                                                                          \
    "include class name=" package ".servlet.http.HttpServlet method name=service "                 \
    "parameters=" package ".servlet.ServletRequest," package ".servlet.ServletResponse "           \
    "lift platform\n"                                                                              \
    "include class name=**Filter extends=" package ".servlet.Filter method name=doFilter "         \
    "parameters=" package ".servlet.ServletRequest," package ".servlet.ServletResponse," package   \
    ".servlet.FilterChain\n"                                                                       \
    "include class name=org.apache.catalina.core.ApplicationFilterChain|"                          \
    "org.eclipse.jetty.**ServletHandler$*|"                                                        \
    "io.undertow.servlet.handlers.FilterHandler$FilterChainImpl method name=doFilter "             \
    "parameters=" package ".servlet.ServletRequest," package ".servlet.ServletResponse\n"

/*
 * The JDK's server runs filters and handler of each request below Filter.Chain.doFilter, which is final and documented; handlers are often
 * lambdas, whose classes no agent is told of. Tomcat and Jetty have one method each around all that is done for a request on a thread,
 * the page for its error too, which is dispatched behind the filters.
 * Source: OpenJDK 8 to 28, module jdk.httpserver; Tomcat 7 to 11, StandardHostValve.invoke; Jetty 9.4 to 11, HttpChannel.handle.
 *
 * Where an asynchronous request goes on it is looked for by other threads. They cannot be there before the methods of Tomcat have ended. In
 * Jetty they can: its method says itself whether the request goes on, and the request is found since it said that it is asynchronous.
 * Undertow takes that back as soon as somebody has dispatched it, whoever is still in it.
 * Source: Jetty 9.4 to 11, Request.startAsync; Undertow 1 to 2, HttpServletRequestImpl.startAsync.
 *
 * A call of gRPC begins with a handler's startCall, goes on with whatever its listener is told, one after the other and on any thread of the
 * executor, and ends as that is told that it is closed, whoever answered it. Between the two lie listeners of interceptors.
 * Source: gRPC 1.41, ServerCalls, and the names of classes and methods of its class files.
 *
 * Netty's decoders put what they have read into a list, and hand that on, to all handlers behind them, from one method: of the bytes of one
 * request, or a part of it, each time. Which lists hold requests the decoder of HTTP knows.
 * Source: Netty 4.1.0 to 4.2.7, ByteToMessageDecoder.callDecode and fireChannelRead, HttpObjectDecoder.decode.
 *
 * A consumer of Kafka's is one thread's: what a poll gave it is what that works on until it polls again, or closes the consumer.
 * Source: documentation of Kafka 0.10 to 4.1, KafkaConsumer ("not safe for multi-threaded access"), ConsumerRecords, TopicPartition.
 */
#define GRPC_LISTENER                                                                              \
    "include class name=io.grpc.internal.ServerCallImpl$ServerStreamListenerImpl method "
#define UNDERTOW_STARTS                                                                            \
    "include class name=io.undertow.servlet.spec.HttpServletRequestImpl method name=startAsync"
#define KAFKA_CONSUMER "include class name=org.apache.kafka.clients.consumer.KafkaConsumer method "
static const struct {
    enum probe_routes_pack pack;
    enum probe_kind kind; /* of what is given: an argument is the first one */
    bool says_end;        /* by a boolean that it returns */
    bool fails;           /* with an exception that leaves it the request is over */
    const char *rules;
    const char
        *starts; /* rules for what says that its request is asynchronous; NULL: nobody is told */
} sites[PROBE_ROUTES_SITES] = {
    [PROBE_ROUTES_EXCHANGE] = {PROBE_ROUTES_JDK_HTTP, PROBE_ARGUMENT, false, false,
                               "include class name=com.sun.net.httpserver.Filter$Chain method "
                               "name=doFilter parameters=com.sun.net.httpserver.HttpExchange "
                               "lift platform",
                               NULL},
    [PROBE_ROUTES_TOMCAT] = {PROBE_ROUTES_SERVLET, PROBE_ARGUMENT, false, false,
                             "include class name=org.apache.catalina.core.StandardHostValve method "
                             "name=invoke parameters=org.apache.catalina.connector.Request,"
                             "org.apache.catalina.connector.Response",
                             NULL},
    [PROBE_ROUTES_JETTY] = {PROBE_ROUTES_SERVLET, PROBE_THIS, true, false,
                            "include class name=org.eclipse.jetty.server.HttpChannel method "
                            "name=handle returns=boolean",
                            "include class name=org.eclipse.jetty.server.Request method "
                            "name=startAsync"},
    [PROBE_ROUTES_JAVAX] = {PROBE_ROUTES_SERVLET, PROBE_ARGUMENT, false, false, SERVLETS("javax"),
                            UNDERTOW_STARTS " returns=javax.servlet.AsyncContext"},
    [PROBE_ROUTES_JAKARTA] = {PROBE_ROUTES_SERVLET, PROBE_ARGUMENT, false, false,
                              SERVLETS("jakarta"),
                              UNDERTOW_STARTS " returns=jakarta.servlet.AsyncContext"},
    [PROBE_ROUTES_CALL] = {PROBE_ROUTES_GRPC, PROBE_ARGUMENT, false, true,
                           "include class name=io.grpc.stub.ServerCalls$UnaryServerCallHandler|"
                           "io.grpc.stub.ServerCalls$StreamingServerCallHandler method "
                           "name=startCall parameters=io.grpc.ServerCall,io.grpc.Metadata",
                           NULL},
    [PROBE_ROUTES_LISTENER] = {PROBE_ROUTES_GRPC, PROBE_THIS, false, false,
                               GRPC_LISTENER "name=messagesAvailable|halfClosed|onReady", NULL},
    [PROBE_ROUTES_CLOSED] = {PROBE_ROUTES_GRPC, PROBE_THIS, false, false,
                             GRPC_LISTENER "name=closed parameters=io.grpc.Status", NULL},
    [PROBE_ROUTES_READ] = {PROBE_ROUTES_NETTY, PROBE_ARGUMENT, false, false,
                           "include class name=io.netty.handler.codec.ByteToMessageDecoder method "
                           "name=fireChannelRead parameters=io.netty.channel.ChannelHandlerContext,"
                           "io.netty.handler.codec.CodecOutputList,int",
                           NULL},
    [PROBE_ROUTES_POLLED] = {PROBE_ROUTES_KAFKA, PROBE_RETURNED, false, false,
                             KAFKA_CONSUMER "name=poll parameters=java.time.Duration|long", NULL},
};

static const char netty_reads[] =
    "include class name=io.netty.handler.codec.http.HttpObjectDecoder method name=decode "
    "parameters=io.netty.channel.ChannelHandlerContext,io.netty.buffer.ByteBuf,java.util.List";

/*
 * Spring MVC has found the handler of the request, for a method of a controller and for a function with its pattern; for others the pattern is
 * known when the first interceptor has run, which is its own. Whoever runs interceptors may let them hand the request on, which others match.
 * Source: Spring Framework 3.2 to 6.2, HandlerExecutionChain.applyPreHandle, HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE.
 */
#define SPRING_MVC(package)                                                                        \
    "include class name=org.springframework.web.servlet.HandlerExecutionChain method "             \
    "name=applyPreHandle parameters=" package ".servlet.http.HttpServletRequest," package          \
    ".servlet.http.HttpServletResponse returns=boolean"

/*
 * RESTEasy has found the method of a resource, or a locator, which is called and gives the resource that the rest of the path is for. Each is
 * asked by its kind with the request alone, or with the resource, too.
 * Source: RESTEasy 3.0 to 7.0, ResourceMethodInvoker.invoke, ResourceLocatorInvoker.invoke.
 */
#define RESTEASY(kind)                                                                             \
    "include class name=org.jboss.resteasy.core.Resource" kind "Invoker method name=invoke "       \
    "parameters=org.jboss.resteasy.spi.HttpRequest,org.jboss.resteasy.spi.HttpResponse|"           \
    "org.jboss.resteasy.spi.HttpRequest,org.jboss.resteasy.spi.HttpResponse,java.lang.Object"
static const struct {
    enum probe_routes_pack pack;
    bool is_asked_again; /* as it returns */
    const char *rules;
} matches[PROBE_ROUTES_MATCHES] = {
    [PROBE_ROUTES_MVC_JAVAX] = {PROBE_ROUTES_SPRING_MVC, true, SPRING_MVC("javax")},
    [PROBE_ROUTES_MVC_JAKARTA] = {PROBE_ROUTES_SPRING_MVC, true, SPRING_MVC("jakarta")},
    [PROBE_ROUTES_RESTEASY_METHOD] = {PROBE_ROUTES_JAX_RS, false, RESTEASY("Method")},
    [PROBE_ROUTES_RESTEASY_LOCATOR] = {PROBE_ROUTES_JAX_RS, false, RESTEASY("Locator")},
};

static const char *const words[PROBE_ROUTES_PACKS] = {
    [PROBE_ROUTES_JDK_HTTP] = "jdk-http",
    [PROBE_ROUTES_SERVLET] = "servlet",
    [PROBE_ROUTES_SPRING_MVC] = "spring-mvc",
    [PROBE_ROUTES_JAX_RS] = "jax-rs",
    [PROBE_ROUTES_GRPC] = "grpc",
    [PROBE_ROUTES_NETTY] = "netty",
    [PROBE_ROUTES_KAFKA] = "kafka",
};

const char *probe_routes_word(enum probe_routes_pack pack)
{
    return words[pack];
}

enum probe_routes_pack probe_routes_pack_of(enum probe_routes_site site)
{
    return sites[site].pack;
}

uint32_t probe_routes_sites(uint64_t packs)
{
    uint32_t count = 0;

    for (int site = 0; site < PROBE_ROUTES_SITES; site++)
        count += (packs >> sites[site].pack & 1) != 0;
    return count;
}

uint64_t probe_routes_needed(uint64_t packs)
{
    return packs | ((packs >> PROBE_ROUTES_SPRING_MVC | packs >> PROBE_ROUTES_JAX_RS) & 1)
                       << PROBE_ROUTES_SERVLET;
}

static bool keep_texts(struct probe_reader *reader, struct probe_handler *handler,
                       const char *rules, enum probe_routes_pack pack)
{
    const char *word = words[pack];

    handler->rules =
        probe_reader_keep(reader, (struct classfile_text){rules, (uint32_t)strlen(rules)});
    handler->pattern =
        probe_reader_keep(reader, (struct classfile_text){word, (uint32_t)strlen(word)});
    return handler->rules != NULL && handler->pattern != NULL;
}

static bool add(struct probe_reader *reader, enum probe_place place, enum probe_routes_site site)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];
    const bool is_entry = place == PROBE_ENTRY;
    const bool says_end = place == PROBE_RETURN && sites[site].says_end;
    const bool fails = place == PROBE_THROW && sites[site].fails;
    const bool has_read = is_entry && site == PROBE_ROUTES_READ;

    *handler = (struct probe_handler){.class_name = PROBE_ROUTES_CLASS,
                                      .method_name = is_entry ? "entered"
                                                     : fails  ? "failed"
                                                              : "left",
                                      .descriptor = has_read   ? "(Ljava/lang/Object;"
                                                                 "Ljava/lang/Object;II)I"
                                                    : is_entry ? "(Ljava/lang/Object;II)I"
                                                    : says_end ? "(Ljava/lang/Object;ZIII)V"
                                                               : "(Ljava/lang/Object;III)V",
                                      .place = place,
                                      .target = PROBE_ROUTES_CLASS,
                                      .is_paired = true,
                                      .capture_count = says_end ? 2 : 1,
                                      .captures = {{.kind = (uint8_t)sites[site].kind, .type = 'L'},
                                                   {.kind = PROBE_RETURNED, .type = 'Z'}},
                                      .site = (int32_t)site};
    if (has_read) {
        handler->capture_count = 2;
        handler->captures[1] =
            (struct probe_capture){.kind = PROBE_ARGUMENT, .argument = 1, .type = 'L'};
    }
    return keep_texts(reader, handler, sites[site].rules, sites[site].pack);
}

/* It ends as the next one begins: none of these is left by what another was given. */
static bool add_polls(struct probe_reader *reader, enum probe_place place, const char *name,
                      const char *rules)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];
    const bool has_given = place == PROBE_RETURN;

    *handler = (struct probe_handler){.class_name = PROBE_ROUTES_CLASS,
                                      .method_name = name,
                                      .descriptor = has_given ? "(Ljava/lang/Object;II)V" : "(II)V",
                                      .place = place,
                                      .target = PROBE_ROUTES_CLASS,
                                      .capture_count = has_given,
                                      .captures = {{.kind = PROBE_RETURNED, .type = 'L'}},
                                      .site = PROBE_ROUTES_POLLED};
    return keep_texts(reader, handler, rules, PROBE_ROUTES_KAFKA);
}

static bool add_site(struct probe_reader *reader, enum probe_routes_site site)
{
    const char *rules = sites[site].rules;

    if (site == PROBE_ROUTES_POLLED)
        return add_polls(reader, PROBE_ENTRY, "polls", rules) &&
               add_polls(reader, PROBE_RETURN, "polled", rules) &&
               add_polls(reader, PROBE_ENTRY, "polls", KAFKA_CONSUMER "name=close");
    return add(reader, PROBE_ENTRY, site) && add(reader, PROBE_RETURN, site) &&
           add(reader, PROBE_THROW, site);
}

static bool add_start(struct probe_reader *reader, enum probe_routes_site site)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];

    *handler = (struct probe_handler){.class_name = PROBE_ROUTES_CLASS,
                                      .method_name = "started",
                                      .descriptor = "(Ljava/lang/Object;II)V",
                                      .place = PROBE_ENTRY,
                                      .target = PROBE_ROUTES_CLASS,
                                      .capture_count = 1,
                                      .captures = {{.kind = PROBE_THIS, .type = 'L'}},
                                      .site = (int32_t)site};
    return keep_texts(reader, handler, sites[site].starts, sites[site].pack);
}

static bool add_read(struct probe_reader *reader)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];

    *handler =
        (struct probe_handler){.class_name = PROBE_ROUTES_CLASS,
                               .method_name = "read",
                               .descriptor = "(Ljava/lang/Object;II)V",
                               .place = PROBE_RETURN,
                               .target = PROBE_ROUTES_CLASS,
                               .capture_count = 1,
                               .captures = {{.kind = PROBE_ARGUMENT, .argument = 2, .type = 'L'}},
                               .site = PROBE_ROUTES_READ};
    return keep_texts(reader, handler, netty_reads, PROBE_ROUTES_NETTY);
}

static bool add_match(struct probe_reader *reader, enum probe_place place, size_t number)
{
    struct probe_whole *whole = reader->whole;
    struct probe_handler *handler = &whole->handlers[whole->probe.handler_count++];

    *handler = (struct probe_handler){
        .class_name = PROBE_ROUTES_CLASS,
        .method_name = "matched",
        .descriptor = "(Ljava/lang/Object;Ljava/lang/Object;II)V",
        .place = place,
        .target = PROBE_ROUTES_CLASS,
        .capture_count = 2,
        .captures = {{.kind = PROBE_THIS, .type = 'L'}, {.kind = PROBE_ARGUMENT, .type = 'L'}},
        .site = (int32_t)number};
    return keep_texts(reader, handler, matches[number].rules, matches[number].pack);
}

static bool add_all(struct probe_reader *reader, uint64_t packs)
{
    for (int site = 0; site < PROBE_ROUTES_SITES; site++) {
        if ((packs >> sites[site].pack & 1) != 0 && !add_site(reader, site))
            return false;
    }
    for (int site = 0; site < PROBE_ROUTES_SITES; site++) {
        if ((packs >> sites[site].pack & 1) != 0 && sites[site].starts != NULL &&
            !add_start(reader, site))
            return false;
    }
    if ((packs >> PROBE_ROUTES_NETTY & 1) != 0 && !add_read(reader))
        return false;
    for (size_t i = 0; i < JW_COUNT_OF(matches); i++) {
        if ((packs >> matches[i].pack & 1) != 0 &&
            (!add_match(reader, PROBE_ENTRY, i) ||
             (matches[i].is_asked_again && !add_match(reader, PROBE_RETURN, i))))
            return false;
    }
    return true;
}

struct probe *probe_routes_open(const char *name, uint64_t packs, struct jw_error *err)
{
    struct probe_reader reader = {.err = err};

    if (!probe_reader_begin_own(&reader, PROBE_ROUTES_CLASS, name))
        return NULL;
    if (!add_all(&reader, packs)) {
        probe_close(&reader.whole->probe);
        return NULL;
    }
    return &reader.whole->probe;
}
