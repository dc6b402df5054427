/*
 * The classes of a JVM that runs, as far as its files tell: jars that it has open, and what its class path names. Read from
 * /proc; nothing is asked of the process. Context: tool.
 */
#include "cli/cli_classes_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/attach.h"
#include "probe/probe_pace.h"

#define LINE_BYTES    ((size_t)2 << 20) /* the longest command line that Linux takes, as a rule */
#define JARS_MOST     4096u
#define RELEASE_BYTES 8192

struct jar {
    dev_t device;
    ino_t inode;
};

struct look {
    struct cli_classes *classes;
    const struct attach_target *target;
    char home[CLI_PATH_BYTES]; /* of its JDK; "": not known */
    struct jar jars[JARS_MOST];
    size_t jar_count;
};

void cli_classes_home_of(char *path)
{
    char *lib = NULL;

    /* The last one: the JDK itself may lie in a folder of that name, /usr/lib/jvm. */
    for (char *next = path; (next = strstr(next, "/lib/")) != NULL; next++)
        lib = next;
    *(lib == NULL ? path : lib) = '\0';
    if (cli_classes_has_end(path, "/jre"))
        *strrchr(path, '/') = '\0';
}

static void find_home(struct look *look)
{
    struct jw_error ignored = {{0}};
    bool is_there;

    if (!attach_find_library(look->target, "libjvm.so", look->home, sizeof look->home, &is_there,
                             &ignored))
        look->home[0] = '\0';
    cli_classes_home_of(look->home);
}

unsigned cli_classes_jdk_of(const char *release)
{
    static const char key[] = "JAVA_VERSION=";
    const char *line = release;

    while (line != NULL && strncmp(line, key, sizeof key - 1) != 0)
        line = (line = strchr(line, '\n')) == NULL ? NULL : line + 1;
    if (line == NULL)
        return 0;
    line += sizeof key - 1;
    line += *line == '"';
    if (strncmp(line, "1.", 2) == 0)
        line += 2;
    return (unsigned)strtoul(line, NULL, 10);
}

bool cli_classes_names_probe(const char *word)
{
    const char *options = strchr(word, '=');

    if (strncmp(word, "-agentpath:", 11) != 0 && strncmp(word, "-agentlib:", 10) != 0)
        return false;
    return options != NULL && memmem(word, (size_t)(options - word), "jaywalk", 7) != NULL &&
           (strncmp(options, "=probe=", 7) == 0 || strstr(options, ",probe=") != NULL);
}

static bool is_of_jdk(const struct look *look, const char *path)
{
    const size_t length = strlen(look->home);

    return length != 0 && strncmp(path, look->home, length) == 0 && path[length] == '/';
}

/* False: it was looked at before, or there is no room to know, which is told. */
static bool is_new(struct look *look, const char *path, const char *shown)
{
    struct stat found;

    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    for (size_t i = 0; i < look->jar_count; i++) {
        if (look->jars[i].device == found.st_dev && look->jars[i].inode == found.st_ino)
            return false;
    }
    if (look->jar_count == JARS_MOST) {
        cli_classes_miss(look->classes, shown, "the process has more jars than are looked at");
        return false;
    }
    look->jars[look->jar_count++] = (struct jar){found.st_dev, found.st_ino};
    return true;
}

/* What lies at `path` for us is `shown` for the process. */
static bool take_jar(struct look *look, const char *path, const char *shown, struct jw_error *err)
{
    if (is_of_jdk(look, shown) || !is_new(look, path, shown) ||
        cli_classes_take_jar(look->classes, path, shown, err))
        return true;
    if (look->classes->bytes >= CLI_CLASSES_BYTES_MOST)
        return false;
    cli_classes_miss(look->classes, shown, "cannot be read as a jar");
    jw_error_clear(err);
    return true;
}

