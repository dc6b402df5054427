/*
 * probe_routes - methods that serve requests, of frameworks that are known by name: the agent's own probe behind endpoints=.
 *
 * For      each sample's endpoint, without Java code of a user.
 * Callers  agent (which of them), instrument.
 * Context  control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 * A pack is for one kind of server, and has sites: rules for methods, and what of them is the request. Three handlers each:
 * JaywalkRoutes.entered with that, and JaywalkRoutes.left where the method returns and where it throws. Behind those of all sites come handlers
 * for methods by which a request says that it is asynchronous: JaywalkRoutes.started, for sites whose threads may be overtaken by
 * those that go on with it; JaywalkRoutes.read, where one is read that is handed on later. Then those of packs for frameworks inside of these, which have no site of their own: JaywalkRoutes.matched,
 * where a framework knows for which of its patterns the request is. docs/adr/0060-endpoints-by-rules.md
 */
#ifndef JW_PROBE_PROBE_ROUTES_H
#define JW_PROBE_PROBE_ROUTES_H

#include "probe/probe_handler.h"

#define PROBE_ROUTES_CLASS "java/lang/JaywalkRoutes"

enum probe_routes_pack {
    PROBE_ROUTES_JDK_HTTP,
    PROBE_ROUTES_SERVLET,
    PROBE_ROUTES_SPRING_MVC, /* of what servlets take */
    PROBE_ROUTES_JAX_RS,     /* of what others take, servlets mostly */
    PROBE_ROUTES_GRPC,
    PROBE_ROUTES_NETTY,
    PROBE_ROUTES_KAFKA,
    PROBE_ROUTES_PACKS,
};

/* By what is given. Of several methods of one stack the outermost one is the request, whatever its site. */
enum probe_routes_site {
    PROBE_ROUTES_EXCHANGE, /* com.sun.net.httpserver.HttpExchange */
    PROBE_ROUTES_TOMCAT,   /* org.apache.catalina.connector.Request */
    PROBE_ROUTES_JETTY,    /* org.eclipse.jetty.server.HttpChannel */
    PROBE_ROUTES_JAVAX,    /* javax.servlet.ServletRequest */
    PROBE_ROUTES_JAKARTA,  /* jakarta.servlet.ServletRequest */
    PROBE_ROUTES_CALL,     /* io.grpc.ServerCall, which begins */
    PROBE_ROUTES_LISTENER, /* io.grpc.internal.ServerCallImpl.ServerStreamListenerImpl, which has a call */
    PROBE_ROUTES_CLOSED, /* the same, told that the call is over */
    PROBE_ROUTES_READ,   /* io.netty.channel.ChannelHandlerContext, and a list of what was read */
    PROBE_ROUTES_POLLED, /* org.apache.kafka.clients.consumer.ConsumerRecords, which a method gave */
    PROBE_ROUTES_SITES,
};
#define PROBE_ROUTES_HANDLERS 3u /* of a site */

/* Where a framework knows for which of its patterns a request is: by its object and the first argument, which is the request as it has it. */
enum probe_routes_match {
    PROBE_ROUTES_MVC_JAVAX,        /* javax.servlet.ServletRequest */
    PROBE_ROUTES_MVC_JAKARTA,      /* jakarta.servlet.ServletRequest */
    PROBE_ROUTES_RESTEASY_METHOD,  /* org.jboss.resteasy.spi.HttpRequest */
    PROBE_ROUTES_RESTEASY_LOCATOR, /* the same; others match what is below */
    PROBE_ROUTES_MATCHES,
};

/* What a method says of its request by what it returns, as JaywalkRoutes has it. */
enum probe_routes_end {
    PROBE_ROUTES_UNSAID,
    PROBE_ROUTES_OVER,
    PROBE_ROUTES_GOES_ON,
};

const char *probe_routes_word(enum probe_routes_pack pack); /* "jdk-http" */
enum probe_routes_pack probe_routes_pack_of(enum probe_routes_site site);
uint32_t probe_routes_sites(uint64_t packs);  /* how many they have */
uint64_t probe_routes_needed(uint64_t packs); /* with those without which they are nothing */

/* `packs`: bits by number, at least one. Handlers come in the order of the sites; `site` is that. NULL and `err`: no memory. */
JW_MUST_CHECK struct probe *probe_routes_open(const char *name, uint64_t packs,
                                              struct jw_error *err);

#endif
