/* States of threads, out of /proc; tool. */
#include "support/task_state.h"

#include <stdio.h>
#include <string.h>

bool task_is_asleep(uint32_t tid)
{
    char path[64];
    char text[256] = "";

    snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
    FILE *file = fopen(path, "r");
    const size_t length_bytes = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);

    if (file != NULL)
        fclose(file);
    const char *behind_name = length_bytes == 0 ? NULL : strrchr(text, ')');
    return behind_name != NULL && behind_name[2] == 'S';
}
