/* Where results go: files that appear whole, the standard output, progress. Context: tool. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli_internal.h"
#include "os/os_output.h"

#define CLI_TERMINAL_COLUMNS  80 /* where the terminal does not say */
#define CLI_PROGRESS_FIRST_NS JW_NS_PER_SECOND
#define CLI_PROGRESS_STEP_NS  (100 * JW_NS_PER_MS)

static bool cli_write_stdout(void *context, const void *bytes, size_t length_bytes,
                             struct jw_error *err)
{
    const char *at = bytes;

    (void)context;
    while (length_bytes > 0) {
        const ssize_t written = write(STDOUT_FILENO, at, length_bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            jw_error_set(err, "standard output: %s", strerror(errno));
            return false;
        }
        at += written;
        length_bytes -= (size_t)written;
    }
    return true;
}

int cli_end_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    cli_complain("standard output: %s", strerror(errno));
    return CLI_FAILED;
}

bool cli_write(struct profile *profile, const char *path, enum export_format format,
               const struct export_options *options, struct jw_error *err)
{
    if (strcmp(path, "-") == 0)
        return export_profile(profile, format, options, cli_write_stdout, NULL, err);

    struct os_output *file = os_output_open(path, NULL, err);
    const bool is_written = file != NULL &&
                            export_profile(profile, format, options, os_output_append, file, err) &&
                            os_output_publish(file, err);
    os_output_close(file);
    return is_written;
}

bool cli_sink_open(struct cli_sink *sink, const char *path, struct jw_error *err)
{
    *sink = (struct cli_sink){.is_stdout = strcmp(path, "-") == 0};
    if (!sink->is_stdout)
        sink->file = os_output_open(path, NULL, err);
    return sink->is_stdout || sink->file != NULL;
}

static bool cli_sink_flush(struct cli_sink *sink, struct jw_error *err)
{
    const size_t used_bytes = sink->used_bytes;

    sink->used_bytes = 0;
    return used_bytes == 0 ||
           (sink->is_stdout ? cli_write_stdout(NULL, sink->bytes, used_bytes, err)
                            : os_output_append(sink->file, sink->bytes, used_bytes, err));
}

bool cli_sink_put(struct cli_sink *sink, const void *bytes, size_t count_bytes,
                  struct jw_error *err)
{
    if (count_bytes > sizeof sink->bytes - sink->used_bytes && !cli_sink_flush(sink, err))
        return false;
    if (count_bytes > sizeof sink->bytes)
        return sink->is_stdout ? cli_write_stdout(NULL, bytes, count_bytes, err)
                               : os_output_append(sink->file, bytes, count_bytes, err);
    memcpy(sink->bytes + sink->used_bytes, bytes, count_bytes);
    sink->used_bytes += count_bytes;
    return true;
}

bool cli_sink_finish(struct cli_sink *sink, struct jw_error *err)
{
    return cli_sink_flush(sink, err) && (sink->is_stdout || os_output_publish(sink->file, err));
}

void cli_sink_close(struct cli_sink *sink)
{
    os_output_close(sink->file);
    sink->file = NULL;
}

void cli_put_progress(const char *line, int terminal)
{
    struct winsize size;
    size_t columns = CLI_TERMINAL_COLUMNS;

    if (ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    /* Not into the last column, from where some terminals go on to the next line. */
    dprintf(terminal, "\r%.*s\033[K", (int)(columns - 1), line);
}

void cli_progress_begin(struct cli_progress *progress, bool is_quiet)
{
    *progress = (struct cli_progress){
        .begun_ns = jw_now_ns(),
        .is_wanted = !is_quiet && isatty(STDERR_FILENO),
    };
}

/* Whether it is time for the next line. */
static bool cli_progress_is_due(struct cli_progress *progress)
{
    if (!progress->is_wanted)
        return false;

    const uint64_t now_ns = jw_now_ns();
    if (now_ns - progress->begun_ns < CLI_PROGRESS_FIRST_NS ||
        now_ns - progress->shown_ns < CLI_PROGRESS_STEP_NS)
        return false;
    progress->shown_ns = now_ns;
    return true;
}

void cli_progress_show(struct cli_progress *progress, const char *what, uint64_t done,
                       uint64_t whole)
{
    char line[128];

    if (!cli_progress_is_due(progress))
        return;
    snprintf(line, sizeof line, "%s: %u %%", what,
             whole == 0 ? 100u : (unsigned)((double)done * 100.0 / (double)whole));
    cli_put_progress(line, STDERR_FILENO);
}

void cli_progress_say(struct cli_progress *progress, const char *line)
{
    if (line[0] != '\0' && cli_progress_is_due(progress))
        cli_put_progress(line, STDERR_FILENO);
}

void cli_progress_end(struct cli_progress *progress)
{
    if (progress->shown_ns != 0)
        fputs("\r\033[K", stderr);
}
