/* Gates: what stands between a place and the bridge to a handler. Context: control, tool. */
#include "probe/probe_classes.h"

#include <stdio.h>
#include <string.h>

#include "probe/probe_made_internal.h"

enum label {
    TRY_ENTER,
    NOTED,
    TRY_CALL,
    CALLED,
    LEAVE,
    TRY_LEAVE,
    LEFT,
    DONE,
    THROWN,
    TRY_TELL,
    TELL,
    TOLD,
    UNTOLD,
    UNENTERED,
    LOST,
    SLOW,
    SLOWED,
};

static void put_handler(struct probe_making *making, struct probe_code *code)
{
    probe_made_local(code, OP_ALOAD, 0);
    probe_made_field(making, code, OP_GETFIELD, GATE, "handler", HANDLERS);
}

/* What was thrown is on the stack, and goes. */
static void count_one(struct probe_making *making, struct probe_code *code, const char *counter)
{
    probe_made_op(code, OP_POP);
    put_handler(making, code);
    probe_made_op(code, OP_DUP);
    probe_made_field(making, code, OP_GETFIELD, HANDLER, counter, "I");
    probe_made_op(code, OP_ICONST_1);
    probe_made_op(code, OP_IADD);
    probe_made_field(making, code, OP_PUTFIELD, HANDLER, counter, "I");
}

/* What leaves no stack to be called any more, or to be told of. */
static void put_failures(struct probe_making *making, struct probe_code *code, uint16_t thrown)
{
    probe_made_here(code, THROWN);
    probe_made_local(code, OP_ASTORE, thrown);
    probe_made_here(code, TELL);
    put_handler(making, code);
    probe_made_local(code, OP_ALOAD, thrown);
    probe_made_call(making, code, OP_INVOKESTATIC, HANDLER, "threw",
                    "(" HANDLERS "Ljava/lang/Throwable;)V");
    probe_made_here(code, TOLD);
    probe_made_jump(code, OP_GOTO, LEAVE);
    probe_made_here(code, UNTOLD);
    count_one(making, code, "dropped");
    probe_made_jump(code, OP_GOTO, LEAVE);
    probe_made_here(code, UNENTERED);
    count_one(making, code, "dropped");
    probe_made_op(code, OP_RETURN);
    probe_made_protect(code, TELL, TOLD, UNTOLD);
}

static void put_call(struct probe_making *making, struct probe_code *code, const char *name,
                     const char *type)
{
    probe_made_here(code, TRY_CALL);
    probe_made_local(code, OP_ALOAD, 0);
    (void)probe_made_load_parameters(code, type, 1);
    probe_made_call(making, code, OP_INVOKEVIRTUAL, name, "call", type);
}

/* ---- most calls: a thread in the first slot that it looks at, whose call is not measured ---- */

/* Words of all slots, and where those of this one begin; of a handler: what it counts there. */
static void put_word(struct probe_making *making, struct probe_code *code, uint16_t at,
                     const char *of_handler)
{
    put_handler(making, code);
    probe_made_field(making, code, OP_GETFIELD, HANDLER, "words", "[J");
    probe_made_local(code, OP_ILOAD, at);
    if (of_handler == NULL)
        return;
    put_handler(making, code);
    probe_made_field(making, code, OP_GETFIELD, HANDLER, of_handler, "I");
    probe_made_op(code, OP_IADD);
}

/* The first word of a slot is its owner's number, unless that one is in a handler. */
static void put_look(struct probe_making *making, struct probe_code *code, uint16_t number,
                     uint16_t at)
{
    probe_made_call(making, code, OP_INVOKESTATIC, "java/lang/Thread", "currentThread",
                    "()Ljava/lang/Thread;");
    probe_made_call(making, code, OP_INVOKESTATIC, "java/lang/JaywalkNumber", "of",
                    "(Ljava/lang/Thread;)J");
    probe_made_local(code, OP_LSTORE, number);
    probe_made_local(code, OP_LLOAD, number);
    probe_made_op(code, OP_L2I);
    probe_made_op2(code, OP_SIPUSH, PROBE_OWNED_SLOTS - 1);
    probe_made_op(code, OP_IAND);
    put_handler(making, code);
    probe_made_field(making, code, OP_GETFIELD, HANDLER, "stride", "I");
    probe_made_op(code, OP_IMUL);
    probe_made_local(code, OP_ISTORE, at);
    put_word(making, code, at, NULL);
    probe_made_op(code, OP_LALOAD);
    probe_made_local(code, OP_LLOAD, number);
    probe_made_op(code, OP_LCMP);
    probe_made_jump(code, OP_IFNE, SLOW);
}

