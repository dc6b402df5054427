/*
 * symbols - the native code of this process: which library a pc lies in, the name of its function,
 * and the rule by which a frame of it is left.
 *
 * For      naming native frames in a recording; stepping native frames inside a signal handler.
 * Callers  walk (enter, rule_find, leave), vm (find_library, find_symbol), recording and agent (the
 *          rest).
 * Context  symbols_enter, _leave, _find_library, _library_facts, _rule_find, _proof_find, _doubt, _want: handler, hook,
 *          any. All others: any, dump, control; a lock of the room orders them.
 * Memory   everything is parsed from the files that /proc/self/maps names, with bounds-checked
 *          reads, never through a mapping; deleted files and the vDSO are read from
 *          /proc/self/mem, which answers with an error where a mapping has gone. Handlers see an
 *          immutable snapshot. A replaced snapshot, and the libraries that only it held, are freed
 *          when each handler that entered it has left it, and nobody can ask any more for names of pcs that were
 *          seen in it.
 * Libraries that come and go: a name is asked for up to seconds after the pc was seen, and by then another library may
 *          lie there. So libraries that went are kept until symbols_forget_before, handlers compare a word of what
 *          they believe to be a library with what it was (symbols_proof_find), and a pc that may have been in two of
 *          them has no name.
 * Progress enter, leave, find_library, library_facts, rule_find, proof_find, doubt: wait-free.
 *
 * May these overlap?    enter..leave    refresh, serve, build_rows    name, find_symbol
 *   enter..leave            yes                  yes                       yes
 *   refresh, serve, ..      yes                  yes (lock)                yes (lock)
 *   symbols_close           no (samplers are stopped and drained)          no
 */
#ifndef JW_SYMBOLS_SYMBOLS_H
#define JW_SYMBOLS_SYMBOLS_H

#include "base/jw.h"

#define SYMBOLS_BUILD_ID_BYTES 32
#define SYMBOLS_NAME_BYTES     1024

struct symbols_snapshot;
struct symbols_library;

/* What is known of a library. The strings live as long as the library does. */
struct symbols_library_facts {
    const char *path;           /* as the kernel names it, without " (deleted)" */
    const char *name;           /* last component of the path */
    uintptr_t start_pc, end_pc; /* span of its executable mappings */
    uintptr_t load_bias;        /* address in memory minus address in the file */
    unsigned char build_id[SYMBOLS_BUILD_ID_BYTES];
    uint32_t build_id_bytes; /* 0: the file has none */
    bool is_deleted;         /* the file is gone from its path; what is mapped was read instead */
    bool is_replaced;        /* another file stands at its path; what is mapped was read instead */
    bool is_readable;        /* its ELF structure could be read */
};

/* -------- handler side ---------------------------------------------------------------------- */

/*
 * Opens a bracket in which the snapshot and its libraries stay. NULL when none was published yet
 * (nothing to leave then); this asks for one. A bracket must end on the thread that began it.
 */
JW_SIGNAL_SAFE const struct symbols_snapshot *symbols_enter(void);
JW_SIGNAL_SAFE void symbols_leave(const struct symbols_snapshot *snapshot); /* NULL is allowed */

/* Library whose executable mappings hold `pc`; NULL: none. Valid until symbols_leave. */
JW_SIGNAL_SAFE const struct symbols_library *
symbols_find_library(const struct symbols_snapshot *snapshot, uintptr_t pc);

JW_SIGNAL_SAFE const struct symbols_library_facts *
symbols_library_facts(const struct symbols_library *library);

/* `kept` is a further register on which frames hang and which functions give back as they found it: rbx. The frames of lazy
 * binding do. aarch64 has none such. */
enum symbols_base {
    SYMBOLS_BASE_SP,
    SYMBOLS_BASE_FP,
    SYMBOLS_BASE_KEPT,
    SYMBOLS_BASE_OTHER /* `other_register`, which is known in the interrupted frame alone */
};

/* Where a register of the caller is found. */
enum symbols_place {
    SYMBOLS_PLACE_SAME,   /* in its register still; for the return address: in the link register */
    SYMBOLS_PLACE_AT_CFA, /* in the word at cfa + offset */
    SYMBOLS_PLACE_AT_BASE, /* in the word at base + offset (x86-64 signal frames, realigned stacks) */
};

#define SYMBOLS_KEPT_LOST 255

/*
 * glibc's code for lazy binding on aarch64 (_dl_runtime_resolve, at least 2.17 to 2.36) is entered from the lazy-binding stub, which has
 * pushed x16 and the return address; its description counts neither, and says that the return address lies above the
 * CFA. Whoever believes it loses the stack at the next frame that hangs on sp.
 * Source: `readelf --debug-dump=frames-interp` and the code of ld-linux-aarch64.so.1; the stub: binutils, elfnn-aarch64.
 */
