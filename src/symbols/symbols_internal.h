/*
 * symbols, inside - ELF images, the rules of their frames, their names.
 *
 * For      the files of this room, its tests and its fuzz targets.
 * Context  any, dump, control, under the room's lock, unless a line says otherwise.
 * Memory   sections are read through windows; what is being put together lies in mapped arenas
 *          until it is done; what stays is made to measure by jw_alloc.
 */
#ifndef JW_SYMBOLS_SYMBOLS_INTERNAL_H
#define JW_SYMBOLS_SYMBOLS_INTERNAL_H

#include <string.h>
#include <sys/types.h>

#include "base/arena.h"
#include "symbols/symbols.h"

/* -------- machines: symbols_machine.c ------------------------------------------------------- */

#define SYMBOLS_NO_REGISTER   0xff
#define SYMBOLS_REGISTERS_MAX 32 /* whose number a rule has room for */

/* DWARF register numbers of an instruction set, found by the e_machine of a file. */
struct symbols_machine {
    uint16_t elf_machine;
    uint8_t sp_register;
    uint8_t fp_register;
    uint8_t kept_register;   /* SYMBOLS_NO_REGISTER: none */
    uint8_t return_register; /* column of the return address */
    bool has_link_register;  /* it is a real register and holds the address until it is saved */
};

const struct symbols_machine *symbols_machine_find(uint16_t elf_machine); /* NULL: unknown */

/* -------- bytes: symbols_cursor.c ----------------------------------------------------------- */

/* A position in bytes from outside. Reading past the end yields 0 and sets `is_failed` for good. */
struct symbols_cursor {
    const unsigned char *at;
    const unsigned char *end;
    uint64_t vaddr; /* of `at`, in the addresses of the file: for pc-relative values */
    bool is_failed;
};

static inline struct symbols_cursor symbols_cursor_of(const unsigned char *bytes, size_t size_bytes,
                                                      uint64_t vaddr)
{
    return (struct symbols_cursor){.at = bytes, .end = bytes + size_bytes, .vaddr = vaddr};
}

static inline size_t symbols_cursor_left(const struct symbols_cursor *cursor)
{
    return cursor->is_failed ? 0 : (size_t)(cursor->end - cursor->at);
}

static inline void symbols_cursor_skip(struct symbols_cursor *cursor, uint64_t size_bytes)
{
    if (symbols_cursor_left(cursor) < size_bytes) {
        cursor->is_failed = true;
        return;
    }
    cursor->at += size_bytes;
    cursor->vaddr += size_bytes;
}

/* A number of 1, 2, 4 or 8 bytes, low byte first, as every machine of the table has it. */
static inline uint64_t symbols_get_unsigned(struct symbols_cursor *cursor, size_t size_bytes)
{
    uint64_t value = 0;

    if (symbols_cursor_left(cursor) < size_bytes) {
        cursor->is_failed = true;
        return 0;
    }
    memcpy(&value, cursor->at, size_bytes);
    cursor->at += size_bytes;
    cursor->vaddr += size_bytes;
    return value;
}

uint64_t symbols_get_leb(struct symbols_cursor *cursor, bool is_signed);

static inline uint64_t symbols_get_uleb(struct symbols_cursor *cursor)
{
    if (symbols_cursor_left(cursor) > 0 && *cursor->at < 0x80)
        return symbols_get_unsigned(cursor, 1); /* nearly all of them */
    return symbols_get_leb(cursor, false);
}

static inline int64_t symbols_get_sleb(struct symbols_cursor *cursor)
{
    return (int64_t)symbols_get_leb(cursor, true);
}

/* A value in a DW_EH_PE encoding; `data_vaddr` is the base of data-relative ones. */
uint64_t symbols_get_encoded(struct symbols_cursor *cursor, uint8_t encoding, uint64_t data_vaddr);

/* -------- order: symbols_sort.c -------------------------------------------------------------- */

/* Something at an offset of the text; `value` says what. */
struct symbols_key {
    uint32_t text_offset;
    uint32_t value;
};

/* Sorts by text_offset, stably; the result lies in `keys` or in `scratch`, as returned. */
struct symbols_key *symbols_sort(struct symbols_key *keys, struct symbols_key *scratch,
                                 uint64_t count);

/* -------- ELF: symbols_elf.c ---------------------------------------------------------------- */

enum symbols_layout {
    SYMBOLS_LAYOUT_FILE,  /* bytes stand where the file has them */
    SYMBOLS_LAYOUT_LOADED /* bytes stand where the loader put them */
};

/* Where the bytes of an image come from: a descriptor, or memory that does not change (tests). */
struct symbols_image {
    int fd; /* -1: `bytes` */
    const unsigned char *bytes;
    uint64_t start_offset; /* of the image in fd */
    uint64_t size_bytes;
    enum symbols_layout layout;
};