static bool take_open(struct look *look, struct jw_error *err)
{
    char name[sizeof look->target->place + 16], path[sizeof name + 280], shown[CLI_PATH_BYTES];
    bool is_good = true;

    snprintf(name, sizeof name, "%s/fd", look->target->place);
    DIR *directory = opendir(name);
    if (directory == NULL) {
        jw_error_set(err, "the files that process %d has open cannot be read (%s): %s",
                     look->target->pid, name, strerror(errno));
        return false;
    }
    for (struct dirent *entry; is_good && (entry = readdir(directory)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);

        const ssize_t length = readlink(path, shown, sizeof shown - 1);
        if (length <= 0)
            continue;
        shown[length] = '\0';
        if (cli_classes_has_end(shown, " (deleted)"))
            shown[length - (ssize_t)strlen(" (deleted)")] = '\0';
        if (cli_classes_is_jar(shown))
            is_good = take_jar(look, path, shown, err);
    }
    closedir(directory);
    return is_good;
}

/* Where the process finds a path of its own, for us; false: there is no room for it. */
static bool our_path(const struct look *look, const char *path, char out[CLI_PATH_BYTES])
{
    const bool is_absolute = path[0] == '/';

    return snprintf(out, CLI_PATH_BYTES, "%s/%s%s%s", look->target->place,
                    is_absolute ? "root" : "cwd", is_absolute ? "" : "/", path) < CLI_PATH_BYTES;
}

/* What a class path means by a folder with a star behind it: the jars that lie there. */
static bool take_jars_in(struct look *look, const char *folder, struct jw_error *err)
{
    char path[CLI_PATH_BYTES], shown[CLI_PATH_BYTES];
    struct cli_classes_names names;
    struct jw_error why = {{0}};
    bool is_good = true;

    if (!our_path(look, folder, path))
        return true;
    if (!cli_classes_list(path, &names, &why))
        cli_classes_miss(look->classes, folder, why.message);
    for (size_t i = 0; is_good && i < names.count; i++) {
        if (cli_classes_has_end(names.all[i], ".jar") &&
            snprintf(shown, sizeof shown, "%s%s", folder, names.all[i]) < (int)sizeof shown &&
            our_path(look, shown, path))
            is_good = take_jar(look, path, shown, err);
    }
    cli_classes_names_close(&names);
    return is_good;
}

/* One entry of a class path. JVMs do not mind what is not there. */
static bool take_entry(struct look *look, const char *entry, struct jw_error *err)
{
    char path[CLI_PATH_BYTES], folder[CLI_PATH_BYTES];
    struct stat found;
    const size_t length = strlen(entry);

    if (strcmp(entry, "*") == 0)
        return take_jars_in(look, "./", err);
    if (cli_classes_has_end(entry, "/*")) {
        snprintf(folder, sizeof folder, "%.*s", (int)length - 1, entry);
        return take_jars_in(look, folder, err);
    }
    if (length == 0)
        entry = ".";
    if (!our_path(look, entry, path) || stat(path, &found) != 0)
        return true;
    if (S_ISREG(found.st_mode))
        return take_jar(look, path, entry, err);
    if (!S_ISDIR(found.st_mode))
        return true;
    return cli_classes_take_folder(look->classes, path, entry, false, err);
}

static bool take_path(struct look *look, const char *text, struct jw_error *err)
{
    char entry[CLI_PATH_BYTES];

    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ":");

        if (length < sizeof entry && (length != 0 || text[0] != '\0')) {
            memcpy(entry, at, length);
            entry[length] = '\0';
            if (!take_entry(look, entry, err))
                return false;
        }
        at += length;
        if (*at == '\0')
            return true;
    }
}

/* What a command line says of where classes are; the last of a kind counts, and -jar more than a class path. */
struct paths {
    const char *classes;
    const char *jar;
    const char *modules;
    bool has_probe; /* our agent is there from the start, and was told of probes */
};

