# ttsp: who keeps safepoints waiting, with four collectors, beside the wall clock, whose signal it shares. No delay is told that the JVM's own log
# does not have; of those that name somebody 95 % name the method and the line in which the program is known to be late: a counted loop
# that does not ask, a copy of a large array, pages of a mapped file that are touched for the first time; and of those that the log has two
# thirds name somebody. A program that is not late is told of where the log says so alone. The report names the same, with its hint; and samples
# of threads that a safepoint waited for are those of the place that is late, and what --safepoint lets in.
log_of() { # $1: file; the flags of the JVM that write it
    if [ "$MAJOR" -ge 17 ]; then
        echo "-Xlog:safepoint*:file=$1:uptimenanos"
    elif [ "$MAJOR" -ge 9 ]; then
        echo "-Xlog:safepoint:file=$1"
    else
        echo "-Xloggc:$1 -XX:+PrintGCApplicationStoppedTime"
    fi
}

# How long each safepoint was waited for, in ns.
reached_of() { # $1: file
    sed -n 's/.*Reaching safepoint: *\([0-9]*\) ns.*/\1/p; s/.*Stopping threads took: *\([0-9.]*\) seconds.*/\1 s/p' "$1" |
        awk '{ printf "%d\n", $2 == "s" ? $1 * 1e9 : $1 }'
}

