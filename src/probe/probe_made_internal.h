/* Class files put together byte by byte. Context: control, tool. Source: The Java Virtual Machine Specification, chapters 4 and 6. */
#ifndef JW_PROBE_PROBE_MADE_INTERNAL_H
#define JW_PROBE_PROBE_MADE_INTERNAL_H

#include "probe/probe_internal.h"

/*
 * Below 50 there is no StackMapTable: gates have branches, and are classes of the boot loader, of which verification, where it is asked
 * for at all, finds the types by itself. Bridges are verified, and have no branch.
 */
#define GATE_VERSION   49
#define BRIDGE_VERSION 52

#define GATE     "java/lang/JaywalkGate"
#define HANDLER  "java/lang/JaywalkHandler"
#define SLOT     "java/lang/JaywalkSlot"
#define HANDLERS "L" HANDLER ";"
#define SLOTS    "L" SLOT ";"

#define PROBE_OWNED_SLOTS 512u /* JaywalkSlot.OWNED */

enum probe_op {
    OP_ICONST_0 = 3,
    OP_ICONST_1 = 4,
    OP_LCONST_0 = 9,
    OP_LCONST_1 = 10,
    OP_SIPUSH = 17,
    OP_ILOAD = 21,
    OP_LLOAD = 22,
    OP_FLOAD = 23,
    OP_DLOAD = 24,
    OP_ALOAD = 25,
    OP_LALOAD = 47,
    OP_ISTORE = 54,
    OP_LSTORE = 55,
    OP_ASTORE = 58,
    OP_LASTORE = 80,
    OP_POP = 87,
    OP_DUP = 89,
    OP_IADD = 96,
    OP_LADD = 97,
    OP_LSUB = 101,
    OP_IMUL = 104,
    OP_IAND = 126,
    OP_L2I = 136,
    OP_LCMP = 148,
    OP_IFEQ = 153,
    OP_IFNE = 154,
    OP_IFGE = 156,
    OP_IF_ICMPNE = 160,
    OP_GOTO = 167,
    OP_RETURN = 177,
    OP_GETSTATIC = 178,
    OP_GETFIELD = 180,
    OP_PUTFIELD = 181,
    OP_INVOKEVIRTUAL = 182,
    OP_INVOKESPECIAL = 183,
    OP_INVOKESTATIC = 184,
    OP_CHECKCAST = 192,
    OP_IFNULL = 198,
};

struct probe_out {
    uint8_t *bytes;
    size_t used_bytes;
    size_t room_bytes;
    bool is_failed;
};

#define PROBE_MADE_CODE_BYTES     2048
#define PROBE_MADE_LABELS         20
#define PROBE_MADE_HANDLERS_LIMIT 8

/* The code of one method. */
struct probe_code {
    uint8_t bytes[PROBE_MADE_CODE_BYTES];
    size_t used_bytes;
    uint16_t labels[PROBE_MADE_LABELS]; /* where they stand */
    uint16_t jumps[PROBE_MADE_LABELS];  /* where the offsets to them stand ... */
    uint8_t jump_to[PROBE_MADE_LABELS]; /* ... and which */
    uint32_t jump_count;
    uint8_t protects[PROBE_MADE_HANDLERS_LIMIT][3]; /* labels: from, to, handler */
    uint32_t protect_count;
    uint16_t stack, locals;
    bool is_apart; /* compiled into none of its callers */
};

struct probe_making {
    struct probe_out out; /* the constants, until the class is put together */
    uint16_t constants;
    struct probe_out methods;
    uint16_t method_count;
    uint8_t method_bytes[6144];
};

/* ---- constants: each use makes its own, as there are few ---- */

uint16_t probe_made_text(struct probe_making *making, const char *bytes, size_t length_bytes);
uint16_t probe_made_class_text(struct probe_making *making, const char *name, size_t length_bytes);

/* ---- code ---- */

void probe_made_op(struct probe_code *code, enum probe_op opcode);
void probe_made_op2(struct probe_code *code, enum probe_op opcode, uint32_t operand);
void probe_made_local(struct probe_code *code, enum probe_op opcode, uint16_t number);
void probe_made_here(struct probe_code *code, uint8_t label);
void probe_made_jump(struct probe_code *code, enum probe_op opcode, uint8_t label);
void probe_made_protect(struct probe_code *code, uint8_t from, uint8_t to, uint8_t handler);
void probe_made_field(struct probe_making *making, struct probe_code *code, enum probe_op opcode,
                      const char *owner, const char *name, const char *descriptor);
void probe_made_call(struct probe_making *making, struct probe_code *code, enum probe_op opcode,
                     const char *owner, const char *name, const char *descriptor);
/* Loads the parameters of a type, which lie from local `at` on; the local behind them. */
uint16_t probe_made_load_parameters(struct probe_code *code, const char *type, uint16_t at);
uint16_t probe_made_parameter_words(const char *type);

/* ---- methods and the class ---- */

/* `code` NULL: it is abstract. */
void probe_made_method(struct probe_making *making, uint16_t access, const char *name,
                       const char *descriptor, struct probe_code *code);
void probe_made_begin(struct probe_making *making, uint8_t *bytes, size_t room_bytes,
                      uint16_t version);
/* Its length; 0: there is not room enough. `field_name` NULL: none. */
size_t probe_made_finish(struct probe_making *making, uint16_t access, const char *name,
                         const char *super, const char *field_name, const char *field_type);
/* "(Lclass;..." of a static method that is given an object of the class before what `type` has. */
void probe_made_with_object(const char *name, const char *type, char *text_out, size_t room_bytes);
/* Constructor of a class that extends `super`, which takes a handler. */
void probe_made_constructor(struct probe_making *making, uint16_t access, const char *super);

#endif
