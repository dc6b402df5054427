/*
 * cli_files_internal - the recordings that a command is given: files, and what folders hold.
 *
 * For      summary, recover, merge, split.   Callers  these.   Context  tool.
 * Memory   a list owns its paths; cli_files_close gives them back.
 */
#ifndef JW_CLI_CLI_FILES_INTERNAL_H
#define JW_CLI_CLI_FILES_INTERNAL_H

#include "cli/cli_internal.h"

struct cli_files {
    char **paths;
    size_t count;
    size_t capacity;
    uint64_t bytes; /* of all */
};

/*
 * The first `count` operands: files as they are named, and of folders all that end in .jfr or .jfr.zst, also in
 * folders in them, by name. False and `err`: one is not there, or holds none.
 */
JW_MUST_CHECK bool cli_files_gather(const struct cli_operand_list *operands, size_t count,
                                    struct cli_files *files, struct jw_error *err);
void cli_files_close(struct cli_files *files); /* zeroed is fine */

#endif
