/* The generation protocol, step by step on one thread: states, cells, proof, and every counter. */
#include "epoch/epoch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>

#include "base/counters.h"

#define TID 4711

static struct epoch *epoch;

static void open_epoch(void)
{
    struct jw_error err = {0};

    epoch = epoch_open(&err);
    cr_assert(epoch != NULL, "%s", err.message);
}

static void close_epoch(void)
{
    epoch_close(epoch);
}

static void retire(int buffer)
{
    cr_assert(epoch_prove(epoch, buffer));
    epoch_free(epoch, buffer);
}

TestSuite(epoch, .init = open_epoch, .fini = close_epoch, .timeout = 1800);

Test(epoch, starts_with_one_active_buffer_in_generation_1)
{
    cr_assert(eq(int, epoch_active(epoch), 0));
    cr_assert(eq(int, epoch_state(epoch, 0), EPOCH_ACTIVE));
    cr_assert(eq(int, epoch_state(epoch, 1), EPOCH_FREE));
    cr_assert(eq(int, epoch_state(epoch, 2), EPOCH_FREE));
    cr_assert(eq(u64, epoch_generation(epoch, 0), 1));
    cr_assert(eq(u64, epoch_generation(epoch, 1), 0));
    cr_assert(eq(u32, epoch_cells_taken(epoch), 0));
}

Test(epoch, an_activation_holds_one_cell_and_names_the_active_buffer)
{
    struct epoch_ticket ticket;

    cr_assert(epoch_enter(epoch, TID, &ticket));
    cr_assert(eq(u32, ticket.buffer, 0));
    cr_assert(lt(u32, ticket.cell_index, EPOCH_CELLS));
    cr_assert(eq(u32, epoch_cells_taken(epoch), 1));
    cr_assert(eq(u32, epoch_cells_inside(epoch, 0), 1));
    cr_assert(eq(u32, epoch_cells_inside(epoch, 1), 0));
    epoch_leave(epoch, &ticket);
    cr_assert(eq(u32, epoch_cells_taken(epoch), 0));
}

Test(epoch, rotation_closes_the_active_buffer_and_numbers_the_next)
{
    const uint64_t generations = jw_counter(JW_COUNT_GENERATIONS);
    struct epoch_ticket ticket;

    cr_assert(eq(int, epoch_next(epoch), 1));
    cr_assert(eq(int, epoch_rotate(epoch), 0));
    cr_assert(eq(int, epoch_active(epoch), 1));
    cr_assert(eq(int, epoch_state(epoch, 0), EPOCH_CLOSED));
    cr_assert(eq(int, epoch_state(epoch, 1), EPOCH_ACTIVE));
    cr_assert(eq(u64, epoch_generation(epoch, 0), 1));
    cr_assert(eq(u64, epoch_generation(epoch, 1), 2));
    cr_assert(eq(u64, jw_counter(JW_COUNT_GENERATIONS), generations + 1));

    cr_assert(epoch_enter(epoch, TID, &ticket));
    cr_assert(eq(u32, ticket.buffer, 1));
    epoch_leave(epoch, &ticket);
}

Test(epoch, generation_numbers_grow_by_one_for_ever)
{
    for (uint64_t number = 2; number < 1000; number++) {
        const int closed = epoch_rotate(epoch);

        cr_assert(ne(int, closed, EPOCH_NONE));
        cr_assert(eq(u64, epoch_generation(epoch, epoch_active(epoch)), number));
        retire(closed);
    }
}

Test(epoch, rotation_is_put_off_and_counted_when_no_buffer_is_free)
{
    const uint64_t put_off = jw_counter(JW_COUNT_ROTATION_PUT_OFF);

    cr_assert(eq(int, epoch_rotate(epoch), 0));
    cr_assert(eq(int, epoch_rotate(epoch), 1));
    cr_assert(eq(int, epoch_next(epoch), EPOCH_NONE));
    for (uint64_t i = 1; i <= 5; i++) {
        cr_assert(eq(int, epoch_rotate(epoch), EPOCH_NONE));
        cr_assert(eq(u64, jw_counter(JW_COUNT_ROTATION_PUT_OFF), put_off + i));
    }
    cr_assert(eq(int, epoch_active(epoch), 2));
    cr_assert(eq(u64, epoch_generation(epoch, 2), 3));
    retire(1);
    cr_assert(eq(int, epoch_rotate(epoch), 2));
    cr_assert(eq(int, epoch_active(epoch), 1));
    cr_assert(eq(u64, epoch_generation(epoch, 1), 4));
}