#define SYMBOLS_LOADS_MAX 16

struct symbols_segment {
    uint64_t vaddr, offset, file_bytes;
    bool is_executable;
};

struct symbols_elf {
    struct symbols_image image;
    const struct symbols_machine *machine;
    struct symbols_segment loads[SYMBOLS_LOADS_MAX];
    uint32_t load_count;
    struct symbols_segment frame_header; /* PT_GNU_EH_FRAME; file_bytes 0: none */
    struct symbols_segment dynamic;      /* PT_DYNAMIC; file_bytes 0: none */
    uint64_t sections_offset;
    uint32_t section_count, section_names_index;
    unsigned char build_id[SYMBOLS_BUILD_ID_BYTES];
    uint32_t build_id_bytes;
    uint64_t build_id_vaddr; /* where it lies in memory */
    uint64_t header_word;    /* e_shoff, as it stands at offset 40 */
};

/* A run of the image's bytes, as a section or segment header tells it. */
struct symbols_extent {
    uint64_t offset; /* in the file; with SYMBOLS_LAYOUT_LOADED the vaddr */
    uint64_t vaddr, size_bytes;
    uint32_t link; /* sh_link */
};

/* Parses headers and build-id. The image stays the caller's. */
JW_MUST_CHECK bool symbols_elf_parse(struct symbols_elf *elf, const struct symbols_image *image,
                                     struct jw_error *err);
/* Exactly `size_bytes` at `offset` of the image, or false. */
JW_MUST_CHECK bool symbols_image_read(const struct symbols_image *image, uint64_t offset,
                                      void *bytes, size_t size_bytes);
/* The build-id by its section: where segments lie, as those of debug files do. */
JW_MUST_CHECK bool symbols_elf_build_id(const struct symbols_elf *elf, unsigned char *build_id,
                                        uint32_t *build_id_bytes);
/* Where these bytes of a loaded segment stand in the image. */
JW_MUST_CHECK bool symbols_elf_at_vaddr(const struct symbols_elf *elf, uint64_t vaddr,
                                        struct symbols_extent *out);
JW_MUST_CHECK bool symbols_elf_find_section(const struct symbols_elf *elf, uint32_t type,
                                            const char *name, struct symbols_extent *out);
/* A section by its name, of any type; of a compressed one the bytes as they stand. */
struct symbols_named {
    const char *name;
    struct symbols_extent extent;
    bool is_seen;  /* there is a section of this name; of several the first */
    bool is_found; /* and its bytes are in the file */
    bool is_compressed;
};

/* Finds several in one pass; all but the names is filled. */
void symbols_elf_find_named(const struct symbols_elf *elf, struct symbols_named *wanted,
                            unsigned count);
JW_MUST_CHECK bool symbols_elf_section_at(const struct symbols_elf *elf, uint32_t index,
                                          struct symbols_extent *out);
/* -------- pieces of a section: symbols_window.c ---------------------------------------------- */

struct symbols_window {
    const struct symbols_image *image;
    struct symbols_extent extent;
    unsigned char *bytes;
    size_t capacity_bytes, filled_bytes;
    uint64_t start; /* offset in the section of the first byte */
};

/* At most `capacity_bytes` can be had at once. False: no memory. */
JW_MUST_CHECK bool symbols_window_open(struct symbols_window *window,
                                       const struct symbols_image *image,
                                       const struct symbols_extent *extent, size_t capacity_bytes);
void symbols_window_close(struct symbols_window *window);
/* As symbols_window_at, for bytes that are not in the window yet. */
const unsigned char *symbols_window_fill(struct symbols_window *window, uint64_t offset,
                                         size_t size_bytes);

/* These bytes of the section, until the next call; NULL: outside, too many, or not readable. */
static inline const unsigned char *symbols_window_at(struct symbols_window *window, uint64_t offset,
                                                     size_t size_bytes)
{
    const uint64_t inside = offset - window->start;

    if (inside <= window->filled_bytes && size_bytes <= window->filled_bytes - inside)
        return window->bytes + inside;
    return symbols_window_fill(window, offset, size_bytes);
}

/* -------- names: symbols_names.c ------------------------------------------------------------ */

/*
 * The functions of a library by address: eight bytes each. Sizes and names stay in the image, which
 * must stay open, and are read when asked for.
 */
struct symbols_names {
    struct symbols_image image;
    struct symbols_extent symbols, strings;
    uint64_t size_bytes; /* memory held */
    uint32_t function_count;
    uint32_t stub_bytes; /* not 0: stubs of so many bytes at most, which call the symbol */
    struct symbols_key functions[]; /* sorted; value: index of the symbol */
};

