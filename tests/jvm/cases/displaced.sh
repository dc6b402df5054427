# A library takes SIGSEGV while profiled, allocates in its handler and hands on what is not its own (storm `segv` of
# tests/chaos): the JVM's null checks still reach the JVM, nobody hangs, and `status` tells who stands above the agent.
# once: who has SIGSEGV is up to the kernel.
chaos=$(dirname "$CLASSES")/chaos

"$JDK/bin/java" "$(agent_flag event=cpu,interval=100us,wall=1ms,quiet,file=displaced.jfr)" "${JAVA_FLAGS[@]}" -cp "$chaos" \
    -Djava.library.path="$chaos" Chaos --seconds "${DISPLACED_SECONDS:-4}" --until "$OUT/asked" --seed "$SEED" --storms segv \
    --directory "$OUT/scratch" >displaced.out 2>displaced.err </dev/null &
pid=$!
told=
while kill -0 "$pid" 2>/dev/null && ! grep -q '^CHAOS begins' displaced.out; do sleep 0.1; done
# The storm waits for the answer. It may be asked between two rounds, when the agent has SIGSEGV.
for ((tries = 100; tries > 0; tries--)); do
    # m10: a handler above ours is told, with the library that it is in
    ! timeout 60 "$JW_COMMAND" status "$pid" 2>&1 | grep -E 'SIGSEGV belongs to another handler now .*libpluginsegv' || told=1
    [ -z "$told" ] && kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
done
touch asked
status=0
wait "$pid" || status=$?
no_crash
grep -E '^(VIOLATION|HANG|STORM|CHAOS)' displaced.out || true
[ "$status" = 0 ] || fail "java ended with status $status: $(grep -m 1 -E '^(VIOLATION|HANG)' displaced.out || tail -n 1 displaced.err)"
[ -n "$told" ] || fail "status never said that SIGSEGV belongs to another handler"
check_once Whole "$COUNTERS" displaced.jfr
ledger displaced.jfr