#define SYMBOLS_RAISED_BYTES 16

/*
 * How to leave the frame of a pc:
 *     base   = sp, fp, kept or a register of the interrupted thread, by cfa_base
 *     cfa    = base + cfa_offset_bytes; where is_cfa_loaded: the word at that address
 *     pc     = by return_place; strip its signature first where is_return_signed
 *     fp     = by fp_place
 *     sp     = cfa
 *     kept   = by kept_words: 0, in its register still; SYMBOLS_KEPT_LOST; else so many words below the cfa
 * A return address of SYMBOLS_PLACE_SAME can be trusted only in a frame whose registers are known:
 * the interrupted one. A signal frame's caller was interrupted, so its pc is no return address; on
 * aarch64 its registers are in the ucontext at sp, of which the rule knows no more than fp and link.
 */
struct symbols_rule {
    int32_t cfa_offset_bytes;
    int32_t fp_offset_bytes;
    int32_t return_offset_bytes;
    uint8_t cfa_base;       /* enum symbols_base */
    uint8_t other_register; /* DWARF's number of it */
    uint8_t fp_place;       /* enum symbols_place */
    uint8_t return_place;   /* enum symbols_place */
    uint8_t kept_words;
    bool is_cfa_loaded : 1;
    bool is_signal_frame : 1;
    bool is_return_signed : 1; /* aarch64: the return address carries a signature (PAC) */
    bool is_cfa_raised : 1;    /* by SYMBOLS_RAISED_BYTES above what the library says of it */
};

enum symbols_found {
    SYMBOLS_FOUND,
    SYMBOLS_OUTERMOST, /* a frame without a caller: the first function of a thread */
    SYMBOLS_CANNOT,    /* the library's rule for this pc is beyond struct symbols_rule */
    SYMBOLS_NO_ROW,    /* the library says nothing of this pc */
    SYMBOLS_NO_ROWS, /* the rows of this library are not built yet: asked for, try a later sample */
    SYMBOLS_NO_LIBRARY /* no library holds this pc; a new look at the maps was asked for */
};

/*
 * Rule of the frame whose pc this is; `is_return_address` for every frame but the interrupted one
 * (and the caller of a signal frame), so that a call that ends a function counts as inside it.
 * Reads nothing but memory of its own. `rule` means something with SYMBOLS_FOUND only.
 */
JW_SIGNAL_SAFE enum symbols_found symbols_rule_find(const struct symbols_snapshot *snapshot,
                                                    uintptr_t pc, bool is_return_address,
                                                    struct symbols_rule *rule);

/*
 * What a library is known by where it is mapped: while a thread is in it, this word of its memory is what it was when
 * the library was looked at, or it is another library.
 */
struct symbols_proof {
    uintptr_t start_pc, end_pc; /* code that it holds for */
    uintptr_t address;          /* 0: nothing to compare (the vDSO, which stays) */
    uint64_t word;
};

/* The proof of the library that holds `pc`; false: none does. Nothing is asked for. */
JW_SIGNAL_SAFE bool symbols_proof_find(const struct symbols_snapshot *snapshot, uintptr_t pc,
                                       struct symbols_proof *proof);

/* Where the library of `pc` has the header of its frame descriptions in memory (.eh_frame_hdr); 0: nowhere, as far as known. */
JW_SIGNAL_SAFE uintptr_t symbols_frame_header(const struct symbols_snapshot *snapshot,
                                              uintptr_t pc);

/* The stretch of memory into which a segment of some library's file is mapped and that holds this address. False: none does. */
JW_SIGNAL_SAFE bool symbols_find_segment(const struct symbols_snapshot *snapshot, uintptr_t addr,
                                         uintptr_t *start, uintptr_t *end);

/*
 * The word was another one, or could not be read: what lies at `pc` is not the library of the snapshot. Until the next
 * look at the maps, which this asks for, its code has no name.
 */
JW_SIGNAL_SAFE void symbols_doubt(const struct symbols_snapshot *snapshot, uintptr_t pc);

#define SYMBOLS_WANT_LIBRARIES 1u /* a look at the maps */
#define SYMBOLS_WANT_ROWS      2u /* rows of those libraries in which symbols_rule_find had none */
#define SYMBOLS_WANT_TRUTH                                                                         \
    4u /* a look at the maps that does not wait: a library is not what it was */

/* Asks the next symbols_serve for it. */
JW_SIGNAL_SAFE void symbols_want(unsigned what);

