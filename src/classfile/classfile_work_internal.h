/*
 * A method that is being rewritten: its instructions, what is put between them, where both come to lie.
 * Context: hook, tool.
 *
 *   entry | before 0, instruction 0, after 0 | before 1, instruction 1, after 1 | ... | handler | far branches
 *   0     place_pc   new_pc          end_pc    place_pc                           body_end_pc
 */
#ifndef JW_CLASSFILE_CLASSFILE_WORK_INTERNAL_H
#define JW_CLASSFILE_CLASSFILE_WORK_INTERNAL_H

#include "classfile/classfile_internal.h"
#include "classfile/classfile_rewrite.h"

/* Opcodes that are told apart. Source: chapter 6.5. */
enum classfile_opcode {
    CLASSFILE_OP_ICONST_0 = 3,
    CLASSFILE_OP_BIPUSH = 16,
    CLASSFILE_OP_SIPUSH = 17,
    CLASSFILE_OP_LDC_W = 19,
    CLASSFILE_OP_ISTORE = 54,
    CLASSFILE_OP_ASTORE = 58,
    CLASSFILE_OP_ISTORE_0 = 59,
    CLASSFILE_OP_ASTORE_3 = 78,
    CLASSFILE_OP_IFEQ = 153,
    CLASSFILE_OP_IF_ACMPNE = 166,
    CLASSFILE_OP_GOTO = 167,
    CLASSFILE_OP_JSR = 168,
    CLASSFILE_OP_RET = 169,
    CLASSFILE_OP_TABLESWITCH = 170,
    CLASSFILE_OP_LOOKUPSWITCH = 171,
    CLASSFILE_OP_IRETURN = 172,
    CLASSFILE_OP_RETURN = 177,
    CLASSFILE_OP_GETSTATIC = 178,
    CLASSFILE_OP_PUTFIELD = 181,
    CLASSFILE_OP_INVOKEVIRTUAL = 182,
    CLASSFILE_OP_INVOKESPECIAL = 183,
    CLASSFILE_OP_INVOKESTATIC = 184,
    CLASSFILE_OP_INVOKEDYNAMIC = 186,
    CLASSFILE_OP_NEW = 187,
    CLASSFILE_OP_NEWARRAY = 188,
    CLASSFILE_OP_ANEWARRAY = 189,
    CLASSFILE_OP_ATHROW = 191,
    CLASSFILE_OP_MONITORENTER = 194,
    CLASSFILE_OP_MONITOREXIT = 195,
    CLASSFILE_OP_WIDE = 196,
    CLASSFILE_OP_MULTIANEWARRAY = 197,
    CLASSFILE_OP_IFNULL = 198,
    CLASSFILE_OP_IFNONNULL = 199,
    CLASSFILE_OP_GOTO_W = 200,
    CLASSFILE_OP_JSR_W = 201,
    CLASSFILE_OP_LIMIT = 202,
};

enum {
    CLASSFILE_CODE_LIMIT_BYTES = 65535,
    CLASSFILE_COMPILED_LIMIT_BYTES =
        8000, /* Source: HotSpot, HugeMethodLimit in globals.hpp, 8 to 28 */
    CLASSFILE_SNIPPET_LIMIT_BYTES = 1024,
};

enum classfile_mark {
    CLASSFILE_MARK_SELF_PROTECTED =
        1, /* in a range that protects its own handler, at or behind that */
    CLASSFILE_MARK_INITIALISED = 2, /* of a constructor: behind super() */
    CLASSFILE_MARK_LINE = 4,
    CLASSFILE_MARK_RANGE_BEGINS = 8,
    CLASSFILE_MARK_RANGE_ENDS = 16, /* with the instruction before */
    CLASSFILE_MARK_IN_RANGE = 32,
    CLASSFILE_MARK_WIDE = 64, /* goto and jsr: in its long form */
};

struct classfile_instruction {
    uint32_t pc;
    uint32_t before_offset_bytes; /* of the inserted code */
    uint32_t after_offset_bytes;
    uint16_t before_bytes;
    uint16_t after_bytes;
    uint32_t place_pc; /* new: where the code before it begins */
    uint32_t new_pc;
    uint32_t end_pc;     /* behind it, before the code after it */
    uint32_t target;     /* of a branch: number of the instruction */
    uint16_t far_branch; /* its number, 0: none */
    uint16_t line;       /* where CLASSFILE_MARK_LINE says so */
    uint8_t opcode;
    uint8_t marks; /* enum classfile_mark */
};

/* A frame of the StackMapTable. */
struct classfile_frame {
    uint32_t at;           /* number of its instruction */
    uint32_t offset_bytes; /* of what follows its form and offset */
    uint32_t length_bytes;
    uint8_t form;
};

struct classfile_far {
    uint32_t target; /* number of the instruction */
    uint32_t pc;
};

struct classfile_out {
    uint8_t *bytes;
    uint32_t used_bytes;
    uint32_t capacity_bytes;
    bool is_failed;
};

struct classfile_work {
    const struct classfile *file;
    const struct classfile_member *method;
    const struct classfile_plan *plan;
    struct classfile_additions *additions;
    struct classfile_memory *memory;
    struct classfile_outcome *outcome;
    uint16_t number; /* of the method */
    uint32_t places;

