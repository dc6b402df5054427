/*
 * What a timeline shows in lanes below its samples: events that have a time of their own and are no samples. A lane is a
 * row of the table below: the event's type, the lane's name, and what it says. Context: tool.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/cli_feed_internal.h"
#include "profile/profile_moments.h"

#define TEXT_BYTES 160u

struct cli_lane {
    const char *type;
    const char *name;
    /* What an event says; texts should be few. NULL: nothing. */
    void (*tell)(struct cli_feed *feed, const struct jfr_reader_event *event,
                 char text[TEXT_BYTES]);
};

/* "GC Pause", "Pause Young"; of a collection with several pauses each is one. */
static void tell_pause(struct cli_feed *feed, const struct jfr_reader_event *event,
                       char text[TEXT_BYTES])
{
    struct jfr_value name;

    if (jfr_value_field(&event->value, "name", &name) && jfr_value_text(&name, &feed->text))
        snprintf(text, TEXT_BYTES, "%s", feed->text.text);
}

/* "CPU 10 ms to 20 ms"; of a clock that is not there, or stays, nothing is said. */
static size_t tell_clock(const char *clock, uint64_t from_ns, uint64_t to_ns, char *text,
                         size_t room)
{
    const bool is_whole = from_ns % JW_NS_PER_MS == 0 && to_ns % JW_NS_PER_MS == 0;
    const uint64_t divisor = is_whole ? JW_NS_PER_MS : 1000;
    const char *unit = is_whole ? "ms" : "us";

    if (from_ns == to_ns)
        return 0;
    return (size_t)snprintf(text, room, "%s %" PRIu64 " %s to %" PRIu64 " %s", clock,
                            from_ns / divisor, unit, to_ns / divisor, unit);
}

static void tell_interval(struct cli_feed *feed, const struct jfr_reader_event *event,
                          char text[TEXT_BYTES])
{
    const size_t used = tell_clock("CPU", cli_number_of(event, "from"), cli_number_of(event, "to"),
                                   text, TEXT_BYTES);

    (void)feed;
    tell_clock(used > 0 ? ", wall clock" : "wall clock", cli_number_of(event, "fromWall"),
               cli_number_of(event, "toWall"), text + used, TEXT_BYTES - used);
}

/* "java.util.HashMap for worker-1". */
static void tell_lock(struct cli_feed *feed, const struct jfr_reader_event *event,
                      char text[TEXT_BYTES])
{
    const bool is_park = strcmp(event->type_name, "jdk.ThreadPark") == 0;
    struct jfr_value field, name, thread;
    size_t used = 0;

    if (jfr_value_field(&event->value, is_park ? "parkedClass" : "monitorClass", &field) &&
        jfr_value_field(&field, "name", &name) && jfr_value_text(&name, &feed->text))
        used = (size_t)snprintf(text, TEXT_BYTES, "%.90s", feed->text.text);
    for (char *at = text; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
    (void)cli_thread_key(event, &thread);
    if (thread.reader != NULL && jfr_value_field(&thread, "javaName", &field) &&
        jfr_value_text(&field, &feed->text) && feed->text.text[0] != '\0')
        snprintf(text + used, TEXT_BYTES - used, "%sfor %.60s", used == 0 ? "" : " ",
                 feed->text.text);
}

/* "G1CollectFull, for main"; the operation or the thread may be unknown. */
static void tell_delay(struct cli_feed *feed, const struct jfr_reader_event *event,
                       char text[TEXT_BYTES])
{
    struct jfr_value field, thread;
    size_t used = 0;

    if (jfr_value_field(&event->value, "operation", &field) && jfr_value_text(&field, &feed->text))
        used = (size_t)snprintf(text, TEXT_BYTES, "%.80s", feed->text.text);
    (void)cli_thread_key(event, &thread);
    if (thread.reader != NULL && jfr_value_field(&thread, "javaName", &field) &&
        jfr_value_text(&field, &feed->text))
        snprintf(text + used, TEXT_BYTES - used, "%sfor %.60s", used == 0 ? "" : ", ",
                 feed->text.text);
}

/*
 * Source: OpenJDK, jdk.jfr metadata.xml, GCPhasePause (JDK 17 and 25): startTime, duration in ticks, gcId, name; SafepointBegin:
 * startTime, duration in ticks, safepointId; JavaMonitorEnter: monitorClass; ThreadPark: parkedClass. jaywalk.IntervalChange, jaywalk.SafepointDelay: jfr_types.def.
 */
static const struct cli_lane cli_lanes[] = {
    {"jdk.GCPhasePause", "GC pauses", tell_pause},
    {"jaywalk.IntervalChange", "changes of interval", tell_interval},
    {"jaywalk.SafepointDelay", "slow safepoints", tell_delay},
    {"jdk.SafepointBegin", "waits for safepoints", NULL},
    {"jdk.JavaMonitorEnter", "waits for locks", tell_lock},
    {"jdk.ThreadPark", "waits for locks", tell_lock},
};

const struct cli_lane *cli_lane_of(const char *type)
{
    for (size_t i = 0; i < JW_COUNT_OF(cli_lanes); i++) {
        if (strcmp(cli_lanes[i].type, type) == 0)
            return &cli_lanes[i];
    }
    return NULL;
}

/* Not in the window that was asked for. */
static bool is_outside(const struct cli_part *part, double begin_ns, double end_ns)
{
    return part != NULL && (end_ns < (double)part->begin_ns || begin_ns > (double)part->end_ns);
}

void cli_keep_span(struct cli_feed *feed, const struct jfr_reader_event *event,
                   const struct cli_lane *lane)
{
    struct profile_moments *moments = feed->wish->moments;
    const double begin_us = cli_moment_us(feed, event);
    const double base_ns = (double)profile_moments_base_unix_ns(moments);
    char text[TEXT_BYTES] = "";
    int64_t length_ns;

    if (cli_is_park_of_no_lock(feed, event))
        return;
    if (!cli_duration_ns(&feed->chunk, event, &length_ns) || length_ns < 0)
        length_ns = 0;
    if (is_outside(feed->wish->part, base_ns + begin_us * 1e3,
                   base_ns + begin_us * 1e3 + (double)length_ns))
        return;
    if (lane->tell != NULL)
        lane->tell(feed, event, text);
    profile_moments_span(moments, &(struct profile_span){
                                      .begin_us = (int64_t)begin_us,
                                      .length_us = (uint64_t)length_ns / 1000,
                                      .lane = profile_moments_lane(moments, lane->name),
                                      .text = profile_moments_text(moments, text),
                                  });
    feed->is_out_of_memory |= profile_moments_failed(moments);
}
