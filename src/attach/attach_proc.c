/* What /proc tells of a process; tool. Parsers are total: any bytes give a result. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/attach_internal.h"

#define LINE_BYTES 8192

/* Value of the line that begins with `key`, or NULL. `text` is terminated. */
static const char *line_of(const char *text, const char *key)
{
    const size_t key_bytes = strlen(key);

    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, key_bytes) == 0)
            return line + key_bytes;
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    return NULL;
}

/* The n-th number of a line, from 0; the last one with n < 0. */
static bool number_at(const char *line, int n, unsigned long *number)
{
    bool is_found = false;

    for (int i = 0; line != NULL; i++) {
        line += strspn(line, " \t");
        if (*line < '0' || *line > '9')
            break;

        char *end;
        const unsigned long value = strtoul(line, &end, 10);
        if (n < 0 || i == n) {
            *number = value;
            is_found = true;
        }
        line = end;
    }
    return is_found;
}

bool attach_parse_status(const char *text, size_t length_bytes, struct attach_status *status)
{
    char copy[LINE_BYTES];
    unsigned long user, group;
    unsigned long inner_pid = 0;

    memset(status, 0, sizeof *status);
    if (length_bytes >= sizeof copy)
        length_bytes = sizeof copy - 1;
    memcpy(copy, text, length_bytes);
    copy[length_bytes] = '\0';

    const char *state = line_of(copy, "State:");
    const char *caught = line_of(copy, "SigCgt:");
    if (state == NULL || caught == NULL || !number_at(line_of(copy, "Uid:"), 1, &user) ||
        !number_at(line_of(copy, "Gid:"), 1, &group))
        return false;
    (void)number_at(line_of(copy, "NSpid:"), -1, &inner_pid);
    status->state = state[strspn(state, " \t")];
    status->user = (uid_t)user;
    status->group = (gid_t)group;
    status->inner_pid = inner_pid > 0 && inner_pid <= INT32_MAX ? (int)inner_pid : 0;
    status->catches_quit = (strtoull(caught, NULL, 16) >> (SIGQUIT - 1) & 1) != 0;
    return true;
}

bool attach_is_jvm_line(const char *line)
{
    static const char name[] = "/libjvm.so";
    const char *at = strstr(line, name);

    for (; at != NULL; at = strstr(at + 1, name)) {
        const char *after = at + sizeof name - 1;

        if (*after == '\0' || *after == '\n' || strncmp(after, " (deleted)", 10) == 0)
            return true;
    }
    return false;
}

const char *attach_parse_mapped(char *line, const char *name)
{
    static const char deleted[] = " (deleted)";
    char *path = strchr(line, '/');
    size_t length_bytes;

    if (path == NULL)
        return NULL;
    length_bytes = strcspn(path, "\n");
    path[length_bytes] = '\0';
    if (length_bytes >= sizeof deleted - 1 &&
        strcmp(path + length_bytes - (sizeof deleted - 1), deleted) == 0)
        path[length_bytes - (sizeof deleted - 1)] = '\0';
    return strcmp(strrchr(path, '/') + 1, name) == 0 ? path : NULL;
}

/* The last mention counts, as it does for the JVM; in a variable's value words are parted by blanks. */
void attach_find_switch(const char *text, size_t length_bytes, bool *is_disabled)
{
    static const char option[] = "DisableAttachMechanism";
    static const size_t head_bytes = 5; /* -XX:+ */
    static const size_t option_bytes = sizeof option - 1;

    for (size_t i = head_bytes; i + option_bytes <= length_bytes; i++) {
        const char *at = text + i;
        const char before = i == head_bytes ? ' ' : at[-6];
        const char after = i + option_bytes == length_bytes ? ' ' : at[option_bytes];

        if (memcmp(at, option, option_bytes) == 0 && memcmp(at - head_bytes, "-XX:", 4) == 0 &&
            (at[-1] == '+' || at[-1] == '-') && strchr(" \t\n=", before) != NULL &&
            strchr(" \t\n", after) != NULL)
            *is_disabled = at[-1] == '+';
    }
}

static bool is_variable(const char *entry, const char *name)
{
    const size_t name_bytes = strlen(name);

    return strncmp(entry, name, name_bytes) == 0 && entry[name_bytes] == '=';
}

/* JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS come before the command line, _JAVA_OPTIONS after it. `late` says
 * which. */
void attach_find_switch_in_environment(const char *text, size_t length_bytes, bool late,
                                       bool *is_disabled)
{
    for (size_t at = 0; at < length_bytes;) {
        const char *entry = text + at;
        const size_t entry_bytes = strnlen(entry, length_bytes - at);

        if (at + entry_bytes < length_bytes && (late ? is_variable(entry, "_JAVA_OPTIONS")
                                                     : is_variable(entry, "JAVA_TOOL_OPTIONS") ||
                                                           is_variable(entry, "JDK_JAVA_OPTIONS")))
            attach_find_switch(entry, entry_bytes, is_disabled);
        at += entry_bytes + 1;
    }
}

