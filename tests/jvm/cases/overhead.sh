# m52: overhead= bounds what jaywalk takes: intervals that cost some tens of per cent are stretched until they do not, each change is
# told, and weights stay true, with each clock and with both. With every plant: tests/unit/sampler/test_sampler_pace.c.
# once: intervals follow the clocks of the kernel.
profile cpu event=cpu,interval=100us,overhead=1%,file=cpu.jfr Costly 2000 5000
silent cpu
check_once Overhead cpu.jfr 100 0 1 4
ledger cpu.jfr
grep -qE '^\[jaywalk\] overhead: jaywalk took [0-9.]+ % of the CPU time, of 1\.00 % that it may: sampling CPU time every [0-9]+ us in place of 100' \
    cpu.err || fail "the agent does not say what it does"
grep -qE '^\[jaywalk\] Cost: [0-9.]+ % of the CPU time of the process: ' cpu.err ||
    fail "the agent does not say what it costs"

# With two clocks, until intervals have been the same for four of the costs that it tells, about one a second: by then it is within the budget, and stays.
run_java both 143 "$(agent_flag event=cpu,interval=250us,wall=1ms,overhead=3%,file=both.jfr)" Costly 500 300000 &
pid=$!
for ((left = 200, since = 0, costs = 0, seen = 0; left > 0 && costs - since < 4; left--)); do
    sleep 1
    changes=$(grep -c 'overhead: jaywalk took' both.err || true)
    costs=$("$JW_COMMAND" convert -q -o jsonl -e jaywalk.SelfCost both.jfr - 2>/dev/null | grep -c '"share"' || true)
    [ "$changes" -gt 0 ] && [ "$changes" = "$seen" ] || since=$costs
    seen=$changes
done
pkill -TERM -P "$pid" java || fail "both: it has ended before"
wait "$pid" || fail "both: $(cat why)"
silent both
check_once Budget both.jfr 3
check_once Overhead both.jfr 250 1000 3 4
whole both.jfr
ledger both.jfr 1