/* Between the note and the look at `isAlive` there is no call and no loop, and so no safepoint in compiled code; nor anything that could fail. */
static void put_note(struct probe_making *making, struct probe_code *code, uint16_t at,
                     uint16_t calls)
{
    put_word(making, code, at, "callsAt");
    probe_made_op(code, OP_LALOAD);
    probe_made_local(code, OP_LSTORE, calls);
    probe_made_local(code, OP_LLOAD, calls);
    put_word(making, code, at, "callsAt");
    probe_made_op(code, OP_ICONST_1); /* NEXT is behind CALLS */
    probe_made_op(code, OP_IADD);
    probe_made_op(code, OP_LALOAD);
    probe_made_op(code, OP_LCMP);
    probe_made_jump(code, OP_IFGE, SLOW);
    probe_made_here(code, NOTED);
    put_word(making, code, at, NULL);
    probe_made_op(code, OP_LCONST_0); /* JaywalkNumber.NONE is -1 */
    probe_made_op(code, OP_LCONST_1);
    probe_made_op(code, OP_LSUB);
    probe_made_op(code, OP_LASTORE);
    put_handler(making, code);
    probe_made_field(making, code, OP_GETFIELD, HANDLER, "isAlive", "Z");
    probe_made_jump(code, OP_IFEQ, LEAVE);
    put_word(making, code, at, "callsAt");
    probe_made_local(code, OP_LLOAD, calls);
    probe_made_op(code, OP_LCONST_1);
    probe_made_op(code, OP_LADD);
    probe_made_op(code, OP_LASTORE);
}

static void put_enter(struct probe_making *making, struct probe_code *code, const char *name,
                      const char *type, const char *slowly_type)
{
    const uint16_t attach = (uint16_t)(probe_made_parameter_words(type) + 1);
    const uint16_t number = (uint16_t)(attach + 1), at = (uint16_t)(number + 2);
    const uint16_t calls = (uint16_t)(at + 1), thrown = (uint16_t)(calls + 2);

    code->stack = (uint16_t)(attach + 8);
    code->locals = (uint16_t)(thrown + 1);
    /* Code that was made for an earlier attach may still run, and be linked now. */
    put_handler(making, code);
    probe_made_field(making, code, OP_GETFIELD, HANDLER, "attach", "I");
    probe_made_local(code, OP_ILOAD, attach);
    probe_made_jump(code, OP_IF_ICMPNE, DONE);
    probe_made_here(code, TRY_ENTER);
    put_look(making, code, number, at);
    put_note(making, code, at, calls);
    put_call(making, code, name, type);
    probe_made_here(code, LEAVE); /* by a store, which cannot fail */
    put_word(making, code, at, NULL);
    probe_made_local(code, OP_LLOAD, number);
    probe_made_op(code, OP_LASTORE);
    probe_made_here(code, DONE);
    probe_made_op(code, OP_RETURN);
    probe_made_here(code, SLOW);
    probe_made_local(code, OP_ALOAD, 0);
    (void)probe_made_load_parameters(code, type, 1);
    probe_made_call(making, code, OP_INVOKESTATIC, name, "slowly", slowly_type);
    probe_made_here(code, SLOWED);
    probe_made_op(code, OP_RETURN);
    put_failures(making, code, thrown);
    probe_made_protect(code, TRY_ENTER, NOTED, UNENTERED);
    probe_made_protect(code, TRY_CALL, LEAVE, THROWN);
    probe_made_protect(code, SLOW, SLOWED, UNENTERED);
}

/* ---- all others ---- */

