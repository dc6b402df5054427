/*
 * The generation protocol of src/epoch/epoch.c, for spin. Threads run activations, which claim a
 * cell, load `active`, name the buffer, write and leave; the dump thread rotates, takes, proves,
 * clears. Every access is sequentially consistent here, as the four EPOCH_SC accesses are there; a
 * variant that exchanges two of them stands for what a weaker order would allow.
 *
 *   (none)      the protocol: no error
 *   STUCK       one activation may stop for ever once its cell names a buffer: no error, and the
 *               dump thread never comes to a state that it cannot leave
 *   STUCK_PENDING  the same between claim and name: the dump thread stops for ever. The known limit;
 *               in the code three instructions on touched memory lie between the two
 *   LOAD_FIRST  `active` is loaded before the claim            -> a buffer is cleared under somebody
 *   NO_PENDING  a claimed cell that names no buffer is passed  -> a buffer is cleared under somebody
 *   SCAN_FIRST  cells are looked at before the store to `active` -> a buffer is cleared under somebody
 *   BY_TIME     a buffer is cleared one rotation after it was closed, unproved -> the same
 *   OLDER       a buffer counts as empty only when nobody is in an older one either: with STUCK, the dump
 *               thread stops for ever
 *   DICT_FIRST  names are read before the records that bear them -> an id that does not resolve
 *
 * NT threads run NA activations each through NR rotations; an activation looks at NP cells. A handler that interrupts a
 * hook is a case of two threads: the one in which the hook stands still meanwhile.
 *
 * What these say never happens does happen in a run without an error, so that the law is held where it matters:
 *   NEVER_LOST, with NP=1   an activation finds no cell
 *   NEVER_EARLY             a record is taken as soon as its buffer is closed
 *   NEVER_LATE              a record is taken after that
 *   NEVER_PUT_OFF           no buffer is free when the dump thread wants to rotate
 */
#ifndef NT
#define NT 2
#endif
#ifndef NA
#define NA 1
#endif
#ifndef NR
#define NR 5
#endif
#define NC 2 /* cells */
#ifndef NP
#define NP NC /* of which an activation tries so many */
#endif
#define NB 3 /* buffers */

#define PENDING 9 /* of a cell: claimed; 0: empty, b + 1: inside buffer b */
#define FREE    0 /* of a buffer */
#define ACTIVE  1
#define CLOSED  2

byte now_active; /* `active` of the code, a word of Promela */
byte cell[NC];
byte state[NB];
bool seen[NB * NC]; /* this cell was not in the way of that buffer since it was closed */

/* What lies in a buffer, by thread. */
bool name[NB * NT];
byte reserved[NB * NT];  /* records not yet committed */
byte committed[NB * NT]; /* and not yet taken */

/* Ghosts: no thread of the protocol reads them to decide anything. */
byte life[NB]; /* grows with each clear */
byte all_committed, all_taken, all_lost, all_attempts;
byte finished, rotations;
#ifdef NEVER_PUT_OFF
byte rotations_put_off;
#endif
#ifdef NEVER_LATE
byte taken_early; /* all_taken after the last rotation */
#endif
#ifdef OLDER
byte born[NB]; /* the rotation that made a buffer active */
#endif
bool is_one_stuck;

#ifdef NO_PENDING
#define IN_THE_WAY(c, b) (cell[c] == (b) + 1)
#else
#define IN_THE_WAY(c, b) (cell[c] == PENDING || cell[c] == (b) + 1)
#endif
#ifdef OLDER
#define IN_THE_WAY_OF(c, b) (IN_THE_WAY(c, b) || (cell[c] != 0 && born[cell[c] - 1] < born[b]))
#else
#define IN_THE_WAY_OF(c, b) IN_THE_WAY(c, b)
#endif
#define MAY_PASS(b, c)  (seen[(b) * NC + (c)] || !IN_THE_WAY_OF(c, b))
#define MAY_PROVE(b)    (state[b] == CLOSED && MAY_PASS(b, 0) && MAY_PASS(b, 1))
#define IS_PROVED(b)    (seen[(b) * NC] && seen[(b) * NC + 1])

inline touch(b, l)
{
    assert(life[b] == l) /* nobody writes into a buffer that was cleared since he entered */
}

proctype activations(byte me)
{
    byte count, b, l, c;

    do
    :: count == NA -> break
    :: count < NA ->
        count++;
        all_attempts++;
#ifdef LOAD_FIRST
        d_step { b = now_active; l = life[b] }
#endif
        c = 0;
        do
        :: c == NP -> break
        :: c < NP ->
            if
            :: atomic { cell[c] == 0 -> cell[c] = PENDING } break
            :: else -> c++
            fi
        od;
        if
        :: c == NP -> all_lost++; goto next
        :: else
        fi;
#ifdef STUCK_PENDING
        if
        :: atomic { !is_one_stuck -> is_one_stuck = true } goto stuck
        :: true
        fi;
#endif
#ifndef LOAD_FIRST
        d_step { b = now_active; l = life[b] }
#endif
        cell[c] = b + 1;
#ifdef STUCK
        if
        :: atomic { !is_one_stuck -> is_one_stuck = true } goto stuck
        :: true
        fi;
#endif
        d_step { touch(b, l); name[b * NT + me] = true }
        d_step { touch(b, l); reserved[b * NT + me]++ }
        d_step { touch(b, l); reserved[b * NT + me]--; committed[b * NT + me]++; all_committed++ }
        cell[c] = 0;
next:   skip
    od;
    finished++;
    goto out;
stuck:
    finished++;
end_stuck:
    false;
out: skip
}

