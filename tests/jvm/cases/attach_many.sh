# Attaching to a program of many classes: it goes on meanwhile, its methods are known, and a stop that comes
# in the middle of a start leaves nothing half done.
# once: what JDK 9 and later have of attaching is the same; make test-jdks has it on each.
. "$(dirname "$LIB")/attach.sh"

begin_target target -Xmx1g ManyClasses 50000 3600
jaywalk 0 start -i 2ms -f many.collapsed "$target" >out
until [ "$(jaywalk 0 status "$target" | sed -n 's/ samples in .*//p')" -gt 50 ]; do sleep 0.2; done
jaywalk 0 stop "$target" >out
grep -q "ManyClasses.main" many.collapsed || fail "no sample names the method that runs"

stopped=0
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
    "$JW_COMMAND" start -f "race-$round.jfr" "$target" >start.out 2>start.err &
    starter=$!
    for ((i = 0; i < round; i++)); do :; done
    status=0
    "$JW_COMMAND" stop "$target" >stop.out 2>stop.err || status=$?
    started=0
    wait "$starter" || started=$?
    if [ "$status" = 0 ]; then
        stopped=$((stopped + 1))
        grep -q "Profiling stopped" stop.out || fail "round $round: stop says $(cat stop.out)"
    else
        [ "$status" = 1 ] && grep -q "not active" stop.err || fail "round $round: $(cat stop.err)"
        [ "$started" = 0 ] || fail "round $round: neither stopped nor started: $(cat start.err)"
        jaywalk 0 stop "$target" >out
    fi
    [ "$started" = 0 ] || grep -q "stopped before it began" start.err ||
        fail "round $round: start says $(cat start.err)"
done
echo "stopped while it started, or just after: $stopped of 12"
[ "$(jaywalk 0 status "$target")" = "Profiler is not active" ] || fail "after the races: $(cat said.out)"
jaywalk 0 -d 2 -i 2ms -f last.jfr "$target" >out
end_target target loaded
check_once Whole "$COUNTERS" race-*.jfr
ledger last.jfr
