/*
 * ids - numbers for classes and methods that outlive them: what other agents hold (include/jaywalk.h).
 *
 * For      names in somebody else's signal handler that never are another method's, and that can be asked for later.
 * Callers  agent (api_stacks.c).
 * Context  ids_open: control. ids_class_prepared: hook. ids_class_listed: control, before ids_listed. ids_turn: its own
 *          thread. All others: handler, hook, any.
 * Memory   reserved and charged whole by ids_open (part IDS), touched as used, kept until the process ends.
 * Progress lock-free; what is asked of an id is wait-free.
 *
 * May these overlap?    method_at/info    class_prepared    turn
 *   method_at/info            yes              yes           yes
 *   class_prepared            yes              yes           yes
 *   turn                      yes              yes           no (one thread)
 *
 * An id is the number of a record and which life of it: a record is used again, an id never is. A class gets its record when it
 * is prepared, which is before any code of it runs; so a handler finds the class of a method on its own stack by the address of
 * its Klass, exactly: what was recorded at the address before was replaced. A method gets its record when a handler first sees
 * it: names are copied there and then, while the method stands on the stack and cannot go away.
 *
 *     class record --> texts          --> method record --> texts
 *         ^                                  |  ^
 *         +----------------------------------+  +--> method record ...       eight chains a class, by the method's number
 *
 * A record is given back by ids_turn alone: of a class when its weak reference is empty, of a method with its class, or
 * when its code was redefined. Whoever reads one with an id in his hand sees that its life is over by its version; whoever
 * walks the chains of a living class is counted inside of it, and no record that stood in them is used again before nobody is.
 */
#ifndef JW_IDS_IDS_H
#define JW_IDS_IDS_H

#include "base/jw.h"
#include "vm/vm.h"

typedef uint64_t ids_id; /* of a class or a method; 0: none */

#define IDS_TEXT_MAX_BYTES  4096  /* of a name; longer ones are cut */
#define IDS_LINES_MAX_BYTES 32768 /* of a line table; methods with a longer one have no lines */

/* Reserves all memory. `bytes`: so much may be used. False and `err`: nothing was done. */
JW_MUST_CHECK bool ids_open(uint64_t bytes, struct jw_error *err);
bool ids_is_open(void);
void ids_close(void); /* tests: nobody is inside */

/*
 * A class is about to run. `told_bytes`: of the name that JVMTI tells, which before JDK 15 is longer for an anonymous class than that
 * of its Klass; 0: it was not asked. `weak`: a weak reference to its class object, which is ours from now on; given back to the caller, by
 * false, where there is no room (counted).
 */
JW_MUST_CHECK bool ids_class_prepared(vm_addr klass, size_t told_bytes, void *weak);

/* One that was there before, and is held by the caller; false, too, where it is known already. */
JW_MUST_CHECK bool ids_class_listed(vm_addr klass, size_t told_bytes, void *weak);

/* All of those are listed: from now on ids are given. */
void ids_listed(void);
bool ids_are_listed(void);

/* The class at this address, which lives; 0: not known. */
JW_SIGNAL_SAFE ids_id ids_class_at(vm_addr klass);

/* The method of a Method* whose class lives; 0: not known, or no room (counted). */
JW_SIGNAL_SAFE ids_id ids_method_at(vm_addr method);

/* Room for a text, as struct jaywalk_text. */
struct ids_text {
    char *bytes;
    size_t room_bytes;
    size_t length_bytes;
};

struct ids_class_info {
    uint64_t number; /* from 1, never given again */
    uint32_t modifiers;
    bool is_hidden;
    struct ids_text name, source_file;
};

struct ids_method_info {
    ids_id klass;
    uint32_t modifiers;
    uint16_t number; /* in its class */
    bool is_number_known;
    bool is_obsolete;
    struct ids_text name, signature;
};

/* False: the id means nothing any more, and nothing in `info` counts. */
JW_SIGNAL_SAFE bool ids_class_info(ids_id id, struct ids_class_info *info);
JW_SIGNAL_SAFE bool ids_method_info(ids_id id, struct ids_method_info *info);

#define IDS_GONE (-1)

/* Calls back for each entry of the line table until it says false. How many there are, or IDS_GONE. */
struct vm_lines;
typedef bool ids_line_visit(const struct vm_lines *entry, void *argument);
JW_SIGNAL_SAFE int ids_method_lines(ids_id id, ids_line_visit *visit, void *argument);

/* The line of a bci; 0: none; IDS_GONE. */
JW_SIGNAL_SAFE int ids_method_line(ids_id id, int bci);

/* The weak reference of a class, for the calling thread alone: it may be given back at any time; NULL: it is gone. */
void *ids_class_weak(ids_id id);

struct ids_event {
    ids_id klass;
    bool is_redefined;
    const ids_id *methods;
    size_t method_count;
};

struct ids_watch {
    bool (*is_gone)(void *weak, void *argument);
    void *(*hold)(void *weak, void *argument); /* NULL: it is gone */
    void (*release)(void *held, void *argument);
    void (*tell)(const struct ids_event *event,
                 void *argument); /* its ids are valid until it returns */
    void (*give_back)(void *weak, void *argument);
    void *argument;
};

/* Looks at all classes once: tells of those that are gone or were redefined, and gives their records back. Returns how many events
 * were told. */
uint32_t ids_turn(const struct ids_watch *watch);

struct ids_stats {
    uint32_t class_count, class_capacity;
    uint32_t method_count, method_capacity;
    uint32_t block_count, block_capacity; /* of texts */
};
void ids_stats(struct ids_stats *out);

#endif
