# What every variant gets, and the right one alone: pauses where two accesses of the protocol must not change places.
/^#include "epoch\/epoch.h"$/a\
\
void storm_pause(void);\
void storm_pause_until_free(const struct epoch *epoch, uint32_t buffer, uint64_t most_ms);
/^ *if (!jw_cas_seq_cst(&cell->word, &expected, cell_word(tid, CELL_PENDING)))$/i\    storm_pause();
/^ *jw_store_release(&cell->word, cell_word(tid, (uint64_t)buffer + 1));$/i\    storm_pause_until_free(epoch, buffer, 8);
/^    jw_store_relaxed(&epoch->lives\[next\].number, /i\    storm_pause();
