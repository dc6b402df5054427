/* Which objects' locks are taken at a site, where the recording has that (locks=objects). Context: tool. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli_feed_internal.h"
#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

/* So many are told in a line. */
#define TOLD 3u

/* One stands out that has a quarter, and three times what each of the others has at the mean. */
#define ONE_PART  4u
#define ONE_TIMES 3.0

/* Of a place's acquisitions so many may have no object before it is said that each is known: what is read at two moments differs by some. */
#define UNTOLD_ONE_IN 100u

void locks_read_taken(struct locks_site *site, const struct jfr_reader_event *event)
{
    site->taken = (struct locks_taken){
        .objects = cli_number_of(event, "objects"),
        .acquisitions = cli_number_of(event, "acquisitions"),
        .alone = cli_number_of(event, "oneThread"),
        .four_fifths = cli_number_of(event, "fourFifths"),
        .other_objects = cli_number_of(event, "otherObjects"),
        .other_acquisitions = cli_number_of(event, "otherAcquisitions"),
        .other_several = cli_number_of(event, "otherSeveral"),
    };
}

void locks_read_busy(struct locks_site *site, const struct jfr_reader_event *event)
{
    if (site->taken.told == LOCKS_BUSY)
        return;
    site->taken.busy[site->taken.told++] = (struct locks_busy){
        .hash = cli_number_of(event, "identityHash"),
        .acquisitions = cli_number_of(event, "acquisitions"),
        .threads = cli_number_of(event, "threads"),
    };
}

bool locks_has_taken(const struct locks_site *site)
{
    return site->taken.objects > 0 || site->taken.other_objects > 0;
}

bool locks_is_confined(const struct locks_site *site)
{
    const struct locks_taken *taken = &site->taken;
    const uint64_t told = taken->acquisitions + taken->other_acquisitions;

    return locks_has_taken(site) && taken->alone == taken->objects && taken->other_several == 0 &&
           told >= site->acquisitions - site->acquisitions / UNTOLD_ONE_IN;
}

static void share_of(uint64_t part, const struct locks_taken *taken, char out[32])
{
    const double all = (double)taken->acquisitions + (double)taken->other_acquisitions;
    const uint64_t tenths = all <= 0 ? 0 : (uint64_t)(1000 * (double)part / all + 0.5);

    snprintf(out, 32, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

/* Of all that are known of, without those for which there was no room. */
static bool is_one(const struct locks_taken *taken)
{
    const uint64_t top = taken->told == 0 ? 0 : taken->busy[0].acquisitions;
    const uint64_t others = taken->objects - 1;
    const uint64_t rest = taken->acquisitions > top ? taken->acquisitions - top : 0;

    return top > 0 && top >= taken->acquisitions / ONE_PART &&
           (double)top * (double)others >= ONE_TIMES * (double)rest;
}

static bool is_alike(const struct locks_taken *taken)
{
    return !is_one(taken) && taken->four_fifths * 2 > taken->objects;
}

static int put_spread(const struct locks_taken *taken, char *out, size_t room_bytes)
{
    char count[32], most[32], share[32];

    cli_text_digits(taken->objects, count);
    cli_text_digits(taken->four_fifths, most);
    share_of(taken->told == 0 ? 0 : taken->busy[0].acquisitions, taken, share);
    if (taken->objects == 0)
        return snprintf(out, room_bytes, "no object that there was room for");
    if (taken->objects == 1)
        return snprintf(out, room_bytes, "one object");
    if (is_one(taken))
        return snprintf(out, room_bytes, "1 of %s objects takes %s", count, share);
    if (!is_alike(taken))
        return snprintf(out, room_bytes, "%s of %s objects take four fifths", most, count);
    if (taken->told == 0)
        return snprintf(out, room_bytes, "%s objects much alike", count);
    return snprintf(out, room_bytes, "%s objects much alike, of which the busiest takes %s", count,
                    share);
}

static int put_threads(const struct locks_taken *taken, char *out, size_t room_bytes)
{
    char alone[32];

    cli_text_digits(taken->alone, alone);
    if (taken->objects == 0)
        return 0;
    if (taken->alone == taken->objects)
        return snprintf(out, room_bytes, ", %sused by one thread only",
                        taken->objects == 1 ? "" : "each ");
    if (taken->alone == 0)
        return snprintf(out, room_bytes, ", %sused by several threads",
                        taken->objects == 1 ? "" : "each ");
    return snprintf(out, room_bytes, ", %s of them used by one thread only", alone);
}

static int put_busy(const struct locks_taken *taken, char *out, size_t room_bytes)
{
    int used = 0;

    /* Of many that are alike, each of one thread, none is of interest. */
    if (taken->objects < 2 || (taken->alone == taken->objects && is_alike(taken)))
        return 0;
    for (size_t i = 0; i < taken->told && i < TOLD; i++) {
        char count[32];

        cli_text_digits(taken->busy[i].acquisitions, count);
        used += snprintf(out + used, room_bytes - (size_t)used, "%s@%" PRIx64 " %s by %s",
                         i == 0 ? "; " : ", ", taken->busy[i].hash, count,
                         taken->busy[i].threads <= 1   ? "one thread"
                         : taken->busy[i].threads == 2 ? "two threads"
                                                       : "more threads");
    }
    return used;
}

void locks_taken_text(const struct locks_site *site, char out[LOCKS_TAKEN_BYTES])
{
    const struct locks_taken *taken = &site->taken;
    int used;

    out[0] = '\0';
    if (!locks_has_taken(site))
        return;
    used = put_spread(taken, out, LOCKS_TAKEN_BYTES);
    used += put_threads(taken, out + used, LOCKS_TAKEN_BYTES - (size_t)used);
    if (taken->other_objects > 0) {
        char others[32], several[32], share[32];

        cli_text_digits(taken->other_objects, others);
        cli_text_digits(taken->other_several, several);
        share_of(taken->other_acquisitions, taken, share);
        used += snprintf(out + used, LOCKS_TAKEN_BYTES - (size_t)used,
                         ", and at most %s more with %s, of which %s were seen with several "
                         "threads: there was no room to tell them apart",
                         others, share, taken->other_several == 0 ? "none" : several);
    }
    (void)put_busy(taken, out + used, LOCKS_TAKEN_BYTES - (size_t)used);
}

void locks_json_taken(const struct locks_site *site, FILE *to)
{
    const struct locks_taken *taken = &site->taken;

    if (!locks_has_taken(site))
        return;
    fprintf(to,
            ",\"taken\":{\"objects\":%" PRIu64 ",\"object_acquisitions\":%" PRIu64
            ",\"one_thread\":%" PRIu64 ",\"four_fifths\":%" PRIu64 ",\"other_objects\":%" PRIu64
            ",\"other_acquisitions\":%" PRIu64 ",\"other_several\":%" PRIu64 ",\"busiest\":[",
            taken->objects, taken->acquisitions, taken->alone, taken->four_fifths,
            taken->other_objects, taken->other_acquisitions, taken->other_several);
    for (size_t i = 0; i < taken->told; i++)
        fprintf(to,
                "%s{\"identity_hash\":%" PRIu64 ",\"times\":%" PRIu64 ",\"by_threads\":%" PRIu64
                "}",
                i == 0 ? "" : ",", taken->busy[i].hash, taken->busy[i].acquisitions,
                taken->busy[i].threads);
    fputs("]}", to);
}
