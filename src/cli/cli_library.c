/* Which library a JVM is told to load: the one that it has, ours where it sees it, else a copy. Context: tool. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach.h"
#include "cli/cli_internal.h"

#define CLI_LIBRARY_NAME "libjaywalk.so"

/* The command may be installed anywhere: its library lies in ../lib. */
bool cli_library(const struct cli_values *values, char *path, struct jw_error *err)
{
    char wanted[CLI_PATH_BYTES + sizeof "/../lib/" CLI_LIBRARY_NAME];

    if (values->library != NULL) {
        snprintf(wanted, sizeof wanted, "%s", values->library);
    } else {
        char command[CLI_PATH_BYTES];
        const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);

        command[length < 0 ? 0 : length] = '\0';
        char *slash = strrchr(command, '/');
        if (slash != NULL)
            *slash = '\0';
        snprintf(wanted, sizeof wanted, "%s/../lib/" CLI_LIBRARY_NAME, command);
    }
    if (realpath(wanted, path) != NULL)
        return true;
    jw_error_set(err, "%.300s: %s; name the library with --libpath=PATH", wanted, strerror(errno));
    return false;
}

uid_t cli_owner(void)
{
    struct stat file;

    return stat("/proc/self/exe", &file) == 0 ? file.st_uid : 0;
}

bool cli_library_choose(const struct cli_values *values, struct cli_session *session,
                        struct cli_library_source *source, struct jw_error *err)
{
    const struct attach_target *target = session->target;
    bool is_there;

    source->fd = -1;
    if (target->has_own_files && values->library != NULL) {
        /* A path over there means nothing here, so it is not resolved. */
        snprintf(session->library, sizeof session->library, "%s", values->library);
        return true;
    }
    if (values->library == NULL && attach_find_library(target, CLI_LIBRARY_NAME, session->library,
                                                       sizeof session->library, &is_there, err))
        return true; /* two copies of the agent would know nothing of each other */
    if (err->message[0] != '\0' || !cli_library(values, session->library, err))
        return false;
    if (!target->has_own_files || attach_shares(target, session->library))
        return true;
    source->fd = open(session->library, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0)
        jw_error_set(err, "%.300s: %s; name the library with --libpath=PATH", session->library,
                     strerror(errno));
    return source->fd >= 0;
}

bool cli_library_bring(struct cli_session *session, struct cli_library_source *source, uid_t owner,
                       struct jw_error *err)
{
    char loaded[CLI_PATH_BYTES];
    bool is_there;

    if (source->fd >= 0) {
        const bool is_put = cli_session_place(session, err) &&
                            attach_place_put(session->place, CLI_LIBRARY_NAME, source->fd, err);

        close(source->fd);
        source->fd = -1;
        if (is_put)
            snprintf(session->library, sizeof session->library, "%s/" CLI_LIBRARY_NAME,
                     session->place->path);
        return is_put;
    }
    /* What is loaded is found by its name, also when the file is gone: it is not opened again. */
    if (attach_find_library(session->target, CLI_LIBRARY_NAME, loaded, sizeof loaded, &is_there,
                            err) &&
        !is_there && strcmp(loaded, session->library) == 0)
        return true;
    return err->message[0] == '\0' &&
           attach_check_library(session->target, session->library, owner, err);
}

void cli_library_brought(const struct cli_session *session)
{
    if (session->place != NULL)
        attach_place_remove(session->place, CLI_LIBRARY_NAME);
}
