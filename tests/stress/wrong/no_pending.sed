# A claimed cell that names no buffer yet is passed: that of a thread that is kept there until the buffer was proved empty.
s/low == CELL_PENDING || low ==/low ==/
/^ *jw_store_release(&cell->word, cell_word(tid, (uint64_t)buffer + 1));$/i\    storm_pause_until_free(epoch, buffer, 1000);