Test(epoch, only_a_closed_buffer_can_be_proved_empty)
{
    cr_assert(not(epoch_prove(epoch, 0)), "active");
    cr_assert(not(epoch_prove(epoch, 1)), "free");
    epoch_rotate(epoch);
    cr_assert(epoch_prove(epoch, 0));
    cr_assert(epoch_prove(epoch, 0), "stays proved");
    epoch_free(epoch, 0);
    cr_assert(not(epoch_prove(epoch, 0)));
}

Test(epoch, a_buffer_with_somebody_inside_is_not_proved_until_he_leaves)
{
    struct epoch_ticket ticket;

    cr_assert(epoch_enter(epoch, TID, &ticket));
    epoch_rotate(epoch);
    for (int i = 0; i < 100; i++)
        cr_assert(not(epoch_prove(epoch, 0)));
    epoch_leave(epoch, &ticket);
    cr_assert(epoch_prove(epoch, 0));
}

Test(epoch, one_stuck_activation_holds_one_buffer_and_the_others_take_turns)
{
    const uint64_t put_off = jw_counter(JW_COUNT_ROTATION_PUT_OFF);
    struct epoch_ticket stuck;

    cr_assert(epoch_enter(epoch, TID, &stuck));
    epoch_rotate(epoch);
    for (int i = 0; i < 1000; i++) {
        const int closed = epoch_rotate(epoch);

        cr_assert(ne(int, closed, EPOCH_NONE));
        cr_assert(ne(int, closed, 0));
        cr_assert(not(epoch_prove(epoch, 0)));
        retire(closed);
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_ROTATION_PUT_OFF), put_off));
    epoch_leave(epoch, &stuck);
    retire(0);
}

Test(epoch, who_enters_after_the_rotation_is_not_in_the_way_of_the_closed_buffer)
{
    struct epoch_ticket newer;

    epoch_rotate(epoch);
    cr_assert(epoch_enter(epoch, TID, &newer));
    cr_assert(epoch_prove(epoch, 0));
    epoch_leave(epoch, &newer);
}

Test(epoch, cells_seen_once_need_not_be_free_again)
{
    struct epoch_ticket old, newer;

    cr_assert(epoch_enter(epoch, TID, &old));
    epoch_rotate(epoch);
    cr_assert(not(epoch_prove(epoch, 0)), "all but one cell are seen now");
    cr_assert(epoch_enter(epoch, TID, &newer));
    epoch_leave(epoch, &old);
    cr_assert(epoch_prove(epoch, 0));
    epoch_leave(epoch, &newer);
}

Test(epoch, what_was_seen_in_one_life_proves_nothing_in_the_next)
{
    struct epoch_ticket ticket;

    epoch_rotate(epoch); /* closes 0 */
    retire(0);
    epoch_rotate(epoch); /* closes 1; 2 is active */
    retire(1);
    epoch_rotate(epoch); /* closes 2; 0 is active again */
    cr_assert(eq(int, epoch_active(epoch), 0));
    cr_assert(epoch_enter(epoch, TID, &ticket));
    epoch_rotate(epoch);
    cr_assert(not(epoch_prove(epoch, 0)));
    epoch_leave(epoch, &ticket);
    cr_assert(epoch_prove(epoch, 0));
}

Test(epoch, m51_nested_activations_take_cells_of_their_own_until_the_probes_run_out)
{
    const uint64_t lost = jw_counter(JW_COUNT_LOST_NO_CELL);
    struct epoch_ticket tickets[EPOCH_PROBES], refused;

    for (uint32_t i = 0; i < EPOCH_PROBES; i++) {
        cr_assert(epoch_enter(epoch, TID, &tickets[i]));
        for (uint32_t j = 0; j < i; j++)
            cr_assert(ne(u32, tickets[i].cell_index, tickets[j].cell_index));
    }
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_NO_CELL), lost));
    cr_assert(not(epoch_enter(epoch, TID, &refused)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_NO_CELL), lost + 1));
    epoch_leave(epoch, &tickets[3]);
    cr_assert(epoch_enter(epoch, TID, &refused));
    cr_assert(eq(u32, refused.cell_index, tickets[3].cell_index));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_NO_CELL), lost + 1));
}

