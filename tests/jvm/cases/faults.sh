# What jaywalk asks of the outside goes wrong, one call in each life of a JVM: FAULTS (60) of all places, functions and errors
# that there are, drawn by FAULTS_SEED (31, so that a change is judged by the same ones), and a kill before and in the middle of every write
# of a short recording (tests/faults). A run of all cases does half of them, drawn by its seed.
# The program's result and status are its own; nothing crashes, hangs or is missing without a word; each file is readable.
# m40, m50, m53, m54: sigaction, each allocation, each write that finds a full disk, and a kill at each.
# once: what fails is between the agent and the system.
SEED=${FAULTS_SEED:-31}
. "$(dirname "$LIB")/../faults/sweep.sh"

agct=agct
has_agct || agct=
perf=perf
has_perf || perf=
[ -n "$perf" ] || skip_part "perf_events that go wrong: $(grep -m 1 -o 'perf_event_open: .*' perf.err)"
objects=
[ "$MAJOR" -lt 11 ] || objects='objects all'
read -ra names <<<"${FAULT_SCENARIOS:-jfr graph wall itimer $agct $perf timers chunks session kept loop late locks probes $objects}"
for name in "${names[@]}"; do
    scenario "$name"
done

# The JVM refuses the names of the threads that it lists first, main among them; the next look, at the first rotation, gets them,
# and until then they have those of the system.
agent_of[names]='start,event=wall,interval=10ms,file=x.jfr' steps_of[names]='sleep=1500'
live names names JW_FAULTS_RULES="$(printf 'jvmti.GetThreadInfo:ENOMEM@%d\n' 1 2 3 | paste -sd ,)" JW_FAULTS_TOLD=told
[ "$(cat names/status)" = 0 ] || fail "names: status $(cat names/status): $(head -n 2 names/err)"
[ "$(tr -d '\0' <names/told | wc -l)" = 3 ] || fail "names: not 3 calls were refused: $(tr -d '\0' <names/told)"
jfr_tool "$MAJOR" "$JDK" print --events jaywalk.WallClockSample names/x.jfr
grep -q 'sampledThread = "main"' tool.out || fail "names: main has no name"
! grep 'sampledThread = "null"' tool.out || fail "names: a thread has none, not even that of the system"

all_faults >possible
drawn "${FAULTS:-60}" "$SEED" possible | half_of_lines >chosen
[ "${FAULT_KILLS-yes}" != yes ] || (
    read -ra scenarios <<<"${KILL_SCENARIOS:-chunks}"
    all_kills | half_of_lines >>chosen
)
# Always: the second attempt of an attach goes on with classes that the first one had bound.
case " ${scenarios[*]} " in *' locks '*) echo 'locks jni.NewObject:ENOMEM@4+' >>chosen ;; esac
echo "$(wc -l <possible) faults are possible, $(wc -l <chosen) chosen"
inject chosen
read_results