/* NULL and `err`; `is_refused` as well where there was no memory, counted. Free with jw_free. */
struct symbols_names *symbols_names_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                          uint64_t text_bytes, bool *is_refused,
                                          struct jw_error *err);
/*
 * The innermost function that holds this byte of the text: its name, cut where need be, and the
 * distance from its start. False: none.
 */
JW_MUST_CHECK bool symbols_names_find(const struct symbols_names *names, uint64_t text_offset,
                                      char *name, size_t name_bytes, uint64_t *offset_bytes);
/* The stubs through which a library calls others, named "malloc@plt": symbols_plt.c. NULL: none, or no memory. */
struct symbols_names *symbols_plt_build(const struct symbols_elf *elf, uint64_t text_vaddr,
                                        uint64_t text_bytes);
/* vaddr of a defined symbol; false: none of that name. */
JW_MUST_CHECK bool symbols_elf_find_symbol(const struct symbols_elf *elf, const char *symbol,
                                           uint64_t *vaddr);

/* -------- libraries: symbols_maps.c, symbols_source.c, symbols_library.c ----------------------- */

/* One executable stretch of a file in the address space. */
struct symbols_mapping {
    uintptr_t start, end;
    uint64_t offset;
    uint64_t device, inode;
    uintptr_t header_address; /* where the file's first bytes are mapped; 0: nowhere */
    char *path;               /* in the text that was parsed */
    bool is_deleted;
    bool is_vdso;
};

/*
 * Takes the executable file mappings out of the text of /proc/self/maps, which it edits. Returns
 * their number, at most `limit`; what is malformed is passed over.
 */
size_t symbols_maps_parse(char *text, struct symbols_mapping *mappings, size_t limit);

/* The whole of a file of /proc, terminated; NULL and `err`. Free with jw_free. */
char *symbols_maps_read(const char *path, struct jw_error *err);

/* An opened image of a library, parsed. */
struct symbols_source {
    struct symbols_elf elf;
    int fd;
    bool is_replaced;
    bool is_by_path; /* read from the file at its path, which is what is mapped; or the vDSO */
};

/*
 * Opens what is mapped there: its file where that is the one that was mapped, else the kernel's
 * link to it (needs privilege), else memory itself through /proc/self/mem.
 */
JW_MUST_CHECK bool symbols_source_open(struct symbols_source *source,
                                       const struct symbols_mapping *mapping, struct jw_error *err);
/* Opens the file at the path of what was mapped there once, if it is still that one: by build-id, else by inode and
 * segments. */
JW_MUST_CHECK bool symbols_source_open_past(struct symbols_source *source,
                                            const struct symbols_mapping *mapping,
                                            const struct symbols_elf *identity);
/* By build-id where both have one, else by segments. */
bool symbols_source_is_same(const struct symbols_elf *a, const struct symbols_elf *b);
void symbols_source_close(struct symbols_source *source);
/* Any ELF file. */
JW_MUST_CHECK bool symbols_source_open_file(struct symbols_source *source, const char *path);

/* symbols_debug.c: the debug file of a library that has no full symbol table itself. */
#define SYMBOLS_DEBUG_ROOT "/usr/lib/debug" /* where distributions install them */

/* The debug file that belongs to the library at this path, in `root` or beside it. */
JW_MUST_CHECK bool symbols_debug_open(struct symbols_source *source, const struct symbols_elf *elf,
                                      const char *library_path, const char *root);

/* Address in memory minus address in the file, from the segment that this mapping shows. */
JW_MUST_CHECK bool symbols_source_bias(const struct symbols_source *source,
                                       const struct symbols_mapping *mapping, uintptr_t *bias);

/*
 * symbols_mini.c: the image that a stripped library carries in .gnu_debugdata, with those of its functions that .dynsym has not. The
 * bytes of `mini`, which the caller frees with jw_free when it is done with it; NULL: none, damaged, too large, or no memory.
 */
unsigned char *symbols_mini_open(struct symbols_elf *mini, const struct symbols_elf *elf);
bool symbols_has_unpacker(void); /* one is linked in */

struct symbols_rows; /* symbols_frames_internal.h */

struct symbols_library {
    struct symbols_library_facts facts;
    struct symbols_mapping mapping; /* the first; its path is facts.path */
    struct symbols_elf identity;    /* what was read when it was first seen; its image is closed */
    uint32_t snapshot_count;        /* snapshots that hold it, and the past; under the lock */
    uintptr_t proof_address;        /* 0: none */
    uint64_t proof_word;
    bool is_weak;    /* its proof does not tell it from every other library: no build-id */
    bool is_by_path; /* the file at its path is what was mapped, or is no matter of files */
    /* Relaxed: read when the generation of whoever doubted is taken, which orders it. */
    _Atomic bool is_doubted;
    bool is_names_tried;
    bool is_names_refused; /* memlimit left no room for them */
    struct symbols_names *names, *stubs, *mini;
    unsigned char *mini_bytes;          /* the image of `mini` */
    struct symbols_source names_source; /* open while there are names */
    struct symbols_source stubs_source; /* open while there are stubs */
    /* Relaxed: a wish that comes late is raised again by the next sample. */
    _Atomic bool is_rows_wanted;
    /* Released by symbols_library_build_rows, acquired by symbols_rule_find; never replaced. */
    _Atomic(struct symbols_rows *) rows;
};

