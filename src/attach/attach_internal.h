/*
 * attach_internal - the parts of an attach, for each other and for tests.
 *
 * For      the files of this room.   Callers  these, tests.   Context  tool.
 * Memory   none of its own; texts are copied out. The parsers are total on any bytes.
 */
#ifndef JW_ATTACH_ATTACH_INTERNAL_H
#define JW_ATTACH_ATTACH_INTERNAL_H

#include "attach/attach.h"

/* Of /proc/PID/status. */
struct attach_status {
    char state; /* R, S, D, T, Z ... */
    uid_t user;
    gid_t group;
    int inner_pid;
    bool catches_quit; /* without a handler SIGQUIT ends the process */
};

/* attach_proc.c -------------------------------------------------------------------------------- */

/* False: not such a text. A kernel that tells no NSpid leaves inner_pid 0. */
JW_MUST_CHECK bool attach_parse_status(const char *text, size_t length_bytes,
                                       struct attach_status *status);

/* Whether a line of /proc/PID/maps shows libjvm. */
bool attach_is_jvm_line(const char *line);

/* -XX:+DisableAttachMechanism, or - for +, in words parted by NUL or blanks: sets `is_disabled` where
 * it is mentioned. */
void attach_find_switch(const char *text, size_t length_bytes, bool *is_disabled);
/* The same in variables of /proc/PID/environ that the JVM reads before its command line, or after. */
void attach_find_switch_in_environment(const char *text, size_t length_bytes, bool late,
                                       bool *is_disabled);

/* Main class, jar or program of a Java command line. False: an empty one. */
JW_MUST_CHECK bool attach_parse_name(const char *text, size_t length_bytes, char *name,
                                     size_t room_bytes);

/* Start of PLACE/NAME, terminated. False: cannot be read; errno says why. */
JW_MUST_CHECK bool attach_read(const char *place, const char *name, char *text, size_t room_bytes,
                               size_t *length_bytes);
/* The same for its status; errno is EBADMSG where it is no such text. */
JW_MUST_CHECK bool attach_read_status(const char *place, struct attach_status *status);

/* What to try when the kernel refused a look at a process or its files for this reason (errno). */
const char *attach_advice(int reason);

/* Whether the process at `place` maps libjvm; false, `err` and errno when that cannot be known. */
JW_MUST_CHECK bool attach_maps_jvm(const char *place, bool *is_jvm, struct jw_error *err);

/* Path of a line of /proc/PID/maps whose file is called `name`, without " (deleted)" behind it; NULL: another
 * one. The line is cut to it. */
const char *attach_parse_mapped(char *line, const char *name);

/* Whether one of its threads is called so; the kernel keeps 15 bytes of a name. */
bool attach_has_thread(const char *place, const char *name);

/* attach_place.c ------------------------------------------------------------------------------- */

#define ATTACH_NAME_HEAD ".jaywalk-"

/* The target's /tmp, opened by path only; its symbolic links lead nowhere outside. -1 and errno. */
JW_MUST_CHECK int attach_open_tmp(const struct attach_target *target);

/* What to try when something cannot be made there for this reason (errno). */
const char *attach_advice_tmp(int reason);

/* A name that nobody can guess. */
JW_MUST_CHECK bool attach_random_name(char *name, size_t room_bytes, struct jw_error *err);

/* attach_protocol.c ---------------------------------------------------------------------------- */

#define ATTACH_ARGUMENT_MAX_BYTES 1024 /* of protocol version 1 */
#define ATTACH_REQUEST_BYTES      (64 * 1024)

/* Bytes of a request in protocol version 1 or 2; 0: it does not fit. */
size_t attach_encode(int version, const char *command, const char *const arguments[3],
                     char *request, size_t room_bytes);

/* "0\ntext": false when no number comes first. */
JW_MUST_CHECK bool attach_parse_reply(const char *bytes, size_t length_bytes,
                                      struct attach_reply *reply);

/* Text of a reply to `load`: what Agent_OnAttach gave. False: it was not called. */
JW_MUST_CHECK bool attach_parse_load(const char *text, int *code);

/* attach_socket.c ------------------------------------------------------------------------------ */

/* A connection to the JVM's listener, which is started where it does not run. -1 and `err`. */
JW_MUST_CHECK int attach_connect(const struct attach_target *target, uint64_t deadline_ns,
                                 struct jw_error *err);

/* Says in `err` that the process was stopped, by a debugger or a signal, when it is. */
bool attach_is_stopped(const struct attach_target *target, struct jw_error *err);

/* attach_target.c ------------------------------------------------------------------------------ */

JW_MUST_CHECK bool attach_signal(const struct attach_target *target, int signal_number,
                                 struct jw_error *err);

enum attach_life {
    ATTACH_LIVES,
    ATTACH_HAS_ENDED,
    ATTACH_CANNOT_LOOK, /* errno says why */
};

/* What can be known by now of the process that was opened. */
JW_MUST_CHECK enum attach_life attach_look(const struct attach_target *target);

#endif
