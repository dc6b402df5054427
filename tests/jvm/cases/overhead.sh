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

# With two clocks, until intervals have been the same for three seconds: by then it is within the budget, and stays.
run_java both 143 "$(agent_flag event=cpu,interval=250us,wall=1ms,overhead=3%,file=both.jfr)" Costly 500 90000 &
pid=$!
for ((left = 60, calm = 0, seen = 0; left > 0 && calm < 3; left--)); do
    sleep 1
    changes=$(grep -c 'overhead: jaywalk took' both.err || true)
    calm=$((changes > 0 && changes == seen ? calm + 1 : 0))
    seen=$changes
done
pkill -TERM -P "$pid" java || fail "both: it has ended before"
wait "$pid" || fail "both: $(cat why)"
silent both
check_once Budget both.jfr 3
check_once Overhead both.jfr 250 1000 3 4
whole both.jfr
ledger both.jfr 1
