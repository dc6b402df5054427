package java.lang;

/**
 * Places of the census of locks on virtual threads. They count in cells of their carrier, with plain stores: a virtual thread leaves it where it waits alone, and
 * nothing here waits, so nothing comes between two instructions that do not. What might is behind all that is written.
 *
 * <p>It may leave it while it has a lock, and end the hold on another one. So a hold whose time is taken is noted by thread and method, where both are found
 * again: in a place that is claimed when it begins, among some that stand behind each other. Nobody else writes there until it is given back, and who has no such
 * hold sees that by a look at these few.
 */
final class JaywalkVirtualLocks {
    /** Cells of carriers, and places of holds; powers of two. */
    private static final int CARRIERS = 1024, PLACES = 8192;

    /** How many, one behind the other, a thread looks at. */
    private static final int NEIGHBOURS = 4;

    /** Claims: of places, and behind them of cells. */
    private static final int CELLS_AT = PLACES + NEIGHBOURS - 1;

    /** Holds that the agent looks at, at the most, to see whether they go on. */
    static final int LOOKED = 16;

    private static final int COUNT = JaywalkLocks.COUNT, NEXT = JaywalkLocks.NEXT, LAST = JaywalkLocks.LAST;

    /** Where there is no census, or no virtual thread. */
    static final JaywalkVirtualLocks NONE = new JaywalkVirtualLocks(0, 1, 1);

    /** Never null. */
    static JaywalkVirtualLocks now = NONE;

    final JaywalkCells[] carried;

    private final int session, cellsMask, placesMask;

    /** Of each place: whose hold it is, null: nobody's. */
    private final Thread[] owners;
    private final int[] methods, sites;

    /** Locks of the same method that it has taken further in, and whose time is not taken. */
    private final int[] within;
    private final long[] begunNs, weights;

    /** The agent's: the hold that began then is to be given up. */
    private final long[] dropNs;

    /** Where the agent has looked last. */
    private int looked;

    /** Holds whose time is told nowhere, beside those that carriers know of; of several at once one may be left out. */
    int lost;

    private JaywalkVirtualLocks(int session, int carriers, int places) {
        final int room = places + NEIGHBOURS - 1;

        this.session = session;
        cellsMask = carriers - 1;
        placesMask = places - 1;
        carried = new JaywalkCells[carriers + NEIGHBOURS - 1];
        for (int i = 0; i < carried.length; i++) {
            carried[i] = new JaywalkCells(CELLS_AT + i);
        }
        owners = new Thread[room];
        methods = new int[room];
        sites = new int[room];
        within = new int[room];
        begunNs = new long[room];
        weights = new long[room];
        dropNs = new long[room];
    }

    static JaywalkVirtualLocks begin(int session) {
        JaywalkClaims.begin(session);
        return JaywalkSlot.virtualThread == null ? NONE : new JaywalkVirtualLocks(session, CARRIERS, PLACES);
    }

    // ---- places ----

    static void enter(int site, int method, Thread thread, Thread carrier) {
        final JaywalkVirtualLocks all = now;
        final JaywalkCells cells = all.carried[(int) JaywalkNumber.of(carrier) & all.cellsMask];

        if (cells.owner == carrier) {
            final long[] page = cells.page(site);

            if (page != null) {
                final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
                final long count = page[at + COUNT];
                final long seen = page[JaywalkCells.SEEN + site % JaywalkCells.PER_PAGE];

                if (count < page[at + NEXT] && (seen == JaywalkCells.SEVERAL || seen == JaywalkLocks.hash(thread)) && all.find(thread, method) < 0) {
                    page[at + COUNT] = count + 1;
                    return;
                }
            }
        }
        all.enterSlowly(site, method, thread, carrier);
    }

    static void exit(Thread thread, int method) {
        final JaywalkVirtualLocks all = now;
        final int place = all.find(thread, method);

        if (place >= 0) {
            all.exit(place);
        }
    }

    private int placeOf(Thread thread, int method) {
        return ((int) JaywalkNumber.of(thread) * 0x9e3779b1 >>> 16) + method * 0x85ebca6b & placesMask;
    }

    /** Where its hold of that method is; below 0: its time is not taken. */
    private int find(Thread thread, int method) {
        final Thread[] all = owners;
        final int from = placeOf(thread, method);

        for (int i = from; i < from + NEIGHBOURS; i++) {
            if (all[i] == thread && methods[i] == method) {
                return i;
            }
        }
        return -1;
    }

    private void enterSlowly(int site, int method, Thread thread, Thread carrier) {
        if (!JaywalkLocks.isOn) {
            return;
        }
        final JaywalkCells cells = take(carrier);

        if (cells == null) {
            JaywalkLocks.enterShared(site, thread);
            return;
        }
        final long[] page = cells.needPage(site);

        if (page == null) {
            cells.lost++;
            return;
        }
        final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;

        page[at + COUNT]++;
        if (cells.isNews(site, JaywalkLocks.hash(thread))) {
            final String name = thread.getName(); // of which nobody knows what stands in it

            if (JaywalkCarrier.current() != carrier) {
                return;
            }
            cells.keepName(site, name);
        }
        time(cells, page, site, method, thread);
    }