struct entrant {
    pthread_barrier_t *all_inside;
    struct epoch_ticket ticket;
    bool is_inside;
};

static void *enter_and_wait(void *arg)
{
    struct entrant *entrant = arg;

    entrant->is_inside = epoch_enter(epoch, TID, &entrant->ticket);
    pthread_barrier_wait(entrant->all_inside);
    if (entrant->is_inside)
        epoch_leave(epoch, &entrant->ticket);
    return NULL;
}

Test(epoch, threads_take_different_cells)
{
    enum { THREADS = 16 };
    struct entrant entrants[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t all_inside;

    pthread_barrier_init(&all_inside, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        entrants[i] = (struct entrant){.all_inside = &all_inside};
        cr_assert(eq(int, pthread_create(&threads[i], NULL, enter_and_wait, &entrants[i]), 0));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        cr_assert(entrants[i].is_inside);
        for (int j = 0; j < i; j++)
            cr_assert(ne(u32, entrants[i].ticket.cell_index, entrants[j].ticket.cell_index));
    }
    cr_assert(eq(u32, epoch_cells_taken(epoch), 0));
    pthread_barrier_destroy(&all_inside);
}

struct life_list {
    uint32_t dead_tid;
    uint32_t asked_count;
};

static bool is_not_the_dead_one(uint32_t tid, void *arg)
{
    struct life_list *list = arg;

    list->asked_count++;
    return tid != list->dead_tid;
}

Test(epoch, the_cell_of_a_dead_thread_is_emptied_and_counted)
{
    const uint64_t emptied = jw_counter(JW_COUNT_CELLS_EMPTIED);
    struct life_list list = {.dead_tid = 99};
    struct epoch_ticket living, dead;

    cr_assert(epoch_enter(epoch, 98, &living));
    cr_assert(epoch_enter(epoch, 99, &dead));
    epoch_rotate(epoch);
    cr_assert(eq(u32, epoch_empty_dead_cells(epoch, is_not_the_dead_one, &list), 1));
    cr_assert(eq(u32, list.asked_count, 2));
    cr_assert(eq(u64, jw_counter(JW_COUNT_CELLS_EMPTIED), emptied + 1));
    cr_assert(eq(u32, epoch_cells_inside(epoch, 0), 1));
    cr_assert(not(epoch_prove(epoch, 0)));
    epoch_leave(epoch, &living);
    cr_assert(epoch_prove(epoch, 0));
    cr_assert(eq(u32, epoch_empty_dead_cells(epoch, is_not_the_dead_one, &list), 0));
}

Test(epoch, misuse_is_noticed_and_changes_nothing)
{
    const uint64_t broken = jw_counter(JW_COUNT_INVARIANT_BROKEN);
    const uint64_t lost = jw_counter(JW_COUNT_LOST_NO_CELL);
    struct epoch_ticket ticket;

#if !defined(JW_CHECKED) || !JW_CHECKED
    epoch_free(epoch, 0);
    cr_assert(eq(int, epoch_state(epoch, 0), EPOCH_ACTIVE));
    cr_assert(not(epoch_prove(epoch, EPOCH_NONE)));
    cr_assert(not(epoch_enter(epoch, 0, &ticket)));
    cr_assert(eq(u64, jw_counter(JW_COUNT_INVARIANT_BROKEN), broken + 3));
    cr_assert(eq(u64, jw_counter(JW_COUNT_LOST_NO_CELL), lost + 1));
    cr_assert(epoch_enter(epoch, TID, &ticket));
    epoch_rotate(epoch);
    cr_assert(not(epoch_prove(epoch, 0)));
    epoch_free(epoch, 0);
    cr_assert(eq(int, epoch_state(epoch, 0), EPOCH_CLOSED));
    cr_assert(eq(u64, jw_counter(JW_COUNT_INVARIANT_BROKEN), broken + 4));
#else
    (void)broken, (void)lost, (void)ticket;
    cr_skip_test("a checked build traps here");
#endif
}