# Before 10 no such loop is cut into pieces. Who compiles waits: what is not compiled yet asks.
IN_ONE_PIECE=(-Xbatch -XX:LoopStripMiningIter=0 -XX:-UseCountedLoopSafepoints)
[ "$MAJOR" -ge 10 ] || IN_ONE_PIECE=(-Xbatch -XX:-UseCountedLoopSafepoints)
READER=$(one_reader)
READER=${READER#* }

count() { grep -c "$@" || true; }

# Delays are of tens of ms here or of next to none. The JVM takes the times of log and counters apart, and a busy machine may have its way in
# between: what is told, at 10 ms, is in the log at 5 ms; what is in the log at 20 ms is told.
late() { # $1: name, $2: what is late, $3: after how many safepoints it ends, $4: further options, then flags of java
    local name=$1 what=$2 end=$3 more=$4
    shift 4
    profile "$name" "event=cpu,ttsp$more,file=$name.jfr" $(log_of "$name.log") \
        "${IN_ONE_PIECE[@]}" -XX:CompileCommand=dontinline,Late.* "$@" Late "$what" "$end"
    run_jfr "$READER" print --events jaywalk.SafepointDelay --stack-depth 64 "$name.jfr" >"$name.txt"
    reached_of "$name.log" >"$name.reached"
    [ -s "$name.reached" ] || fail "$name: the JVM's log has no safepoint"
    told=$(count '^jaywalk.SafepointDelay' "$name.txt")
    most=$(awk '$1 >= 5000000' "$name.reached" | wc -l)
    echo "$name: told $told, in the JVM's log $most"
    [ "$told" -le "$most" ] || fail "$name: $told delays are told, the JVM's log has $most"
}

# The first frame of each stack that is the program's own.
places() {
    awk '/^  stackTrace = \[/ { open = 1 } open && /Late\./ { print; open = 0 } /^  \]/ { if (open) print "none"; open = 0 }' "$1" |
        sed 's/^ *\(Late\.[a-zA-Z]*\)(.*line: *\([0-9]*\).*/\1 \2/'
}

surely=0 named=0 judged=0 right=0
is_late() { # $1: pattern of the place, $2: hints of the report; then arguments of late
    local place=$1 hints=$2 here there
    shift 2
    late "$@"
    here=$(count '^  lateIn = "J' "$1.txt")
    places "$1.txt" >"$1.places"
    there=$(count -E "^Late\.$place$" "$1.places")
    starved=$(starved_but "$1.jfr" Late "$(sed 's/ [][0-9]*//g' <<<"$place")")
    echo "$1: $here name somebody, $there of them $place, $starved another that got no processor"
    surely=$((surely + $(awk '$1 >= 20000000' "$1.reached" | wc -l)))
    named=$((named + here))
    judged=$((judged + here - starved))
    right=$((right + there))
    [ "$here" -ge 3 ] || fail "$1: the program was late $told times, and $here of them name somebody: a proof of nothing"
    [ $((there * 100)) -ge $(((here - starved) * 90)) ] || [ $((here - starved - there)) -le 1 ] || fail "$1: of $here delays $there name $place: $(sort "$1.places" | uniq -c)"
    "$JW_COMMAND" safepoints --json "$1.jfr" >"$1.json" || fail "$1: no report"
    grep -qE "\"hint\":\"($hints)\"" "$1.json" || fail "$1: no hint of $hints: $(cat "$1.json")"
}

is_late 'counted 2[45]' 'loop|no-processor' serial counted 10 '' -XX:+UseSerialGC
is_late 'counted 2[45]' 'loop|no-processor' g1 counted 20 ',wall=5ms' -XX:+UseG1GC
# The array itself is filled with zeros before, once.
is_late '(copy 30|main 59)' 'copy|no-processor' parallel copy 15 '' -XX:+UseParallelGC -Xmx1g
is_late 'fault 3[45]' 'page-faults|no-processor|mapped-file' fault fault 9 '' -XX:+UseSerialGC
[ "$MAJOR" -lt 17 ] || is_late 'counted 2[45]' 'loop|no-processor' zgc counted 2 '' -XX:+UseZGC
echo "of $surely delays $named name somebody, $right of $judged that had a processor the method and line"
[ "$surely" -ge 25 ] || fail "the program was late $surely times only"
[ $((named * 3)) -ge $((surely * 2)) ] || fail "of $surely delays $named name somebody"
[ $((right * 100)) -ge $((judged * 95)) ] || fail "of $judged delays that name somebody who had a processor $right name the method and its line"

# The word that polls look at is the right one: where it were another, no thread would be told to be waited for.
if [ "$MAJOR" -ge 10 ]; then polls='"value":"on"'; else polls='"value":"off: the threads of this JVM have no polls of their own'; fi
"$JW_COMMAND" convert -q -o jsonl -e jdk.ActiveSetting g1.jfr g1.settings || fail "g1: no settings"
grep -q "\"name\":\"pollsamples\",$polls" g1.settings || fail "g1: polls: $(grep pollsamples g1.settings | tail -n 1)"

# SIGVTALRM is the wall clock's too: each signal has one outcome, and those of delays are spared.
ledger g1.jfr 1

# The operation, where the JVM has symbols; known from the first second on.
sed -n 's/.*Safepoint "\([A-Za-z0-9]*\)".*/\1/p' g1.log | sort -u >g1.operations
[ "$MAJOR" -ge 17 ] || echo G1CollectFull >g1.operations # their logs do not tell
grep '^  operation = "' g1.txt | sed 's/.*"\(.*\)".*/\1/' | { grep . || true; } >g1.told
! grep -vxFf g1.operations g1.told || fail "operations have other names than the JVM's log has: $(grep '^  operation' g1.txt | sort | uniq -c)"
if readelf -Ws "$(libjvm)" | grep _ZN20SafepointSynchronize6_stateE >symbol.txt; then
    grep -q '^  operation = "G1CollectFull"' g1.txt || fail "no operation has its name"
    # What a safepoint waited for is in the loop: samples of the CPU clock, and no more of them than the waits have time for.
    run_jfr "$READER" print --events jaywalk.SafepointSample --stack-depth 8 g1.jfr >samples.txt
    grep -q '^  clock = "wall"' samples.txt || fail "no sample of the wall clock is of a thread that a safepoint waited for"
    waited=$(count '^  clock = "cpu"' samples.txt)
    "$JW_COMMAND" convert -q --safepoint -e cpu --samples g1.jfr waited.collapsed
    let_in=$(awk '{ sum += $NF } END { print sum + 0 }' waited.collapsed)
    [ "$let_in" = "$waited" ] || fail "--safepoint lets in $let_in samples of the CPU clock, $waited are told"
    places samples.txt >samples.places
    loop=$(count '^Late\.counted' samples.places)
    all=$(wc -l <samples.places)
    room=$(awk '{ sum += $1 } END { print int(sum / 10000000) }' g1.reached)
    echo "samples that a safepoint waited for: $all, of the CPU clock $waited, in the loop $loop; the waits have time for $room"
    [ "$waited" -ge 10 ] || fail "$waited samples are told to be waited for"
    [ $((loop * 100)) -ge $((all * 90)) ] || fail "of $all samples that a safepoint waited for $loop are in the loop"
    [ $((waited * 4)) -le $((room * 5)) ] || fail "$waited samples are told to be waited for, the waits had time for $room"
fi

late none none 10 '' -XX:+UseParallelGC