static void find_paths(const char *words, size_t length_bytes, struct paths *paths)
{
    const struct {
        const char *word; /* of its own, and the path is the next; or with "=" the head of one */
        const char **path;
    } options[] = {
        {"-cp", &paths->classes},
        {"-classpath", &paths->classes},
        {"--class-path", &paths->classes},
        {"--class-path=", &paths->classes},
        {"-jar", &paths->jar},
        {"-Djava.class.path=", &paths->classes},
        {"-p", &paths->modules},
        {"--module-path", &paths->modules},
        {"--module-path=", &paths->modules},
    };
    const char **next = NULL;

    for (size_t at = strlen(words) + 1; at < length_bytes; at += strlen(words + at) + 1) {
        const char *word = words + at;

        if (next != NULL) {
            *next = word;
            if (next == &paths->jar)
                return; /* what follows is the program's */
            next = NULL;
            continue;
        }
        if (word[0] != '-')
            return; /* the main class */
        paths->has_probe |= cli_classes_names_probe(word);
        for (size_t i = 0; i < JW_COUNT_OF(options); i++) {
            const char *option = options[i].word;
            const size_t length = strlen(option);

            if (option[length - 1] != '=' && strcmp(word, option) == 0)
                next = options[i].path;
            else if (option[length - 1] == '=' && strncmp(word, option, length) == 0)
                *options[i].path = word + length;
        }
    }
}

/* Some packages of JDK 8 have no file that tells. */
static unsigned jdk_of(const struct look *look)
{
    char path[CLI_PATH_BYTES + 32], ours[CLI_PATH_BYTES], text[RELEASE_BYTES + 1];
    size_t length_bytes = 0;
    struct jw_error ignored = {{0}};

    if (look->home[0] == '\0')
        return 0;
    snprintf(path, sizeof path, "%s/release", look->home);
    if (our_path(look, path, ours) &&
        cli_read_text(ours, text, RELEASE_BYTES, &length_bytes, &ignored)) {
        text[length_bytes] = '\0';
        return cli_classes_jdk_of(text);
    }
    snprintf(path, sizeof path, "%s/jre/lib/rt.jar", look->home);
    return our_path(look, path, ours) && access(ours, F_OK) == 0 ? 8 : 0;
}

static void tell_cost(const struct look *look, bool has_probe)
{
    const unsigned jdk = jdk_of(look);

    if (jdk != 0 && jdk <= PROBE_PACE_DROPS_CODE && !has_probe)
        look->classes->dropping_jdk = jdk;
}

static bool take_command_line(struct look *look, struct jw_error *err)
{
    char path[sizeof look->target->place + 16];
    char *words = jw_alloc(LINE_BYTES + 1);
    struct paths paths = {.jar = NULL};
    size_t length_bytes = 0;

    if (words == NULL) {
        jw_error_set(err, "no memory for a command line");
        return false;
    }
    snprintf(path, sizeof path, "%s/cmdline", look->target->place);
    if (!cli_read_text(path, words, LINE_BYTES, &length_bytes, err)) {
        jw_free(words);
        return false;
    }
    find_paths(words, length_bytes, &paths);
    tell_cost(look, paths.has_probe);
    const char *classes = paths.jar != NULL ? paths.jar : paths.classes;
    const bool is_good = (classes == NULL || take_path(look, classes, err)) &&
                         (paths.modules == NULL || take_path(look, paths.modules, err));

    jw_free(words);
    return is_good;
}

bool cli_classes_take_jvm(struct cli_classes *classes, const struct attach_target *target,
                          struct jw_error *err)
{
    struct look *look = jw_alloc(sizeof *look);
    bool is_good = look != NULL;

    if (look == NULL) {
        jw_error_set(err, "no memory for the jars of a process");
        return false;
    }
    look->classes = classes;
    look->target = target;
    find_home(look);
    /* In the order of the class path first, which says what hides what. */
    is_good = take_command_line(look, err) && take_open(look, err);
    jw_free(look);
    if (is_good && classes->count == 0) {
        jw_error_set(err,
                     "process %d has no jar open and none in its class path that can be read; name "
                     "its jars or folders",
                     target->pid);
        return false;
    }
    return is_good;
}
