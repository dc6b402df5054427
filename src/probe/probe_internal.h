/* What the files of this room share: what is known of captures. */
#ifndef JW_PROBE_PROBE_INTERNAL_H
#define JW_PROBE_PROBE_INTERNAL_H

#include "classfile/classfile_rewrite.h"
#include "probe/probe_handler.h"

/* Whether a parameter of that type ("I", "[Ljava/lang/Object;") can be given it. */
bool probe_kind_takes(enum probe_kind kind, struct classfile_text type);

/* Whether it is known at a place; and where it is, in words. */
bool probe_kind_is_at(enum probe_kind kind, enum probe_place place);
const char *probe_kind_where(enum probe_kind kind);

/* Whether an object takes all, as 'L', or a primitive type itself alone. */
bool probe_takes(char wanted, struct classfile_text type);

/* Of room classfile: at which of its places, and on which side. */
uint32_t probe_place_at(enum probe_place place); /* CLASSFILE_AT(...) */
bool probe_place_is_after(enum probe_place place, uint8_t opcode);

#define PROBE_TARGET_BYTES                                                                         \
    1024u /* of the name of what an instruction has to do with; the rest is cut */
#define PROBE_OPERANDS_LIMIT 64u /* that are moved aside for handlers */

/* What an instruction takes from the stack, and leaves there. */
struct probe_operands {
    bool has_receiver; /* it is the first operand */
    bool is_unborn;    /* an object whose constructor has not run is the first, or the result */
    uint32_t count;
    char types
        [PROBE_OPERANDS_LIMIT]; /* letters, L for each reference; of more than these none is told */
    struct classfile_text result; /* its type; "V": none */
    struct classfile_text field;  /* the type of a field that is read or written; "": none is */
};

/* Which of them a capture is; -1: none, as the receiver of a static method. */
int32_t probe_operand_of(const struct probe_capture *capture, enum probe_place place,
                         const struct probe_operands *operands);

/* Whether an instruction is a place that the handler is for, but for the line. `constant` is what it names in the pool. */
bool probe_is_place(const struct probe_handler *handler, const struct classfile *file,
                    uint8_t opcode, uint16_t constant);
/* "com.acme.Cart.fill": what it has to do with; 0: nothing that has a name. */
size_t probe_target_name(const struct classfile *file, uint8_t opcode, uint16_t constant,
                         char text[PROBE_TARGET_BYTES]);
/* The JVM's own name of what an instruction makes, "com/acme/Cart", "[I", "[Lcom/acme/Item;"; 0: it makes nothing, or the name is too long. */
size_t probe_made_name(const struct classfile *file, uint8_t opcode, uint16_t constant,
                       char text[PROBE_TARGET_BYTES]);
void probe_operands_of(const struct classfile *file, uint8_t opcode, uint16_t constant,
                       struct probe_operands *out);
enum probe_fit probe_fit_place(const struct probe_handler *handler, const struct classfile *file,
                               uint8_t opcode, uint16_t constant);

/* The method of PROBE_CONTEXT_CLASS that answers it, without arguments; NULL: places give it. */
const char *probe_kind_fetched(enum probe_kind kind);

#endif