    struct classfile_code code;
    struct classfile_instruction *instructions;
    uint32_t count;
    uint32_t *
        number_at; /* by pc: 1 + number of the instruction that begins there; of the length: 1 + count */
    bool has_subroutines;
    bool stores_first; /* to local 0 */
    bool is_constructor;
    bool keeps_this; /* no frame and no store says otherwise of local 0 */

    uint32_t exceptions_offset_bytes; /* of the count */
    uint16_t exception_count;
    struct classfile_attributes attributes; /* of the code */

    bool has_frames; /* a StackMapTable that counts */
    uint32_t frames_offset_bytes;
    struct classfile_frame *frames;
    uint32_t frame_count;

    struct classfile_out inserted;
    uint32_t entry_offset_bytes;
    uint32_t entry_bytes;
    uint32_t handler_offset_bytes;
    uint32_t handler_bytes; /* without its athrow; 0: there is none */
    bool handler_has_this;
    uint32_t protected_from;    /* number of the instruction */
    uint16_t throwable;         /* its Class constant */
    uint32_t extra_stack_words; /* above what lay there */
    uint32_t entry_stack_words;
    uint32_t handler_stack_words;
    uint32_t local_words; /* above the method's own, and those that are kept */
    uint32_t kept_count;  /* locals that last, behind the method's own */
    uint32_t kept_words;
    uint16_t kept_class; /* what their references are in frames */
    char kept[CLASSFILE_KEPT_LIMIT];
    enum classfile_verdict snippet_verdict;

    uint32_t body_end_pc;
    uint32_t new_bytes;
    struct classfile_far *fars;
    uint32_t far_count;
};

/* ---- classfile_out.c: what is written ---- */

void classfile_out_bytes(struct classfile_out *out, const void *bytes, size_t length_bytes);
void classfile_out_u1(struct classfile_out *out, uint32_t value);
void classfile_out_u2(struct classfile_out *out, uint32_t value);
void classfile_out_u4(struct classfile_out *out, uint32_t value);

/* ---- classfile_additions.c ---- */

struct classfile_additions *classfile_additions_open(const struct classfile *file,
                                                     struct classfile_memory *memory);
struct classfile_additions_mark {
    uint32_t used_bytes;
    uint32_t bootstrap_bytes;
    uint16_t count;
    uint16_t bootstraps;
};
/* Back to how it was, when a method is refused after all. */
struct classfile_additions_mark classfile_additions_marked(const struct classfile_additions *of);
void classfile_additions_undo(struct classfile_additions *of, struct classfile_additions_mark mark);
enum classfile_verdict classfile_additions_verdict(const struct classfile_additions *of);
/* Number of constants with them; their bytes. */
uint16_t classfile_additions_count(const struct classfile_additions *of);
void classfile_additions_put(const struct classfile_additions *of, struct classfile_out *out);
/* The attributes of the class, with the BootstrapMethods that came to them. */
void classfile_additions_put_attributes(const struct classfile_additions *of,
                                        struct classfile_out *out);

uint16_t classfile_add_class_text(struct classfile_additions *of, struct classfile_text name);

/* ---- classfile_opcodes.c ---- */

/* Length of the instruction at `pc`; 0: there is none. */
uint32_t classfile_instruction_bytes(const uint8_t *code, uint32_t length_bytes, uint32_t pc);
/* Whether it may be part of what is inserted. */
bool classfile_is_straight(const uint8_t *code, size_t length_bytes);
static inline bool classfile_is_branch(uint8_t opcode)
{
    return (opcode >= CLASSFILE_OP_IFEQ && opcode <= CLASSFILE_OP_JSR) ||
           (opcode >= CLASSFILE_OP_IFNULL && opcode <= CLASSFILE_OP_JSR_W);
}
JW_MUST_CHECK enum classfile_verdict classfile_decode(struct classfile_work *work);

/* ---- classfile_frames.c ---- */

JW_MUST_CHECK enum classfile_verdict classfile_frames_read(struct classfile_work *work);
/* Marks what of a constructor lies behind super(), and says whether local 0 is always what it was. */
void classfile_frames_mark(struct classfile_work *work);
/* A far branch has a frame like its target. */
void classfile_frames_put(struct classfile_work *work, struct classfile_out *out);
bool classfile_frames_has(const struct classfile_work *work, uint32_t at);

/* ---- classfile_sites.c ---- */

JW_MUST_CHECK enum classfile_verdict classfile_sites_fill(struct classfile_work *work);

/* ---- classfile_layout.c ---- */

JW_MUST_CHECK enum classfile_verdict classfile_layout(struct classfile_work *work);
void classfile_layout_put(struct classfile_work *work, struct classfile_out *out);

/* ---- classfile_tables.c ---- */

/* Finds exception table and attributes, and marks instructions by them. */
JW_MUST_CHECK enum classfile_verdict classfile_tables_read(struct classfile_work *work);
void classfile_tables_put(struct classfile_work *work, struct classfile_out *out);

#endif
