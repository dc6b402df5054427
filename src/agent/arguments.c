/* What a recording tells of the command line: which part is the JVM's, which the program's, no secrets; dump. */
#include <string.h>

#include "agent/agent.h"
#include "base/secrets.h"

/* Where an argument begins from which on `text` stands in arguments that end with NULs, taken for blanks; length_bytes: nowhere.
 * `from` is where one begins, and not the first. */
static size_t find(const char *arguments, size_t length_bytes, size_t from, const char *text)
{
    const size_t text_bytes = strlen(text);

    for (size_t at = from; text_bytes > 0 && at + text_bytes <= length_bytes; at++) {
        size_t same_bytes = 0;

        while (same_bytes < text_bytes &&
               (arguments[at + same_bytes] == '\0' ? ' ' : arguments[at + same_bytes]) ==
                   text[same_bytes])
            same_bytes++;
        if (same_bytes == text_bytes && arguments[at - 1] == '\0')
            return at;
    }
    return length_bytes;
}

void arguments_tell(const char *command, size_t length_bytes, const char *java_command,
                    struct arguments_told *told)
{
    static const char jar[] = "-jar"; /* belongs to the main part that follows it */
    const size_t program_bytes = strnlen(command, length_bytes);
    const size_t begin = program_bytes < length_bytes ? program_bytes + 1 : length_bytes;
    const size_t main_at = find(command, length_bytes, begin, java_command);
    size_t end = main_at;

    /* Where one argument ends is known of the command line alone. */
    if (main_at < length_bytes)
        jw_mask_arguments(command + main_at, length_bytes - main_at, told->java, sizeof told->java);
    else
        jw_mask_line(java_command, told->java, sizeof told->java);

    while (end > begin && command[end - 1] == '\0')
        end--;
    if (end - begin >= sizeof jar - 1 && memcmp(command + end - (sizeof jar - 1), jar, 4) == 0 &&
        (end - begin == sizeof jar - 1 || command[end - sizeof jar] == '\0'))
        end -= end - begin == sizeof jar - 1 ? sizeof jar - 1 : sizeof jar;
    jw_mask_arguments(command + begin, end - begin, told->jvm, sizeof told->jvm);
}
