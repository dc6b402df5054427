# Walkers that begin to fail are given up, one after the other, and come back when they work again: the log, `status`,
# `metrics` and the recording say so. The breakers' clock runs 100 times as fast here; what fails is switched by the
# digits of a file (tests/faults/loads.c).
# once: when a walker is given up is decided by the agent alone.
. "$(dirname "$LIB")/attach.sh"

JW_LIBRARY=${JW_FAULTS_LIBRARY:?}
[ -f "$JW_LIBRARY" ] || not_run "no $JW_LIBRARY; make builds it with test-jvm"
export JW_WRONG=$OUT/digits JW_WRONG_SPEED=100 JW_WRONG_REPEAT=20 JW_WRONG_SEED=$SEED

switch() { printf %s "$1" | dd of="$JW_WRONG" conv=notrunc status=none; }
until_says() { until jaywalk 0 status "$target" | has_line -- "$1"; do sleep 0.15; done; }
logged() { until grep -qE -- "$1" target.err; do sleep 0.1; done; } # status may tell of it a moment before
until_metric() { until jaywalk 0 metrics "$target" | has_line -xF -- "$1"; do sleep 0.15; done; }

printf 00000 >"$JW_WRONG"
begin_target target "-agentpath:$JW_LIBRARY=start,event=cpu,interval=2ms,cstack=vm,file=$OUT/breaker.jfr" Sums 30 3600

until_says '^Walker: vm\( (agct cannot .*)\)\?$'
until_metric 'jaywalk_walker_in_use{walker="vm",standing="in"} 1'

switch 90000
if has_agct; then
    until_says '^Walker: agct (vm was given up [0-9]* s ago: [0-9]* % of [0-9]* walks failed, most in: .*; it is tried again in [0-9]* s)$'
    until_metric 'jaywalk_walker_in_use{walker="vm",standing="out"} 0'
    until_metric 'jaywalk_walker_in_use{walker="agct",standing="in"} 1'
    logged '^\[jaywalk\] warning: Java frames: agct takes the place of vm: '

    # Nothing to fall back upon: eight faults inside AsyncGetCallTrace.
    switch 90090
    until_says '^Walker: none, samples have no Java frames (vm .*; agct was given up .* memory faults within a minute'
    # On a busy machine the minute is over by then, after which vm is on trial.
    logged '^\[jaywalk\] warning: Java frames: none from now on, in place of (agct|vm on trial): '
else # nothing to fall back upon from the first: it stays, as half of its walks are worth more than none
    until [ "$(jaywalk 0 metrics "$target" | sed -n 's/^jaywalk_walks_bad_total{walker="vm"} //p')" -gt 20000 ]; do sleep 0.15; done
    until_metric 'jaywalk_walker_in_use{walker="vm",standing="in"} 1'
    until_metric 'jaywalk_walker_down_total 0'
fi

# Native frames, too: what is left are samples without frames.
switch 99090
until_says '^Native frames: left out (native was given up '
! has_agct || until_says '^Walker: none'
until_metric 'jaywalk_walker_in_use{walker="native",standing="out"} 0'

# All is well again: each is tried, and stays.
switch 00000
until_says '^Walker: vm\( (agct.*)\)\?$'
until ! jaywalk 0 status "$target" | has_line '^Native frames'; do sleep 0.15; done
until_metric 'jaywalk_walker_in_use{walker="vm",standing="in"} 1'
until_metric 'jaywalk_walker_in_use{walker="native",standing="in"} 1'
! has_agct || logged '^\[jaywalk\] Java frames: vm on trial: it is tried again, after '
! has_agct || logged '^\[jaywalk\] Java frames: vm: it walks well again'

jaywalk 0 stop "$target"
kill "$target"
wait "$target" || true
no_crash
grep -E 'Java frames|native frames' target.err
check WalkerChanges breaker.jfr "$(grep -cE '^\[jaywalk\] (warning: )?(Java|native) frames: ' target.err)" \
    "$(has_agct && echo 3 || echo 1)"
whole breaker.jfr
ledger breaker.jfr