struct symbols_range {
    uintptr_t start, end;
    struct symbols_library *library;
};

struct symbols_snapshot {
    uint32_t slot_index;
    uint32_t range_count, library_count;
    struct symbols_range *ranges; /* sorted by start */
    struct symbols_library **libraries;
};

/*
 * What lay where before: symbols_past.c. Libraries that a look at the maps did not find any more, and stretches of code in
 * which something unknown may have been between two looks. Under the room's lock.
 */
/* Without room all that was seen before that look is uncertain. `library` NULL: unknown. */
void symbols_past_add(uintptr_t start_pc, uintptr_t end_pc, struct symbols_library *library,
                      uint64_t look_number);
/* Something that no look saw came and went since `old` (NULL: none): where libraries lay before that, and `old` has nobody who would
 * have noticed it, it is unknown until this look what lay. */
void symbols_past_doubt(const struct symbols_snapshot *old, uint64_t look_number);
/* Forgets what went at this look or before. */
void symbols_past_forget(uint64_t look_number);
/*
 * The one library that a pc can have been in, when `current` holds it now (NULL: none does); NULL and `is_uncertain` where there
 * may have been several.
 */
struct symbols_library *symbols_past_find(uintptr_t pc, struct symbols_library *current,
                                          bool *is_uncertain);
uint32_t symbols_past_count(void);
void symbols_past_forget_names(void);

/* symbols_loader.c: how often the dynamic loader has loaded and unloaded something. */
struct symbols_loads {
    uint64_t added, removed;
};
struct symbols_loads symbols_loads(void);

/* symbols_library.c; NULL when memory is out. A file that cannot be read is no failure. */
struct symbols_library *symbols_library_open(const struct symbols_mapping *first, uintptr_t end_pc);
/* A holder less: the last one closes it. */
void symbols_library_release(struct symbols_library *library);
/* True when both are the same file at the same place, so that names of one are those of the other. */
bool symbols_library_is_twin(const struct symbols_library *a, const struct symbols_library *b);
void symbols_library_close(struct symbols_library *library);
/* Until they are asked for again, when they are built again. */
void symbols_library_forget_names(struct symbols_library *library);
/* What a failure leaves behind is a library whose code has no rows, or no names. */
void symbols_library_build_rows(struct symbols_library *library);
void symbols_library_build_names(struct symbols_library *library);
/* The function at `pc` by what was built; false: none. */
JW_MUST_CHECK bool symbols_library_name(const struct symbols_library *library, uintptr_t pc,
                                        struct symbols_name *out);
bool symbols_library_find_offset(const struct symbols_library *library, const char *symbol,
                                 uint64_t *offset); /* in its file */
bool symbols_library_find_symbol(const struct symbols_library *library, const char *symbol,
                                 uintptr_t *address);
/* Rows; NULL: not built yet. */
JW_SIGNAL_SAFE const struct symbols_rows *symbols_library_rows(struct symbols_library *library);

/* symbols_snapshot.c: whom handlers see. Under the room's lock. */
struct symbols_snapshot *symbols_snapshot_current(void);
/*
 * Shows it to handlers in place of the current one. False: as many as there is room for wait until
 * handlers left them; the snapshot stays the caller's.
 */
JW_MUST_CHECK bool symbols_snapshot_publish(struct symbols_snapshot *snapshot);
/* Frees replaced snapshots that nobody can be in; returns how many still wait. */
uint32_t symbols_snapshot_reclaim(void);
void symbols_snapshot_free(struct symbols_snapshot *snapshot);
/* Withdraws the current one and frees all; nobody may be in a bracket. */
void symbols_snapshot_close(void);
/* The range that holds `pc`; NULL: none. */
JW_SIGNAL_SAFE const struct symbols_range *
symbols_snapshot_range(const struct symbols_snapshot *snapshot, uintptr_t pc);
/* A library holds all of this code, and handlers would have seen that another one lies there. */
bool symbols_snapshot_watches(const struct symbols_snapshot *snapshot, uintptr_t start_pc,
                              uintptr_t end_pc);
/* Reads and clears what symbols_want asked for. */
unsigned symbols_snapshot_take_wanted(void);

#endif
