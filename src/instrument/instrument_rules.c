/* Rules of an attach. Context: the agent's thread. */
#include "instrument/instrument_attach_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A plain file, which cannot keep the agent waiting. -1 and `err`: it cannot be read. */
static ssize_t read_file(const char *path, char *text, size_t room_bytes, struct jw_error *err)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat file;
    size_t used_bytes = 0;
    ssize_t count = -1;

    if (fd < 0) {
        jw_error_set(err, "rules %.300s: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) {
        jw_error_set(err, "rules %.300s: no file that can be read whole", path);
        close(fd);
        return -1;
    }
    while (used_bytes < room_bytes &&
           (count = read(fd, text + used_bytes, room_bytes - used_bytes)) != 0) {
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            break;
        used_bytes += (size_t)count;
    }
    if (count < 0)
        jw_error_set(err, "rules %.300s: %s", path, strerror(errno));
    close(fd);
    return count < 0 ? -1 : (ssize_t)used_bytes;
}

bool instrument_replace_rules(struct instrument_attach *attach, struct jw_error *err)
{
    const size_t room_bytes = RULES_TEXT_BYTES + 1; /* what is too long is seen to be */
    struct jw_error why = {0};
    bool is_good = false;
    char *text;

    if (attach->rules_path[0] == '\0')
        return true;
    text = jw_alloc(room_bytes);
    if (text == NULL) {
        jw_error_set(err, "no memory for rules");
        return false;
    }
    const ssize_t length_bytes = read_file(attach->rules_path, text, room_bytes, err);
    if (length_bytes >= 0) {
        is_good =
            probe_replace_rules(attach->probe, text, (size_t)length_bytes, &attach->replaced, &why);
        if (!is_good)
            jw_error_set(err, "%.300s: %s", attach->rules_path, why.message);
    }
    jw_free(text);
    return is_good;
}

/* Places of one method have the same rules, which are large. */
static struct rules *rules_of_one_before(const struct instrument_attach *attach, uint32_t handler)
{
    for (uint32_t i = 0; i < handler; i++) {
        if (strcmp(attach->probe->handlers[i].rules, attach->probe->handlers[handler].rules) == 0)
            return attach->rules[i];
    }
    return NULL;
}

static bool is_of_one_before(const struct instrument_attach *attach, uint32_t handler)
{
    for (uint32_t i = 0; i < handler; i++) {
        if (attach->rules[i] == attach->rules[handler])
            return true;
    }
    return false;
}

bool instrument_parse_rules(struct instrument_attach *attach, struct jw_error *err)
{
    for (uint32_t i = 0; i < attach->probe->handler_count; i++) {
        const struct probe_handler *handler = &attach->probe->handlers[i];

        attach->rules[i] = rules_of_one_before(attach, i);
        if (attach->rules[i] == NULL)
            attach->rules[i] = rules_parse(handler->rules, strlen(handler->rules), err);
        if (attach->rules[i] == NULL)
            return false;
        attach->handlers[i] = (struct probe_weave_handler){
            .handler = handler, .rules = attach->rules[i], .attach = attach->number, .number = i};
    }
    return true;
}

void instrument_close_rules(struct instrument_attach *attach)
{
    for (uint32_t i = 0; attach->probe != NULL && i < attach->probe->handler_count; i++) {
        if (!is_of_one_before(attach, i))
            rules_close(attach->rules[i]);
    }
}