    /** As JaywalkHolds.time. */
    private void time(JaywalkCells cells, long[] page, int site, int method, Thread thread) {
        final int at = site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE;
        final Thread carrier = cells.owner;
        final long count = page[at + COUNT];

        if (method < 0) {
            final boolean isWanted = JaywalkCallers.isWanted(site); // which waits where that is asked for the first time

            if (JaywalkCarrier.current() != carrier) {
                return;
            }
            if (!isWanted) {
                page[at + NEXT] = Long.MAX_VALUE;
                return;
            }
        } else if (isWithin(cells, thread, method)) {
            page[at + LAST]++;
            page[at + NEXT]++;
            JaywalkCallers.came(site, carrier, count, 1);
            return;
        }
        if (count <= page[at + NEXT]) {
            return;
        }
        final long nowNs = System.nanoTime();
        final long weight = count - page[at + LAST];

        if (method >= 0) {
            final int place = JaywalkClaims.claim(session, placeOf(thread, method), NEIGHBOURS);

            if (place < 0) {
                return; // the next one stands for it
            }
            note(place, thread, site, method, nowNs, weight);
        }
        page[at + LAST] = count;
        page[at + NEXT] = count + JaywalkHolds.distance(page, at, nowNs) - 1;
        JaywalkCallers.came(site, carrier, count, weight);
    }

    /** Right behind the claim, which took more of the stack: none is left claimed where that ends. What the claim took is not in the hold's time. */
    private void note(int place, Thread thread, int site, int method, long nowNs, long weight) {
        methods[place] = method;
        sites[place] = site;
        within[place] = 0;
        begunNs[place] = nowNs;
        weights[place] = weight;
        dropNs[place] = 0;
        owners[place] = thread;
        begunNs[place] = System.nanoTime();
    }

    /** A lock of a method is taken. True: the time of another one of that method is taken, and this one is within it. */
    private boolean isWithin(JaywalkCells cells, Thread thread, int method) {
        final int place = find(thread, method);

        if (place < 0) {
            return false;
        }
        if (isDropped(place)) {
            leave(place);
            cells.lost++;
            return false;
        }
        within[place]++;
        return true;
    }

    private boolean isDropped(int place) {
        return dropNs[place] != 0 && dropNs[place] == begunNs[place];
    }

    private void exit(int place) {
        if (within[place] > 0 && !isDropped(place)) {
            within[place]--;
            return;
        }
        final long heldNs = System.nanoTime() - begunNs[place];
        final long weight = weights[place];
        final int site = sites[place];
        final boolean isTold = !isDropped(place);

        leave(place);

        final JaywalkCells cells = take(JaywalkCarrier.current());
        final long[] page = cells == null || !isTold ? null : cells.needPage(site);

        if (page != null) {
            JaywalkLocks.held(page, site % JaywalkCells.PER_PAGE * JaywalkCells.STRIDE, heldNs, weight);
        } else if (cells != null) {
            cells.lost++;
        } else {
            lost++;
        }
    }

    /** The place is free. Asked once in vain before, so that it is not done by half where the stack ends. */
    private void leave(int place) {
        JaywalkClaims.giveBack(0, place);
        owners[place] = null;
        JaywalkClaims.giveBack(session, place);
    }

    // ---- carriers ----

    /** The cells of a carrier; null: it has none. */
    JaywalkCells find(Thread carrier) {
        final int from = (int) JaywalkNumber.of(carrier) & cellsMask;

        for (int i = from; i < from + NEIGHBOURS; i++) {
            if (carried[i].owner == carrier) {
                return carried[i];
            }
        }
        return null;
    }

    /** As find, and takes some where there are any. On that carrier. */
    private JaywalkCells take(Thread carrier) {
        final JaywalkCells found = find(carrier);

        if (found != null) {
            return found;
        }
        final int claimed = JaywalkClaims.claim(session, CELLS_AT + ((int) JaywalkNumber.of(carrier) & cellsMask), NEIGHBOURS);

        if (claimed < 0) {
            return null;
        }
        carried[claimed - CELLS_AT].owner = carrier;
        return carried[claimed - CELLS_AT];
    }

    void giveBack(int claim) {
        JaywalkClaims.giveBack(session, claim);
    }

    // ---- the agent ----

    /** As JaywalkLocks.oldHolds, behind so many that there are; those of threads that have ended are given up. */
    void fillOld(long beforeNs, Thread[] threads, long[] numbers, int count) {
        final int most = owners.length;
        int filled = count;

        for (int i = 0; i < most && filled < count + LOOKED; i++) {
            final int place = (looked + i) % most;
            final Thread thread = owners[place];
            final long begun = begunNs[place];

            if (thread == null || begun >= beforeNs || isDropped(place)) {
                continue;
            }
            if (!thread.isAlive()) {
                if (owners[place] == thread) { // still, and for good
                    leave(place);
                    lost++;
                }
                continue;
            }
            threads[filled] = thread;
            numbers[2 * filled] = sites[place];
            numbers[2 * filled + 1] = begun;
            filled++;
            if (filled == count + LOOKED) {
                looked = place + 1;
            }
        }
    }

    /** That hold of a virtual thread has no end. It finds that out itself. */
    void drop(Thread thread, long begunNs) {
        for (int i = 0; i < owners.length; i++) {
            if (owners[i] == thread && this.begunNs[i] == begunNs) {
                dropNs[i] = begunNs;
            }
        }
    }
}
