# The wall clock: 500 threads of which 8 run, each in a state that is known. Each thread's time is accounted, states
# are true, and threads that wait get next to no signals.
# No collection: a thread that is first seen during one shows no Java until it runs again.
# once: the wall clock asks the system, and states that the case virtual tests.
# alone: time by the clock on the wall is held to 2 %, and a starved sampler misses turns of it.
profile wall event=wall,interval=10ms,file=wall.jfr -Xms512m -Xmn400m Waits 6 492 8
check_once WallStates wall.jfr wall.out
ledger wall.jfr 1
whole wall.jfr
! grep -E "$complaints" wall.err || fail "the agent complains: $(grep -m 1 -E "$complaints" wall.err)"

# Both clocks at once, of a few threads alone.
profile both "event=cpu,interval=1ms,wall=20ms,filter=running-*;sleeping-holder,file=both.jfr" Waits 2 14 2
ledger both.jfr 1
whole both.jfr
