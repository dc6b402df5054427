/* Resolves what a walk needs of this JVM's layout; control. */
#include "arch/arch.h"
#include "vm/vm_stack.h"
#include "vm/vm_stack_internal.h"

struct vm_stack_layout vm_stack_layout;

static void resolve_threads(struct vm_stack_layout *out)
{
    const uintptr_t call_stub_return =
        vm_structs_static("StubRoutines", "_call_stub_return_address");

    out->anchor_sp = vm_structs_field("JavaFrameAnchor", "_last_Java_sp");
    out->anchor_pc = vm_structs_field("JavaFrameAnchor", "_last_Java_pc");
    out->anchor_fp = vm_structs_field("JavaFrameAnchor", "_last_Java_fp");
    out->anchor_sp.width = out->anchor_pc.width = out->anchor_fp.width = sizeof(uintptr_t);
    out->stack_base = vm_structs_field("JavaThread", "_stack_base");
    out->stack_size = vm_structs_field("JavaThread", "_stack_size");
    out->stack_base.width = out->stack_size.width = sizeof(uintptr_t);
    out->thread_state = vm_structs_field("JavaThread", "_thread_state");
    out->thread_state.width = 4;
    out->fault_pc = vm_structs_field("JavaThread", "_saved_exception_pc");
    out->fault_pc.width = sizeof(uintptr_t);
    out->state_in_java = (uint64_t)vm_structs_constant("_thread_in_Java", 0);
    out->wrapper_anchor = vm_structs_field("JavaCallWrapper", "_anchor");
    out->entry_wrapper_bytes =
        (intptr_t)vm_structs_constant("frame::entry_frame_call_wrapper_offset",
                                      arch_facts.entry_wrapper_slot) *
        (intptr_t)sizeof(uintptr_t);
    out->upcall_frame_data = vm_structs_field("UpcallStub", "_frame_data_offset");
    out->upcall_frame_data.width = 4;
    out->upcall_anchor = vm_structs_field("UpcallStub::FrameData", "jfa");
    if (call_stub_return != 0)
        (void)safe_load_word(call_stub_return, &out->entry_return_pc);
}

/* A field that is a number in some JDKs and has a class of its own in others. */
static struct vm_field number(const char *type, const char *field, uint8_t width)
{
    struct vm_field found = vm_structs_field(type, field);

    if (vm_has(found) && found.width == 0)
        found.width = width;
    return found;
}

static struct vm_field of_nmethod(const char *field, uint8_t width)
{
    const struct vm_field own = number("nmethod", field, width);

    return vm_has(own) ? own : number("CompiledMethod", field, width);
}

static void resolve_nmethods(struct vm_stack_layout *out)
{
    out->nmethod_method = of_nmethod("_method", 8);
    out->verified_entry = of_nmethod("_verified_entry_point", 8);
    out->verified_entry_offset = of_nmethod("_verified_entry_offset", 2);
    out->orig_pc_offset = of_nmethod("_orig_pc_offset", 4);
    out->deopt_handlers[0] = of_nmethod("_deopt_handler_begin", 8);
    out->deopt_handlers[1] = of_nmethod("_deopt_mh_handler_begin", 8);
    out->deopt_handler_offsets[0] = of_nmethod("_deopt_handler_offset", 4);
    out->deopt_handler_offsets[1] = of_nmethod("_deopt_mh_handler_offset", 4);
    out->comp_level = of_nmethod("_comp_level", 1);
    out->compile_id = of_nmethod("_compile_id", 4);
    out->scopes_pcs = of_nmethod("_scopes_pcs_offset", 4);
    out->dependencies = of_nmethod("_dependencies_offset", 4);
    out->scopes_data = of_nmethod("_scopes_data_offset", 4);
    out->scopes_data_begin = of_nmethod("_scopes_data_begin", 8);
    out->metadata = of_nmethod("_metadata_offset", 4);
    out->immutable_data = of_nmethod("_immutable_data", 8);
    out->mutable_data = number("CodeBlob", "_mutable_data", 8);
    out->relocation_size = number("CodeBlob", "_relocation_size", 4);
    out->pc_desc_bytes = vm_structs_size("PcDesc");
    out->pc_desc_offset = vm_structs_field("PcDesc", "_pc_offset");
    out->pc_desc_scope = vm_structs_field("PcDesc", "_scope_decode_offset");
}

static bool check_layout(const struct vm_stack_layout *layout, struct jw_error *err)
{
    const bool is_outside = vm_has(layout->immutable_data);
    const struct {
        const char *name;
        bool is_there;
    } needs[] = {
        {"JavaFrameAnchor::_last_Java_sp", vm_has(layout->anchor_sp)},
        {"JavaFrameAnchor::_last_Java_pc", vm_has(layout->anchor_pc)},
        {"JavaFrameAnchor::_last_Java_fp", vm_has(layout->anchor_fp)},
        {"JavaThread::_stack_base", vm_has(layout->stack_base)},
        {"JavaThread::_stack_size", vm_has(layout->stack_size)},
        {"JavaThread::_thread_state", vm_has(layout->thread_state)},
        {"_thread_in_Java", layout->state_in_java != 0},
        {"JavaCallWrapper::_anchor", vm_has(layout->wrapper_anchor)},
        {"StubRoutines::_call_stub_return_address", vm_code_contains(layout->entry_return_pc)},
        {"the interpreter's code", vm_layout.interpreter_end != 0},
        {"CodeBlob::_frame_size", vm_has(vm_layout.blob_frame_size)},
        {"CodeBlob::_frame_complete_offset", vm_has(vm_layout.blob_frame_complete)},
        {"CodeBlob::_code_begin",
         vm_has(vm_layout.blob_code_begin) || vm_has(vm_layout.blob_code_offset)},
        {"nmethod::_method", vm_has(layout->nmethod_method)},
        {"nmethod::_orig_pc_offset", vm_has(layout->orig_pc_offset)},
        {"nmethod::_scopes_pcs_offset", vm_has(layout->scopes_pcs)},
        {"nmethod::_scopes_data_offset",
         vm_has(layout->scopes_data) || (!is_outside && vm_has(layout->scopes_data_begin))},
        {"nmethod::_dependencies_offset", is_outside || vm_has(layout->dependencies)},
        {"nmethod::_metadata_offset",
         is_outside ? vm_has(layout->mutable_data) && vm_has(layout->relocation_size)
                    : vm_has(layout->metadata)},
        {"PcDesc", layout->pc_desc_bytes >= 2 * sizeof(int32_t) && vm_has(layout->pc_desc_offset) &&
                       vm_has(layout->pc_desc_scope)},
    };

    for (size_t i = 0; i < JW_COUNT_OF(needs); i++) {
        if (!needs[i].is_there) {
            jw_error_set(err, "this JVM (version %d) does not tell where %s is", vm_layout.major,
                         needs[i].name);
            return false;
        }
    }
    return true;
}

bool vm_stack_open(struct jw_error *err)
{
    struct vm_stack_layout layout = {.anchor_sp = VM_NO_FIELD};

    resolve_threads(&layout);
    resolve_nmethods(&layout);
    layout.interpreter_bcp_bytes =
        (intptr_t)(vm_layout.major <= 8 ? arch_facts.interpreter_bcp_slot_jdk_8
                                        : arch_facts.interpreter_bcp_slot) *
        (intptr_t)sizeof(uintptr_t);
    if (!check_layout(&layout, err))
        return false;
    vm_stack_layout = layout;
    return true;
}