/* The slot gets to know that the thread is out: where the thread owns it by stores alone, which cannot fail. */
static void put_leaving(struct probe_making *making, struct probe_code *code, uint16_t slot)
{
    probe_made_here(code, LEAVE);
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_field(making, code, OP_GETFIELD, SLOT, "isShared", "Z");
    probe_made_jump(code, OP_IFNE, TRY_LEAVE);
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_op(code, OP_LCONST_0);
    probe_made_field(making, code, OP_PUTFIELD, SLOT, "begunNs", "J");
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_field(making, code, OP_GETFIELD, SLOT, "words", "[J");
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_field(making, code, OP_GETFIELD, SLOT, "at", "I");
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_field(making, code, OP_GETFIELD, SLOT, "number", "J");
    probe_made_op(code, OP_LASTORE);
    probe_made_here(code, DONE);
    probe_made_op(code, OP_RETURN);
    probe_made_here(code, TRY_LEAVE);
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_call(making, code, OP_INVOKESTATIC, SLOT, "leaveShared", "(" SLOTS ")V");
    probe_made_here(code, LEFT);
    probe_made_op(code, OP_RETURN);
    probe_made_here(code, LOST);
    count_one(making, code, "lost");
    probe_made_op(code, OP_RETURN);
    probe_made_protect(code, TRY_LEAVE, LEFT, LOST);
}

static void put_slowly(struct probe_making *making, struct probe_code *code, const char *name,
                       const char *type)
{
    const uint16_t slot = (uint16_t)(probe_made_parameter_words(type) + 1);
    const uint16_t thrown = (uint16_t)(slot + 1);

    code->is_apart = true;
    code->stack = (uint16_t)(slot + 4);
    code->locals = (uint16_t)(slot + 2);
    probe_made_here(code, TRY_ENTER);
    put_handler(making, code);
    probe_made_call(making, code, OP_INVOKESTATIC, SLOT, "enter", "(" HANDLERS ")" SLOTS);
    probe_made_here(code, NOTED);
    probe_made_local(code, OP_ASTORE, slot);
    probe_made_local(code, OP_ALOAD, slot);
    probe_made_jump(code, OP_IFNULL, DONE);
    put_call(making, code, name, type);
    probe_made_here(code, TRY_TELL);
    probe_made_local(code, OP_ALOAD, slot);
    put_handler(making, code);
    probe_made_call(making, code, OP_INVOKESTATIC, SLOT, "measured", "(" SLOTS HANDLERS ")V");
    probe_made_here(code, CALLED);
    put_leaving(making, code, slot);
    put_failures(making, code, thrown);
    probe_made_protect(code, TRY_ENTER, NOTED, UNENTERED);
    probe_made_protect(code, TRY_CALL, TRY_TELL, THROWN);
    probe_made_protect(code, TRY_TELL, CALLED, UNTOLD);
}

size_t probe_gate_class(unsigned gate, const char *type, uint8_t *bytes, size_t room_bytes)
{
    char name[PROBE_CLASS_NAME_BYTES], place_type[PROBE_PLACE_TYPE_BYTES];
    char entry[PROBE_PLACE_TYPE_BYTES + PROBE_CLASS_NAME_BYTES + 4], slowly[sizeof entry];
    struct probe_making making;
    struct probe_code code = {.used_bytes = 0}, apart = {.used_bytes = 0};

    probe_gate_name(gate, name);
    probe_place_type(type, place_type);
    probe_made_with_object(name, place_type, entry, sizeof entry);
    probe_made_with_object(name, type, slowly, sizeof slowly);
    probe_made_begin(&making, bytes, room_bytes, GATE_VERSION);
    probe_made_constructor(&making, CLASSFILE_PROTECTED, GATE);
    probe_made_method(&making, CLASSFILE_PUBLIC | CLASSFILE_ABSTRACT, "call", type, NULL);
    put_enter(&making, &code, name, type, slowly);
    probe_made_method(&making, CLASSFILE_PUBLIC | CLASSFILE_STATIC, "enter", entry, &code);
    put_slowly(&making, &apart, name, type);
    probe_made_method(&making, CLASSFILE_STATIC, "slowly", slowly, &apart);
    return probe_made_finish(&making,
                             CLASSFILE_PUBLIC | CLASSFILE_ABSTRACT | CLASSFILE_SYNCHRONIZED, name,
                             GATE, NULL, NULL);
}
