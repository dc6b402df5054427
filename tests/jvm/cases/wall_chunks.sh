# Threads that wait from the first to the last chunk of a recording of the wall clock: each chunk has
# their stacks, and all of their time is there, by whatever reader and in whatever form.
# once: what goes on from chunk to chunk is kept by the agent alone.
# alone: as wall.
threads=40
waiting="Waiting 3 $threads"

profile plain event=wall,interval=2ms,nobatch,chunksize=256k,file=plain.jfr $waiting
profile batch event=wall,interval=4ms,file=batch.jfr $waiting
profile both event=cpu,interval=10ms,wall=5ms,file=both.jfr $waiting
[ "$("$JDK/bin/jfr" summary plain.jfr | sed -n 's/^ Chunks: //p')" -ge 3 ] || fail "plain.jfr has not several chunks"
check Whole "$COUNTERS" plain.jfr
whole batch.jfr both.jfr
for run in plain batch both; do
    silent "$run"
    ledger "$run.jfr" 1
    check_once WallClock "$run.jfr" 3 "$threads"
done

# The command sums up what the checker did: seconds of the parked threads.
parked_seconds() { # arguments of convert
    "$JW_COMMAND" convert --quiet --event=wall --state=parked --include='*Waiting.park' --total \
        --format=collapsed "$@" sums.collapsed || fail "jaywalk convert $*"
    awk '{ sum += $NF } END { printf "%d", sum / 1e9 }' sums.collapsed
}

for run in plain batch both; do
    seconds=$(parked_seconds "$run.jfr")
    [ "$seconds" -ge $((threads * 27 / 10)) ] ||
        fail "$run.jfr: $seconds s of $threads parked threads in 3 s"
done
"$JW_COMMAND" convert both.jfr both.html 2>both.convert
grep -q "shows 'cpu'; --event=wall shows" both.convert || fail "convert does not tell of the other clock"
grep -q '<h1>CPU profile, wall clock left out</h1>' both.html || fail "the page does not tell of the other clock"