inline look(b)
{
    x = 0;
    do
    :: x == NC -> break
    :: x < NC -> atomic { seen[b * NC + x] = MAY_PASS(b, x); x++ }
    od;
    x = 0
}

inline take(b)
{
    t = 0;
    do
    :: t == NT -> break
    :: t < NT ->
#ifdef DICT_FIRST
        d_step { is_named = name[b * NT + t] }
        d_step { taken = committed[b * NT + t]; committed[b * NT + t] = 0; all_taken = all_taken + taken }
#else
        d_step { taken = committed[b * NT + t]; committed[b * NT + t] = 0; all_taken = all_taken + taken }
        d_step { is_named = name[b * NT + t] }
#endif
        assert(taken == 0 || is_named); /* every id of a taken record resolves */
        t++
    od;
    skip;
    d_step { t = 0; taken = 0; is_named = 0 }
}

inline clear(b)
{
    d_step {
        t = 0;
        do
        :: t == NT -> break
        :: t < NT ->
            assert(reserved[b * NT + t] == 0 && committed[b * NT + t] == 0);
            name[b * NT + t] = 0;
            t++
        od;
        t = 0;
        life[b]++;
        state[b] = FREE;
        seen[b * NC] = 0;
        seen[b * NC + 1] = 0
    }
}

inline rotate_to(f, old)
{
#ifdef SCAN_FIRST
    d_step { seen[old * NC] = 0; seen[old * NC + 1] = 0 }
    look(old);
    d_step { state[f] = ACTIVE; now_active = f; state[old] = CLOSED }
#else
    d_step { seen[old * NC] = 0; seen[old * NC + 1] = 0; state[f] = ACTIVE; now_active = f; state[old] = CLOSED }
#endif
    rotations++
#ifdef OLDER
    ;
    born[f] = rotations
#endif
}

active proctype dump()
{
    byte x, t, q, taken, old;
    byte f = NB;
    bool is_named;

    d_step { state[0] = ACTIVE }
    do
    :: q == NT -> break
    :: q < NT -> run activations(q); q++
    od;

    do
    :: rotations == NR -> break
    :: rotations < NR ->
        d_step {
            f = NB;
            q = 0;
            do
            :: q == NB -> break
            :: q < NB -> if :: state[q] == FREE -> f = q :: else fi; q++
            od;
            q = 0
        }
        if
        :: f < NB ->
            old = now_active;
            rotate_to(f, old);
            take(old); /* written at once, from what is committed */
#ifdef NEVER_EARLY
            assert(all_taken == 0);
#endif
#ifdef NEVER_LATE
            taken_early = all_taken;
#endif
#ifdef BY_TIME
            q = 0;
            do
            :: q == NB -> break
            :: q < NB ->
                if
                :: state[q] == CLOSED && q != old -> take(q); clear(q)
                :: else
                fi;
                q++
            od;
            q = 0
#endif
        :: else /* put off */
#ifdef NEVER_PUT_OFF
            ;
            rotations_put_off++;
            assert(rotations_put_off == 0)
#endif
        fi;
#ifndef BY_TIME
        q = 0;
        do
        :: q == NB -> break
        :: q < NB ->
            if
            :: state[q] == CLOSED ->
                look(q);
                if
                :: IS_PROVED(q) -> take(q); clear(q) /* the late records, then the clear */
#ifdef NEVER_LATE
                    ;
                    assert(all_taken == taken_early)
#endif
                :: else
                fi
            :: else
            fi;
            q++
        od;
        q = 0;
        /* With nothing free it comes back until a buffer can be proved (a poll in the code). A run
         * in which that never happens ends here, which spin reports. */
        if
        :: state[0] == FREE || state[1] == FREE || state[2] == FREE
        :: else -> (MAY_PROVE(0) || MAY_PROVE(1) || MAY_PROVE(2))
        fi
#endif
    od;

    /* The stop: engines are off, and who can finish has finished. */
    (finished == NT);
    q = 0;
    do
    :: q == NB -> break
    :: q < NB -> if :: state[q] != FREE -> take(q) :: else fi; q++
    od;
    assert(all_taken == all_committed);
    assert(all_attempts == all_committed + all_lost + is_one_stuck)
#ifdef NEVER_LOST
    ;
    assert(all_lost == 0)
#endif
}
