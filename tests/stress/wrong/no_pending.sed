# A claimed cell that names no buffer yet is passed.
s/low == CELL_PENDING || low ==/low ==/
