/* From options to a look, once for agent and command. Context: control, tool. */
#include "export/export.h"
#include "options/options.h"

void export_look(const struct options *options, struct export_options *look)
{
    static const enum export_value values[] = {
        [OPTIONS_COUNT_DEFAULT] = EXPORT_VALUE_DEFAULT,
        [OPTIONS_COUNT_SAMPLES] = EXPORT_VALUE_SAMPLES,
        [OPTIONS_COUNT_TOTAL] = EXPORT_VALUE_WEIGHT,
    };

    *look = (struct export_options){
        .view = {.split_signatures = options->has_signatures,
                 .is_normalised = options->is_normalised,
                 .is_simple = options->is_simple,
                 .is_dotted = options->is_dotted,
                 .has_libraries = options->has_libraries,
                 .has_compilations = options->has_compilations,
                 .reverse = options->is_reversed,
                 .includes = options->includes,
                 .excludes = options->excludes},
        .value = values[options->count],
        .min_width_ppm = (uint32_t)options->minwidth_ppm,
        .is_inverted = options->is_inverted,
        .is_annotated = options->is_annotated,
        .method_count = (uint32_t)options->flat_count,
        .stack_count = (uint32_t)options->traces_count,
    };
}
