# A virtual thread that cannot leave its carrier, as native code or the initialiser of a class lies among its frames, or (up to JDK 23) a
# monitor, has its whole stack, its CPU time, and the time for which it waits there; one that can leave waits on no thread.
# alone: shares of CPU time are held to a percentage point.
[ "$MAJOR" -ge 21 ] || not_run "there are no virtual threads before JDK 21"

profile pinned event=cpu,interval=1ms,wall=10ms,file=pinned.jfr -Djdk.virtualThreadScheduler.parallelism=4 Pinned 4 500
silent pinned
ledger pinned.jfr
check_once PinnedThreads pinned.jfr pinned.out "$MAJOR" 1 10
profile interpreted event=cpu,interval=1ms,wall=10ms,file=interpreted.jfr -Xint -Djdk.virtualThreadScheduler.parallelism=4 Pinned 4 500
silent interpreted
check_once PinnedThreads interpreted.jfr interpreted.out "$MAJOR" 1 10