/* Options of the launcher whose value is a word of its own. Source: `java --help-extra`, JDK 8 to 25. */
static bool takes_word(const char *option)
{
    static const char *const options[] = {
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--upgrade-module-path",
        "--add-modules",
        "--limit-modules",
        "--add-exports",
        "--add-reads",
        "--add-opens",
        "--patch-module",
        "--describe-module",
        "-d",
        "--source",
        "--enable-native-access",
    };

    for (size_t i = 0; i < JW_COUNT_OF(options); i++) {
        if (strcmp(option, options[i]) == 0)
            return true;
    }
    return false;
}

static bool is_java(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash == NULL ? program : slash + 1;

    return strcmp(name, "java") == 0 || strcmp(name, "javaw") == 0;
}

/* A jar keeps its file name, a module gives its main class where it names one. */
static void put_name(const char *word, bool is_path, char *name, size_t room_bytes)
{
    const char *slash = strrchr(word, '/');

    if (is_path && slash != NULL && slash[1] != '\0')
        word = slash + 1;
    snprintf(name, room_bytes, "%s", word);
}

bool attach_parse_name(const char *text, size_t length_bytes, char *name, size_t room_bytes)
{
    char words[LINE_BYTES * 2];
    const char *word = words;

    if (length_bytes >= sizeof words)
        length_bytes = sizeof words - 1;
    memcpy(words, text, length_bytes);
    words[length_bytes] = '\0';

    const char *const end = words + length_bytes;
    if (length_bytes == 0 || words[0] == '\0')
        return false;
    put_name(word, true, name, room_bytes); /* what stays where no main class is named */
    if (!is_java(word))
        return true;
    for (word += strlen(word) + 1; word < end; word += strlen(word) + 1) {
        const char *next = word + strlen(word) + 1;
        const bool has_next = next < end;

        if (strcmp(word, "-jar") == 0 && has_next) {
            put_name(next, true, name, room_bytes);
            return true;
        }
        if ((strcmp(word, "-m") == 0 || strcmp(word, "--module") == 0) && has_next) {
            put_name(next, true, name, room_bytes);
            return true;
        }
        if (strncmp(word, "--module=", 9) == 0) {
            put_name(word + 9, true, name, room_bytes);
            return true;
        }
        if (takes_word(word)) {
            word = next;
            if (!has_next)
                break;
        } else if (word[0] != '-' && word[0] != '@' && word[0] != '\0') {
            put_name(word, strchr(word, '/') != NULL, name, room_bytes);
            return true;
        }
    }
    return true;
}

bool attach_read(const char *place, const char *name, char *text, size_t room_bytes,
                 size_t *length_bytes)
{
    char path[256];

    *length_bytes = 0;
    text[0] = '\0';
    snprintf(path, sizeof path, "%s/%s", place, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    while (*length_bytes < room_bytes - 1) {
        const ssize_t count = read(fd, text + *length_bytes, room_bytes - 1 - *length_bytes);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            const int reason = errno;

            close(fd);
            errno = reason;
            return false;
        }
        if (count == 0)
            break;
        *length_bytes += (size_t)count;
    }
    text[*length_bytes] = '\0';
    close(fd);
    return true;
}

bool attach_read_status(const char *place, struct attach_status *status)
{
    char text[LINE_BYTES];
    size_t length_bytes;

    if (!attach_read(place, "status", text, sizeof text, &length_bytes))
        return false;
    if (attach_parse_status(text, length_bytes, status))
        return true;
    errno = EBADMSG;
    return false;
}

const char *attach_advice(int reason)
{
    switch (reason) {
    case EMFILE:
        return "this command may open too few files, raise the limit (ulimit -n) and try again";
    case ENFILE:
        return "the machine has no file left to open (fs.file-max); try again when others have "
               "closed some";
    case ENOMEM:
        return "the machine has too little memory left; try again";
    case EACCES:
    case EPERM:
        return "the process has rights that this user lacks, run jaywalk as root";
    case ENOENT:
    case ESRCH:
        return "has the process ended?";
    default:
        return "try again";
    }
}

bool attach_maps_jvm(const char *place, bool *is_jvm, struct jw_error *err)
{
    char path[256];
    char line[LINE_BYTES];

    *is_jvm = false;
    snprintf(path, sizeof path, "%s/maps", place);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        const int reason = errno;

        jw_error_set(err, "%s cannot be read: %s; %s", path, strerror(reason),
                     attach_advice(reason));
        errno = reason;
        return false;
    }
    errno = 0;
    while (!*is_jvm && fgets(line, sizeof line, file) != NULL)
        *is_jvm = attach_is_jvm_line(line);
    const int reason = errno;
    const bool is_read = *is_jvm || !ferror(file);
    if (!is_read)
        jw_error_set(err, "%s cannot be read: %s; %s", path, strerror(reason),
                     attach_advice(reason));
    fclose(file);
    errno = reason;
    return is_read;
}

bool attach_has_thread(const char *place, const char *name)
{
    char path[256], comm[32];
    size_t length_bytes;
    bool is_found = false;

    snprintf(path, sizeof path, "%s/task", place);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return false;
    for (const struct dirent *task; !is_found && (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "task/%.32s/comm", task->d_name);
        is_found = task->d_name[0] != '.' &&
                   attach_read(place, path, comm, sizeof comm, &length_bytes) &&
                   strncmp(comm, name, strlen(name)) == 0;
    }
    closedir(tasks);
    return is_found;
}
