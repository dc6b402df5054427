/*
 * Samples whose thread had been asked to stop. Context: tool.
 *
 * The agent says so in an event of its own, right before the sample (jfr_types.def).
 */
#include <string.h>

#include "cli/cli_contexts_internal.h"
#include "cli/cli_feed_internal.h"

/* Words that stay. */
static const char *asked_word(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    static const char *const words[] = {"handshake", "stack watermark", "safepoint or handshake"};
    struct jfr_value reason;

    if (!jfr_value_field(&event->value, "reason", &reason))
        return CLI_ASKED_SAFEPOINT;
    if (jfr_value_text(&reason, &feed->text))
        for (size_t i = 0; i < JW_COUNT_OF(words); i++)
            if (strcmp(feed->text.text, words[i]) == 0)
                return words[i];
    return "other";
}

void cli_note_asked(struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct cli_asked *asked = &feed->asked;
    struct jfr_value thread;

    if (cli_type_of(feed, event)->kind == CLI_KIND_ASKED)
        *asked = (struct cli_asked){.by = asked_word(feed, event),
                                    .thread_key = cli_thread_key(event, &thread),
                                    .is_fresh = true};
    else if (asked->is_fresh)
        asked->is_fresh = false;
    else
        asked->by = NULL;
}

const char *cli_asked_by(const struct cli_feed *feed, const struct jfr_reader_event *event)
{
    struct jfr_value thread;

    return feed->asked.by != NULL && feed->asked.thread_key == cli_thread_key(event, &thread)
               ? feed->asked.by
               : NULL;
}
