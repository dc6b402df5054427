/*
 * attach - has a running JVM load our library, over the protocol that the JDK's own tools use.
 *
 * For      the command: find JVMs, check who they are, load the agent with an agent string.
 * Callers  cli.
 * Context  tool.
 * Memory   the caller's structs; attach_close and attach_answer_close give descriptors and names back.
 *
 * Nothing is believed of a process but what the kernel says, and nothing is sent to one that is not a
 * JVM. A process is held by a pidfd and by the time of its start; both are looked at again after each
 * wait. Every wait has a deadline. Every refusal says what failed, why, and what to try.
 *
 * Source: OpenJDK, attachListener.cpp, attachListener_posix.cpp (attachListener_linux.cpp to JDK 16) and
 * sun.tools.attach.VirtualMachineImpl, JDK 8 to 25.
 */
#ifndef JW_ATTACH_ATTACH_H
#define JW_ATTACH_ATTACH_H

#include <sys/types.h>

#include "base/jw.h"

#define ATTACH_NAME_BYTES 512
#define ATTACH_TEXT_BYTES 4096

/* A JVM, held. */
struct attach_target {
    int pid;
    int pid_fd; /* -1: a kernel before 5.3 has none */
    uint64_t start_ticks;
    uid_t user; /* effective ids, as this process sees them */
    gid_t group;
    int inner_pid;      /* what it calls itself, in its own PID namespace */
    bool has_own_files; /* another mount namespace or root directory than ours */
    char place[128];    /* its directory below /proc */
    /* NULL, or asked in each wait: true ends what is under way as if its time were over. */
    bool (*is_given_up)(void);
};

/*
 * Holds process `pid`; `proc` is "/proc" but in tests. False and `err`: no such process, not a JVM, of
 * another user, or not visible to us.
 */
JW_MUST_CHECK bool attach_open(const char *proc, int pid, struct attach_target *target,
                               struct jw_error *err);
void attach_close(struct attach_target *target);

/* As root: takes the ids of the target for good, before anything is created for it. Else does nothing. */
JW_MUST_CHECK bool attach_become(const struct attach_target *target, struct jw_error *err);

/* Whether the process that was opened is still there, as far as can be known: false says that it has ended, not that it
 * could not be looked at. */
bool attach_is_alive(const struct attach_target *target);

/* True and `err` when the target is gone, or on its way, which is then the reason of whatever failed. */
bool attach_has_ended(const struct attach_target *target, struct jw_error *err);

/* Sleeps until the process ends (true; not seen on kernels before 5.3) or for so long. */
bool attach_wait(const struct attach_target *target, uint64_t sleep_ns);

/* Whether the caller wants no more of it; asked in each wait. */
bool attach_is_given_up(const struct attach_target *target);

/* What the JVM answered to a request. */
struct attach_reply {
    int status;                   /* 0: the request was understood and done */
    char text[ATTACH_TEXT_BYTES]; /* what follows, cut to fit; others wrote it */
};

/* Has the JVM do `command` with up to three arguments; NULL: an empty one. */
JW_MUST_CHECK bool attach_request(const struct attach_target *target, const char *command,
                                  const char *const arguments[3], uint64_t timeout_ns,
                                  struct attach_reply *reply, struct jw_error *err);

/* Loads `library`, a path in the target's file system, and calls its Agent_OnAttach with `options`,
 * which gives `code`. False when it did not come to that call. */
JW_MUST_CHECK bool attach_load(const struct attach_target *target, const char *library,
                               const char *options, uint64_t timeout_ns, int *code,
                               struct jw_error *err);

/*
 * Checks that nobody but root, the target's user and `trusted` can put something else in the place of
 * `library`, an absolute path without symbolic links in the target's file system, and that the target
 * can read it. `trusted` owns the running command: who does could have replaced that already.
 */
JW_MUST_CHECK bool attach_check_library(const struct attach_target *target, const char *library,
                                        uid_t trusted, struct jw_error *err);

/* A file of the target's user that the agent writes its words into; the name is gone with the answer. */
struct attach_answer {
    int fd;
    int directory_fd;
    char name[64];
    char path[80]; /* in the target's file system */
};

JW_MUST_CHECK bool attach_answer_open(const struct attach_target *target,
                                      struct attach_answer *answer, struct jw_error *err);

/* What stands in it by now, cut to fit. True when the agent has ended it, with `code`; false and `err` when it cannot
 * be read. */
bool attach_answer_read(const struct attach_answer *answer, char *text, size_t room_bytes,
                        int *code, struct jw_error *err);
/* Waits for the end, for the death of the target, or for the deadline. True: it is ended. False and `err`: it cannot
 * be read, and nobody waits for that. */
bool attach_answer_wait(const struct attach_target *target, const struct attach_answer *answer,
                        uint64_t timeout_ns, char *text, size_t room_bytes, int *code,
                        struct jw_error *err);
void attach_answer_close(struct attach_answer *answer);

/*
 * A directory of the target's user in its /tmp, for nobody else, with a name that nobody can guess: for what a
 * process with other files than ours needs of us, and for what it gives. Stays reachable when the process
 * has ended.
 */
struct attach_place {
    int directory_fd; /* -1: none */
    int parent_fd;
    char name[64];
    char path[80]; /* in the target's file system */
};

JW_MUST_CHECK bool attach_place_open(const struct attach_target *target, struct attach_place *place,
                                     struct jw_error *err);

/* Lays what is read from `from_fd` there as `name`, for its user to read and to run. */
JW_MUST_CHECK bool attach_place_put(const struct attach_place *place, const char *name, int from_fd,
                                    struct jw_error *err);

/* Opens what the JVM wrote as `name`: a plain file of its user, with one name, of at most so many bytes. -1
 * and `err`: it is not there, or is anything else. */
JW_MUST_CHECK int attach_place_take(const struct attach_target *target,
                                    const struct attach_place *place, const char *name,
                                    uint64_t most_bytes, struct jw_error *err);

void attach_place_remove(const struct attach_place *place, const char *name);
void attach_place_close(struct attach_place *place); /* removes it with all that is in it */

/*
 * The library `name` that the target has mapped already, by the path that it was loaded by. True: there is one;
 * `is_there`: and that path still leads to a file, so attach_check_library has its say. False and `err`: that cannot be
 * known; a second copy of an agent is worse than none.
 */
JW_MUST_CHECK bool attach_find_library(const struct attach_target *target, const char *name,
                                       char *path, size_t room_bytes, bool *is_there,
                                       struct jw_error *err);

/* Whether `path` leads the target to the very file that it leads us to. */
bool attach_shares(const struct attach_target *target, const char *path);

/*
 * Visits the JVMs that this user can see, by number. `name`: main class, jar or program. False and `err`: some may be
 * missing, for want of descriptors or memory; those that were found are visited. Processes of others are no reason:
 * `foreign_count` (or NULL) are those that this user may not look at.
 */
JW_MUST_CHECK bool attach_each(const char *proc,
                               void (*visit)(int pid, const char *name, void *argument),
                               void *argument, size_t *foreign_count, struct jw_error *err);

/* Whether a person who says `wanted` means a JVM called `name`: all of it, a main class without its
 * package, a jar without its directory or ending. */
bool attach_is_called(const char *name, const char *wanted);

#endif
