/* Who had the locks that were waited for at a site, and what these waited for meanwhile. Context: tool. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli_locks_internal.h"
#include "cli/cli_text_internal.h"

/* A new one, or the one that is there; NULL: no memory. */
static struct locks_owner *owner_of(struct locks *all, struct locks_site *site,
                                    const struct locks_owner *wanted)
{
    const uint32_t key[] = {(uint32_t)(site - all->sites), wanted->owner, wanted->next_lock,
                            wanted->next_owner};
    uint64_t *known = jw_map_put(&all->owners, key, sizeof key);

    if (known == NULL)
        return NULL;
    if (*known != 0)
        return &site->owners[*known - 1];
    if (site->owner_count == site->owner_capacity) {
        const size_t capacity = site->owner_capacity == 0 ? 4 : 2 * site->owner_capacity;
        void *owners = jw_realloc(site->owners, jw_mul_bytes(capacity, sizeof *site->owners));

        if (owners == NULL)
            return NULL;
        site->owners = owners;
        site->owner_capacity = capacity;
    }
    site->owners[site->owner_count] = (struct locks_owner){
        .owner = wanted->owner, .next_lock = wanted->next_lock, .next_owner = wanted->next_owner};
    *known = ++site->owner_count;
    return &site->owners[*known - 1];
}

bool locks_take_owner(struct locks *all, struct locks_site *site,
                      const struct contention_wait *wait)
{
    int64_t next_ns = 0;
    const struct contention_wait *next = contention_next_of(&all->waits, wait, &next_ns);
    struct locks_owner *owner =
        owner_of(all, site,
                 &(struct locks_owner){.owner = wait->owner,
                                       .next_lock = next == NULL ? 0 : next->lock,
                                       .next_owner = next == NULL ? 0 : next->owner});

    if (owner == NULL)
        return false;
    owner->waits++;
    owner->waited_ns += wait->end_ns - wait->begin_ns;
    owner->next_ns += next_ns;
    return true;
}

static int compare_owners(const void *left, const void *right)
{
    const struct locks_owner *a = left, *b = right;

    if (a->waited_ns != b->waited_ns)
        return a->waited_ns > b->waited_ns ? -1 : 1;
    return a->owner < b->owner ? -1 : a->owner > b->owner;
}

void locks_sort_owners(struct locks_site *site)
{
    if (site->owner_count > 0)
        qsort(site->owners, site->owner_count, sizeof *site->owners, compare_owners);
}

/* ---- words ---- */

static void clean(const struct locks *all, uint32_t number, const char *none,
                  char out[CLI_CELL_BYTES])
{
    cli_text_clean(number == 0 ? none : contention_text_of(&all->waits, number), out);
}

void locks_owner_text(const struct locks *all, const struct locks_owner *owner,
                      char out[LOCKS_OWNER_BYTES])
{
    char name[CLI_CELL_BYTES], lock[CLI_CELL_BYTES], next[CLI_CELL_BYTES];
    char waited[CONTENTION_WORD_BYTES], meanwhile[CONTENTION_WORD_BYTES], waits[32];

    clean(all, owner->owner, "[unknown thread]", name);
    contention_time(owner->waited_ns, waited);
    cli_text_digits(owner->waits, waits);
    const int used = snprintf(out, LOCKS_OWNER_BYTES, "%s in %s %s  %s", waited, waits,
                              owner->waits == 1 ? "wait" : "waits", name);
    if (owner->next_ns == 0 || used < 0 || (unsigned)used >= LOCKS_OWNER_BYTES)
        return;
    clean(all, owner->next_lock, "[no object]", lock);
    clean(all, owner->next_owner, "[unknown thread]", next);
    contention_time(owner->next_ns, meanwhile);
    snprintf(out + used, LOCKS_OWNER_BYTES - (unsigned)used, ", who waited %s for %s of %s",
             meanwhile, lock, next);
}

/* ---- JSON ---- */

static void put_name(const struct locks *all, const char *field, uint32_t number, FILE *to)
{
    fprintf(to, ",\"%s\":", field);
    if (number == 0)
        fputs("null", to);
    else
        cli_text_json(contention_text_of(&all->waits, number), to);
}

void locks_json_owners(const struct locks *all, const struct locks_site *site, FILE *to)
{
    fputs(",\"owners\":[", to);
    for (size_t i = 0; i < site->owner_count; i++) {
        const struct locks_owner *owner = &site->owners[i];

        fprintf(to, "%s{\"waits\":%" PRIu64 ",\"waited_ns\":%" PRId64, i == 0 ? "" : ",",
                owner->waits, owner->waited_ns);
        put_name(all, "owner", owner->owner, to);
        if (owner->next_ns > 0) {
            fprintf(to, ",\"next_ns\":%" PRId64, owner->next_ns);
            put_name(all, "next_class", owner->next_lock, to);
            put_name(all, "next_owner", owner->next_owner, to);
        }
        fputs("}", to);
    }
    fputs("]", to);
}
