/* Frames and threads of a generation, as the profile of a graph has them; dump. */
#include "generation/generation.h"
#include "generation/method_record.h"
#include "recording/recording_graph_internal.h"

static const char *shown_in(struct graph_take *take, size_t place, struct recording_text text)
{
    return recording_shown(take->recording, &take->scratch, &take->texts[place], text);
}

struct profile_frame recording_graph_mark(enum jw_mark mark)
{
    return (struct profile_frame){
        .type = PROFILE_FRAME_MARK, .method = jw_mark_text(mark), .line = -1};
}

static struct profile_frame java_frame(struct graph_take *take, jw_frame frame)
{
    static const enum profile_frame_type types[] = {
        [JW_FRAME_INTERPRETED] = PROFILE_FRAME_INTERPRETED,
        [JW_FRAME_COMPILED] = PROFILE_FRAME_COMPILED,
        [JW_FRAME_INLINED] = PROFILE_FRAME_INLINED,
        [JW_FRAME_JAVA_NATIVE] = PROFILE_FRAME_JAVA_NATIVE,
        [JW_FRAME_COMPILING] = PROFILE_FRAME_COMPILING,
    };
    const struct generation *generation = take->generation;
    const struct method_record *record =
        method_record_get(generation->methods, jw_frame_method(frame), NULL);

    if (record == NULL)
        return recording_graph_mark(JW_MARK_UNREADABLE_METHOD);

    const struct recording_method told = recording_method_texts(generation, record);
    return (struct profile_frame){
        .type = types[jw_frame_kind_of(frame)],
        .class_name = shown_in(take, 0, told.class_name),
        .method = shown_in(take, 1, told.name),
        .signature = shown_in(take, 2, told.descriptor),
        .line = recording_frame_line(generation, frame, take->recording->config.unsigned5_bias),
    };
}

static struct profile_frame native_frame(struct graph_take *take, jw_frame frame)
{
    struct recording_symbol told;

    if (!recording_native_texts(&take->recording->config.sources, jw_frame_pc(frame), &told))
        return recording_graph_mark(JW_MARK_UNKNOWN_NATIVE);
    return (struct profile_frame){
        .type = jw_frame_kind_of(frame) == JW_FRAME_KERNEL ? PROFILE_FRAME_KERNEL
                                                           : PROFILE_FRAME_NATIVE,
        .method = shown_in(take, 0, told.symbol),
        .module = shown_in(take, 1, told.library),
        .line = -1,
    };
}

static struct profile_frame receiver_frame(struct graph_take *take, uint32_t name)
{
    const struct recording_method told = recording_receiver_method(take->generation, name);

    return (struct profile_frame){
        .type = PROFILE_FRAME_CLASS, .class_name = shown_in(take, 0, told.class_name), .line = -1};
}

profile_frame_id recording_graph_frame(struct graph_take *take, jw_frame frame)
{
    struct recording *recording = take->recording;
    struct profile_frame told = {.type = PROFILE_FRAME_MARK};
    uint64_t *known = jw_map_put(&recording->graph.frames, &frame, sizeof frame);
    char address[RECORDING_ADDRESS_BYTES];
    uint64_t unkept = PROFILE_FRAME_NONE; /* no room to remember: asked anew each time */

    if (known == NULL)
        known = &unkept;
    if (*known != PROFILE_FRAME_NONE)
        return (profile_frame_id)*known;

    switch (jw_frame_kind_of(frame)) {
    case JW_FRAME_INTERPRETED:
    case JW_FRAME_COMPILED:
    case JW_FRAME_INLINED:
    case JW_FRAME_JAVA_NATIVE:
    case JW_FRAME_COMPILING:
        told = java_frame(take, frame);
        break;
    case JW_FRAME_NATIVE:
    case JW_FRAME_KERNEL:
        told = native_frame(take, frame);
        break;
    case JW_FRAME_MARK:
        told = recording_graph_mark(jw_frame_mark_of(frame));
        break;
    case JW_FRAME_CLASS:
        told = receiver_frame(take, jw_frame_class_name(frame));
        break;
    case JW_FRAME_ADDRESS:
        told = (struct profile_frame){
            .type = PROFILE_FRAME_ADDRESS,
            .method = recording_address_method(jw_frame_pc(frame), address).name.bytes,
            .line = -1};
        break;
    }
    *known = profile_frame(recording->graph.profile, &told);
    return (profile_frame_id)*known;
}

profile_frame_id recording_graph_thread(struct graph_take *take, uint32_t index, uint32_t serial,
                                        const struct recording_virtual *mounted)
{
    const struct recording_sources *sources = &take->recording->config.sources;
    struct profile *profile = take->recording->graph.profile;
    struct recording_thread told = {0};

    if (!take->recording->config.is_by_thread)
        return PROFILE_FRAME_NONE;
    if (mounted->number != 0) {
        const struct profile_thread thread = {
            .java_name = shown_in(take, 0, mounted->name),
            .virtual_id = (int64_t)mounted->number,
        };
        return profile_thread(profile, &thread);
    }
    if (sources->thread == NULL || !sources->thread(sources->context, index, serial, &told))
        return profile_thread(profile, NULL);

    const struct profile_thread thread = {
        .java_name = shown_in(take, 0, told.java_name),
        .os_name = shown_in(take, 1, told.os_name),
        .os_thread_id = told.os_tid,
    };
    return profile_thread(profile, &thread);
}
