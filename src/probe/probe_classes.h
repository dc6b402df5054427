/*
 * probe_classes - class files made for probes: what stands between a place in a method and the handler that it calls.
 *
 * For      calls without a method handle: they work in any class of any version, also in those that method handles stand on.
 * Callers  instrument.
 * Context  all functions: control, tool. Nothing is allocated.
 * Memory   the caller's bytes.
 *
 *     application, class files from 51 on          others, and classes of the JDK
 *       invokedynamic JaywalkDispatcher.link          invokestatic JaywalkPlace<m>.enter(captures, attach)
 *                       \                              /
 *                        JaywalkGate<n>.enter(gate, captures, attach)   if it is of that attach: notes that the thread is inside,
 *                          gate.call(captures)                          while the attach is alive; catches what comes out.
 *                                                                       Where there is more to do, slowly(gate, captures) does it all
 *                            Bridge: Handler.method(captures)      in the loader of the probe
 *
 * There is a class of gates for each type of handlers, and one of places for each handler that has one of the same type beside it;
 * both are in the boot loader, for good, and used again. A bridge goes with its probe. Sources of what they extend and call: java/java/lang.
 */
#ifndef JW_PROBE_PROBE_CLASSES_H
#define JW_PROBE_PROBE_CLASSES_H

#include "probe/probe_handler.h"

#define PROBE_CLASS_BYTES      16384u /* of gates and places */
#define PROBE_CLASS_NAME_BYTES 64u

/* Of the boot loader: what a bridge asks for the caller and for what the thread works for. */
#define PROBE_CONTEXT_CLASS "io/jaywalk/ProbeContext"

void probe_gate_name(unsigned gate, char name[PROBE_CLASS_NAME_BYTES]);
void probe_place_name(unsigned place, char name[PROBE_CLASS_NAME_BYTES]);

/* "(Ljava/lang/Object;J)V", as probe_call_type has it, becomes that of a place: "(Ljava/lang/Object;JI)V". */
#define PROBE_PLACE_TYPE_BYTES (PROBE_CALL_TYPE_BYTES + 1)
void probe_place_type(const char *type, char text[PROBE_PLACE_TYPE_BYTES]);

/* Their length; 0: there is not room enough. */
size_t probe_gate_class(unsigned gate, const char *type, uint8_t *bytes, size_t room_bytes);
size_t probe_place_class(unsigned place, unsigned gate, const char *type, uint8_t *bytes,
                         size_t room_bytes);
/* Room for a bridge of this handler, and the bridge; its name is beside that of the handler's class. */
size_t probe_bridge_room_bytes(const struct probe_handler *handler);
size_t probe_bridge_class(const struct probe_handler *handler, unsigned number, unsigned gate,
                          uint8_t *bytes, size_t room_bytes);

#endif
