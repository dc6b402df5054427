/*
 * probe_io - the agent's own probe of methods of the JDK that read and write files and sockets.
 *
 * For      option io=.
 * Callers  agent, instrument.
 * Context  control, tool. A probe is closed by probe_close.
 * Memory   as of probe_read.
 *
 * Two handlers for each method, where it returns and where it throws, methods of JaywalkIo. Of two methods of which one calls the other the inner one
 * is taken, so each read or write is told once. A method that a JDK does not have is not met.
 */
#ifndef JW_PROBE_PROBE_IO_H
#define JW_PROBE_PROBE_IO_H

#include "base/io.h"
#include "probe/probe_handler.h"

#define PROBE_IO_CLASS "java/lang/JaywalkIo"

/* By what object, whose class it is that the method belongs to. */
enum probe_io_by {
    PROBE_IO_BY_INPUT,   /* java.io.FileInputStream */
    PROBE_IO_BY_OUTPUT,  /* java.io.FileOutputStream */
    PROBE_IO_BY_RANDOM,  /* java.io.RandomAccessFile */
    PROBE_IO_BY_CHANNEL, /* sun.nio.ch.FileChannelImpl */
    PROBE_IO_BY_SOCKET_INPUT,
    PROBE_IO_BY_SOCKET_OUTPUT, /* streams of java.net.Socket */
    PROBE_IO_BY_PLAIN_INPUT,
    PROBE_IO_BY_PLAIN_OUTPUT, /* those before JDK 13 */
    PROBE_IO_BY_SOCKET_CHANNEL,
    PROBE_IO_BY_LIMIT,
};

/* What places say of themselves: enum jw_io, and by what. */
#define PROBE_IO_SITE(what, by) ((int32_t)(what) | (int32_t)(by) << 4)
#define PROBE_IO_WHAT_OF(site)  ((uint32_t)(site)&15u)
#define PROBE_IO_BY_OF(site)    ((uint32_t)(site) >> 4)

/* `has_plain`: the streams of before JDK 13 are asked for, in place of the later ones, over which they may lie. NULL and `err`: no memory. */
JW_MUST_CHECK struct probe *probe_io_open(const char *name, bool has_plain, struct jw_error *err);

#endif
