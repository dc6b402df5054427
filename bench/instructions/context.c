/* What a handler does to learn what its thread works for. */
#include "counted.h"

#include "context/context.h"

#define TID     4711
#define NO_NAME ((struct context_text){NULL, 0})
#define VIRTUAL 77

static struct generations *generations;
static struct generation *generation;
static struct epoch_ticket ticket;

static void open_context(unsigned operations)
{
    const struct generations_config config = {.memory_bytes = 0};
    const struct context_ids ids = {1, 2, 3, 4};
    struct jw_error err = {0};

    (void)operations;
    counted_need(contexts_open(&err), "contexts_open", &err);
    generations = generations_open(&config, &err);
    counted_need(generations != NULL, "generations_open", &err);
    generation = generation_enter(generations, TID, &ticket);
    counted_need(generation != NULL, "generation_enter", NULL);
    const context_slot slot = context_bind(VIRTUAL, true);
    const int tenant = context_attribute("tenant", 6, &err),
              shop = context_attribute("shop", 4, &err);
    counted_need(tenant >= 0 && shop >= 0, "context_attribute", &err);
    context_set(slot, &ids);
    counted_need(context_attribute_set(slot, (unsigned)tenant, "acme", 4) &&
                     context_attribute_set(slot, (unsigned)shop, "north", 5),
                 "context_attribute_set", NULL);
    counted_need(context_capture(generation, VIRTUAL, NO_NAME) != DICT_NONE, "context_capture",
                 NULL);
}

static void close_context(void)
{
    generation_leave(generations, &ticket);
    generations_close(generations);
}

static void capture(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += context_capture(generation, VIRTUAL, NO_NAME);
}

static void capture_virtual(unsigned operations)
{
    for (unsigned i = 0; i < operations; i++)
        counted_sink += context_capture(generation, VIRTUAL + 1, NO_NAME);
}

const struct counted counted_context[] = {
    {"context_capture_2_attributes", open_context, capture, close_context, 100, 1100},
    {"context_capture_virtual", open_context, capture_virtual, close_context, 100, 1100},
};
const size_t counted_context_count = JW_COUNT_OF(counted_context);
