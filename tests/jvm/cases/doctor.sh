# The doctor says `good` of a healthy run and nothing worse than what it cost here, of the file and of the process; of a run
# whose walker was given up it says so, and what to do.
# once: the doctor reads what the agent tells.
. "$(dirname "$LIB")/attach.sh"

finding() { sed 's/},{/\n/g' "$1" | sed -n 's/.*"id":"\([A-Za-z-]*\)","rank":.*/\1/p'; }

begin_target target "$(agent_flag "event=cpu,interval=2ms,file=healthy.jfr")" Hot -1
until [ "$(jaywalk 0 status "$target" | sed -n 's/ samples in .*//p')" -ge 600 ]; do sleep 0.15; done
jaywalk 0 doctor "$target" >process
grep -qE '^  session +running, for ' process || fail "the page of the process has no session: $(head -n 3 process)"
grep -qE '^  self-check +agrees: [0-9]+ frames' process || fail 'the page of the process has no self-check'
jaywalk 0 stop "$target"
jaywalk 0 doctor healthy.jfr
jaywalk 0 doctor --json healthy.jfr >json
# What it cost, whether the C library has its symbols, and how late the sampler got a processor are facts of this machine.
! finding json | grep -vxE 'cost|nameless|unsampledLive' || fail "a healthy run has findings: $(finding json | tr '\n' ' ')"
jaywalk 0 doctor healthy.jfr >page
grep -qE '^  made by +jaywalk [0-9]' page || fail 'no version of the agent'
grep -qE '^  self-check +agrees: [0-9]+ frames' page || fail 'no self-check'
grep -qE '^  total .* adds up, in all' page || fail 'the account does not add up'
kill "$target"
wait "$target" || true
no_crash

# Nothing of the JDK's own recordings is of jaywalk.
run_java other 0 -XX:StartFlightRecording=filename=other.jfr Hot 0.3
jaywalk 0 doctor other.jfr >page
grep -q 'another tool made this recording' page || fail 'a recording of the JDK is taken for ours'

has_agct || {
    skip_part "a walker that was given up: from JDK 26 on there is no other to fall back upon"
    exit 0
}
# As in breaker.sh: from a moment on, every other load of the walker fails.
JW_LIBRARY=${JW_FAULTS_LIBRARY:?}
[ -f "$JW_LIBRARY" ] || not_run "no $JW_LIBRARY; make builds it with test-jvm"
export JW_WRONG=$OUT/digits JW_WRONG_SPEED=100 JW_WRONG_REPEAT=20 JW_WRONG_SEED=$SEED
printf 00000 >"$JW_WRONG"
begin_target target "-agentpath:$JW_LIBRARY=start,event=cpu,interval=2ms,cstack=vm,file=$OUT/down.jfr" Sums 30 3600
until jaywalk 0 status "$target" | has_line '^Walker: vm\( (agct cannot .*)\)\?$'; do sleep 0.15; done
printf 90000 | dd of="$JW_WRONG" conv=notrunc status=none
until jaywalk 0 status "$target" | has_line '^Walker: agct (vm was given up '; do sleep 0.15; done
jaywalk 0 stop "$target"
kill "$target"
wait "$target" || true
no_crash
jaywalk 1 doctor --strict down.jfr >page
grep -qE '^ +[0-9]+\. a walker was given up for a while: of Java frames, from vm.* to agct: ' page ||
    fail "no finding of the walker: $(head -n 8 page)"
grep -qE '^  stepped down +Java frames: vm to agct' page || fail 'no row of the walker that stepped down'
jaywalk 1 doctor --json --strict down.jfr >json
finding json | has_line -x walker-down || fail 'no id of the finding'
