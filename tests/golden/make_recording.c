/*
 * Writes the recording of made.h. Usage: make_recording FILE [chunks [rounds [wall|nobatch|context]]].
 * The ending of FILE chooses the format; with the last word there are threads that wait, and with
 * `context` samples serve requests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/made.h"

static enum recording_format format_of(const char *path)
{
    const char *ending = strrchr(path, '.');

    if (ending == NULL)
        return RECORDING_TEXT;
    return strcmp(ending, ".jfr") == 0         ? RECORDING_JFR
           : strcmp(ending, ".html") == 0      ? RECORDING_HTML
           : strcmp(ending, ".collapsed") == 0 ? RECORDING_COLLAPSED
                                               : RECORDING_TEXT;
}

int main(int argc, char **argv)
{
    struct jw_error err = {{0}};

    if (argc < 2) {
        fprintf(stderr, "usage: make_recording FILE [chunks [rounds [wall|nobatch|context]]]\n");
        return 2;
    }
    struct recording_config config = made_config(argv[1], format_of(argv[1]));
    made_with_wall = argc > 4;
    made_with_context = argc > 4 && strcmp(argv[4], "context") == 0;
    config.splits_wall = argc > 4 && strcmp(argv[4], "nobatch") == 0;
    if (made_recording(&config, argc > 2 ? strtoul(argv[2], NULL, 10) : 3,
                       argc > 3 ? strtoul(argv[3], NULL, 10) : 4, &err))
        return 0;
    fprintf(stderr, "make_recording: %s\n", err.message);
    return 1;
}
