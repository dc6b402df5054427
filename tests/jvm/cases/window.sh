# A window of samples (begin=, end=): from the begin of a safepoint until all threads have stopped nine of ten samples are of the loop that is late for it, but those of the thread that waits, and
# they stand for no more time than the JVM's own log has between the two; from there until they go on no sample is of Java code; and outside of both
# are the rest. What cannot open one is refused by name, and the JVM runs on.
[ "$MAJOR" -ge 17 ] || not_run "-Xlog:safepoint of JDK 17 on is what is compared with"

run_java refused 0 "$(agent_flag event=cpu,begin=malloc,end=free,file=refused.jfr)" -version
grep -q 'begin=malloc: is unknown; allowed: ttsp, SafepointSynchronize::begin' refused.err || fail "no clear refusal: $(cat refused.err)"
[ ! -e refused.jfr ] || fail "what was refused has left a file"
if ! readelf -Ws "$(libjvm)" | grep _ZN20SafepointSynchronize6_stateE >symbol.txt; then
    profile stripped event=cpu,begin=ttsp,file=stripped.jfr Late none 20
    grep -q 'begin: the window stays closed for good: this JVM was stripped of its symbols' stripped.err ||
        fail "it is not said that no window is seen: $(cat stripped.err)"
    exit 0
fi

sum_of() { awk -v place="$2" 'index($0, place) { sum += $NF } END { printf "%d\n", sum / 1000000 }' "$1"; } # $1: file, $2: part of a line; ms

within() { # $1: name, $2: the window, further options
    profile "$1" "event=cpu,interval=1ms,$2,file=$1.jfr" "-Xlog:safepoint*:file=$1.log:uptimenanos" -XX:+UseSerialGC -Xbatch -XX:LoopStripMiningIter=0 \
        -XX:-UseCountedLoopSafepoints '-XX:CompileCommand=dontinline,Late.*' Late counted 15
    "$JW_COMMAND" convert -q -e cpu --total "$1.jfr" "$1.collapsed"
    all=$(sum_of "$1.collapsed" '')
    loop=$(sum_of "$1.collapsed" Late.counted)
    # A thread that stops runs code of the JVM on top of its own until it sleeps.
    java=$(awk '/Late\.[^; ]* [0-9]+$/ { sum += $NF } END { printf "%d\n", sum / 1000000 }' "$1.collapsed")
    reached=$(sed -n 's/.*Reaching safepoint: *\([0-9]*\) ns.*/\1/p' "$1.log" | awk '{ sum += $1 } END { printf "%d\n", sum / 1000000 }')
    echo "$1: $all ms in all, $loop in the loop, $java in Java; $reached ms were waited for safepoints"
    # The law of signals holds with those that are spared.
    ledger "$1.jfr" 1
}

# The JVM's symbols are read in the first second: some of the waits may go by before.
within ttsp begin=ttsp
[ "$loop" -ge 100 ] || fail "ttsp: $loop ms in the loop are a proof of nothing"
# Where the loop gets no processor the JVM's own thread looks a thousand times a second whether it has stopped.
looks=$(sum_of ttsp.collapsed SafepointSynchronize::synchronize_threads)
[ $((loop * 10)) -ge $(((all - looks) * 9)) ] || fail "ttsp: of $all ms $loop are in the loop, and $looks of who waits for it"
# Two threads may run while it is waited for, and a sample stands for the interval around it.
[ $((loop * 4)) -le $((reached * 5)) ] || fail "ttsp: $loop ms are told, $reached were waited"
"$JW_COMMAND" convert -q -e cpu --safepoint --samples ttsp.jfr late.collapsed
"$JW_COMMAND" convert -q -e cpu --samples ttsp.jfr samples.collapsed
waited=$(awk '/Late.counted/ { sum += $NF } END { print sum + 0 }' late.collapsed)
samples=$(awk '/Late.counted/ { sum += $NF } END { print sum + 0 }' samples.collapsed)
echo "ttsp: $samples samples of the loop, $waited of them of a thread that a safepoint waited for"
[ $((waited * 20)) -ge $((samples * 19)) ] || fail "ttsp: of $samples samples of the loop a safepoint waited for $waited"

within stopped begin=RuntimeService::record_safepoint_synchronized,end=SafepointSynchronize::end
[ "$all" -gt 0 ] || fail "stopped: no sample, of the collector neither"
[ "$java" = 0 ] || fail "stopped: $java ms are of Java code, which was stopped"

within outside begin=SafepointSynchronize::end,end=SafepointSynchronize::begin
[ "$loop" -ge 100 ] || fail "outside: $loop ms in the loop are a proof of nothing"
"$JW_COMMAND" convert -q -e cpu --safepoint --samples outside.jfr outside.late.collapsed
! grep -q . outside.late.collapsed || fail "outside: samples of a thread that a safepoint waited for: $(head -n 2 outside.late.collapsed)"
