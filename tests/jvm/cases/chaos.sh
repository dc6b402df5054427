# Storms of everything that has ever broken a profiler, all in one JVM, with their own invariants (tests/chaos), under both clocks
# at short intervals, a client beside: no crash, no hang, no violation, every recording readable, every signal accounted for.
# The seed draws collector, flags, interval, depth of stacks and what is sampled beside; CHAOS_GC, CHAOS_FLAGS, CHAOS_INTERVAL, CHAOS_DEPTH, CHAOS_BESIDE name them,
# CHAOS_SECONDS (12) and CHAOS_STORMS what to run; CHAOS_EVENT=cpu-clock: CPU samples by perf_events. CHAOS_SELF_TEST=1: whether what goes wrong on purpose is noticed.
seconds=${CHAOS_SECONDS:-12}
source "$(dirname "$LIB")/../chaos/cell.sh"

draw() { # $1: a number of this draw, then what to draw from
    local sum at
    sum=$(cksum <<<"$SEED $MAJOR $1")
    at=$((${sum%% *} / 16 % ($# - 1) + 2))
    echo "${!at}"
}

collectors=()
for gc in Serial Parallel G1 Z Shenandoah; do
    ! "$JDK/bin/java" -XX:+UnlockExperimentalVMOptions "-XX:+Use${gc}GC" -version >/dev/null 2>&1 || collectors+=("$gc")
done
GC=${CHAOS_GC:-$(draw 1 "${collectors[@]}")}
FLAGS=${CHAOS_FLAGS:-$(draw 2 plain tinycc jfr plain tinycc xcheck)}
INTERVAL=${CHAOS_INTERVAL:-$(draw 3 100us 200us 500us 1ms)}
DEPTH=${CHAOS_DEPTH:-$(draw 4 1 16 64 128)}
# Safepoints that are waited for, allocations (from JDK 11 on), and which of them stay; locks.
BESIDE=${CHAOS_BESIDE-$(draw 5 ttsp=2ms alloc=16k,live=512 alloc=512k,live,ttsp=5ms,lock=1us alloc=64k,ttsp lock=10us)}
[ "$MAJOR" -ge 11 ] || BESIDE=ttsp=2ms

if [ -n "${CHAOS_SELF_TEST:-}" ]; then
    source "$(dirname "$LIB")/../chaos/self_test.sh"
    return
fi

[ "${CHAOS_EVENT:-cpu}" != cpu-clock ] || has_perf || not_run "$(grep -m 1 -o 'perf_event_open: .*' perf.err)"
chaos_cell cell "$seconds" ${CHAOS_STORMS:+--storms "$CHAOS_STORMS"}
chaos_row cell "$seconds"
[ -s cell/findings ] || [ "$(figure asked cell)" -gt 0 ] || fail "the client asked nothing in $seconds s"
[ ! -s cell/findings ] || fail "$GC $FLAGS $INTERVAL $BESIDE seed $SEED: $(wc -l <cell/findings) findings, the first: $(head -n 1 cell/findings)"
