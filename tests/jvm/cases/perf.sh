# CPU samples by perf_events. Weights are what the clocks of the threads say, stacks show the kernel on top, and sockets lose no byte while threads and
# descriptors come and go under the signals of the kernel. Where the events are refused timers take their place, and all are told why.
# once: signals come by the clocks of the kernel.
# alone: CPU times are held to 3 %, of threads that need a second of CPU.

# Refused, by a library whose calls fail: who said nothing of it would still write a recording.
library=$JW_LIBRARY
JW_LIBRARY=${JW_FAULTS_LIBRARY:?}
[ -f "$JW_LIBRARY" ] || not_run "no $JW_LIBRARY; make builds it with test-jvm"
refused() { # $1: error, $2: what must be said
    JW_FAULTS_RULES="perf_event_open:$1@1+" profile "$1" "event=cpu-clock,interval=1ms,file=$1.jfr" PerfShares 100
    grep -q "^\[jaywalk\] warning: event=cpu-clock: .*timers in place of perf_events: perf_event_open: .*$2" "$1.err" ||
        fail "$1: it is not said that and why timers take the place of perf_events: $(last_words "$1.err")" # m66
    jfr_tool "$MAJOR" "$JDK" print --events jdk.ActiveSetting "$1.jfr"
    grep -q "value = \"perf_event_open: .*$2" tool.out || fail "$1: the recording does not say it"
}
for error in $(half_of 'EACCES kernel.perf_event_paranoid=1' 'EPERM --cap-add' 'EMFILE ulimit' 'ENOSYS no.perf_events' | tr ' ' :); do
    refused "${error%%:*}" "${error#*:}"
done
JW_LIBRARY=$library

profile perf event=cpu-clock,interval=1ms,file=perf.jfr PerfShares 1200
grep -q 'timers in place of perf_events' perf.err &&
    not_run "$(grep -m 1 -o 'perf_event_open: .*' perf.err)"
silent perf
grep -qE '^echoes [1-9][0-9]+ incomplete 0$' perf.out || fail "bytes of the program are lost: $(tail -n 1 perf.out)" # m69
check_once CpuAccuracy perf.jfr perf.out share-compute share-zeros
ledger perf.jfr
whole perf.jfr

# Of a thread that has memory filled with zeros the kernel is on top of the Java method that asked for it.
if grep -qE '^0*[1-9a-f][0-9a-f]* ' /proc/kallsyms; then
    "$JW_COMMAND" convert perf.jfr perf.collapsed || fail "perf.jfr was not converted"
    ! grep -qE 'ffff[0-9a-f]{12}' perf.collapsed || fail "addresses of the kernel are written"
    # What a way into the kernel and out takes of it is the machine's: a guest's takes a tenth of a call, half of that before and behind the kernel's own frames.
    awk '/PerfShares\.fill;/ { all += $NF; if (/PerfShares\.fill;.*pread.*;(do_syscall_64|el0_svc);/) kernel += $NF; if (/;(do_syscall_64|el0_svc);.*read_zero/) zeros += $NF }
        END { print kernel " of " all ", " zeros " of these in what fills it"; exit !(all > 0 && kernel > 0.8 * all && zeros > 0.8 * kernel) }' perf.collapsed >shares ||
        fail "of a thread that the kernel works for it is on top in $(<shares)"
else
    skip_part "names of the kernel's functions: they are hidden"
fi