/* -------- dump side ------------------------------------------------------------------------- */

/*
 * Looks at /proc/self/maps again and publishes a new snapshot if the libraries changed; those that
 * stayed keep their rows and names. False and `err`: the old snapshot stands.
 */
JW_MUST_CHECK bool symbols_refresh(struct jw_error *err);

/* Builds the rows of every published library that has none: milliseconds and a few MB. */
JW_MUST_CHECK bool symbols_build_rows(struct jw_error *err);

/*
 * Does what handlers asked for since the last call, and nothing otherwise. A look at the maps that
 * changed nothing makes the next ones rarer (a foreign JIT has pcs that no library holds): each
 * call counts as one tick, and the pause doubles from one tick to 64. When the loader has loaded or unloaded something
 * it ends.
 */
JW_MUST_CHECK bool symbols_serve(struct jw_error *err);

/*
 * Pcs that were seen until now are about to be named: looks at the maps if a library has been unloaded since the last
 * look and there are some that their proof does not tell from every other (they have no build-id), or where libraries lay
 * before others may have come and gone.
 */
JW_MUST_CHECK bool symbols_settle(struct jw_error *err);

/*
 * True once after a look that found libraries gone or replaced: what is seen from now on has its name the sooner, the sooner the pcs seen
 * until now are known to symbols_forget_before.
 */
bool symbols_take_news(void);

/* Number of the last look at the maps, from 1. Pcs seen after this call are known to symbols_forget_before by it. */
uint64_t symbols_look_number(void);

/* How often the dynamic loader has unloaded something: between two equal answers it did not. */
uint64_t symbols_unloads(void);

/* Nobody will ask for a pc that was seen before this look: what went until then is forgotten. */
void symbols_forget_before(uint64_t look_number);

/* Has the next symbols_serve build the rows of the library around `pc`, which handlers will ask for. False: no published
 * snapshot has one there. */
bool symbols_want_rows(uintptr_t pc);

struct symbols_name {
    char library[128];                 /* short name; empty: no library holds the pc */
    char function[SYMBOLS_NAME_BYTES]; /* as the linker spells it, cut at the limit; may be empty */
    uint64_t offset_bytes;             /* of the pc, in the function; without one, in the library */
};

/*
 * Names the native code at `pc`; give return addresses as they are minus one. False: no library
 * holds it, or several have and which of them was meant is not known (counted as SYMBOLS_UNCERTAIN). Without a symbol `function` is empty. The first question about a library indexes its
 * symbol table and keeps its file open until symbols_forget_names; each costs a few reads of it, so keep
 * the answer. Text for a frame: symbols_name_text.
 */
bool symbols_name(uintptr_t pc, struct symbols_name *out);

/* Nobody asks for names for some time: closes the files that they are read from, and frees the indexes. */
void symbols_forget_names(void);

/* "function" or "library+0x1f2"; returns `text`. */
const char *symbols_name_text(const struct symbols_name *name, char *text, size_t text_bytes);

/*
 * Address of a defined symbol (function or data, .symtab or .dynsym) of the first library whose
 * short name begins with `library_name`; 0: none such.
 */
uintptr_t symbols_find_symbol(const char *library_name, const char *symbol);

/*
 * Offset in its file of a symbol that a library defines whose short name begins with `library_name`, the first of these; `path`
 * gets that file's. False: none has it, or none whose file is there.
 */
JW_MUST_CHECK bool symbols_find_in_file(const char *library_name, const char *symbol, char *path,
                                        size_t room_bytes, uint64_t *offset);

/* Calls `visit` for each library of the published snapshot, by address, under the room's lock. */
typedef void symbols_visit(const struct symbols_library_facts *facts, void *closure);
void symbols_each_library(symbols_visit *visit, void *closure);

struct symbols_stats {
    uint32_t libraries;            /* of the published snapshot */
    uint32_t libraries_unreadable; /* whose ELF structure could not be read */
    uint32_t libraries_with_rows;
    uint64_t rows, rules;
    uint64_t rows_bytes, names_bytes; /* memory held */
    uint64_t frames_refused;          /* FDEs that could not be decoded; their code has no row */
    uint64_t refresh_count, refresh_ns, rows_ns, names_ns; /* since the process started */
    uint64_t snapshots_waiting; /* replaced, but perhaps still in use by a handler */
    uint64_t snapshots_put_off; /* not published because too many were waiting */
    uint32_t libraries_past;    /* gone, but kept for names that may still be asked for */
};
void symbols_stats(struct symbols_stats *out);

/* Frees all. Nobody may be in a bracket. */
void symbols_close(void);

#endif
