# ttsp: who keeps safepoints waiting, beside the JVM's own log, each of the two by the safepoint's number. Three programs whose one line is late (a
# counted loop that does not ask, a copy of a large array, pages of a mapped file that are touched for the first time) with three collectors, and the
# loop with ZGC; the loop with G1 beside the wall clock, whose signal it shares. Of all delays of 10 ms or more that the log has 95 % name the method and
# the line, but for those in which a thread had no processor and that is what is told. No delay is told that the log does not have, of a
# program that is not late neither. The report names the same, with its hint; and samples of threads that a safepoint waited for are those
# of the place that is late, and what --safepoint lets in.
. "$(dirname "$LIB")/delays.sh"

READER=$(one_reader)
READER=${READER#* }

count() { grep -c "$@" || true; }

# The first frame of each stack that is the program's own. Up to JDK 12 who has come to stop waits for a lock to say so, which the JVM's thread has until the last one comes: it is
# told as waited for, and says itself where it is.
places() {
    awk '/^  stackTrace = \[/ { open = 1 } /SafepointSynchronize::block/ { open = 0 } open && /Late\./ { print; open = 0 } /^  \]/ { if (open) print "none"; open = 0 }' "$1" |
        sed 's/^ *\(Late\.[a-zA-Z]*\)(.*line: *\([0-9]*\).*/\1 \2/'
}

# Safepoints that the JVM has at times of its own are none of this: the array itself is filled with zeros before, once, which is late, too.
AT_OUR_TIMES=(-Xmx1g -XX:+UnlockDiagnosticVMOptions -XX:GuaranteedSafepointInterval=0)
while read -r collector what end; do
    case $what in
    counted) is_late "$collector" counted loop "$end" '' ;;
    copy) is_late "$collector" copy copy "$end" '' "${AT_OUR_TIMES[@]}" ;;
    fault) is_late "$collector" fault 'page-faults|mapped-file' "$end" '' ;;
    esac
done < <(half_of 'Parallel copy 10' 'Serial copy 10' 'Serial fault 6' 'G1 copy 10' 'Parallel counted 8' 'Parallel fault 6' 'G1 fault 6' 'Serial counted 8')
is_late G1 counted loop 20 ',wall=5ms'
[ "$MAJOR" -lt 17 ] || is_late Z counted loop 2 ''
expect_right 25

# Where the thread was is told to the byte of its code.
read -r from to < <("$READER/bin/javap" -c -l -cp "$CLASSES" Late | awk -v line="$(line_of counted):" '
    at && $1 == "line" { print from, $3; exit } $2 == line { at = 1; from = $3 }')
awk -v from="$from" -v to="$to" '/"lateIn":"Java"/ && /"frames":\[\{"class":"Late","method":"counted"/ {
    match($0, /\]},"bytecodeIndex":-?[0-9]+/); bci = substr($0, RSTART + 19, RLENGTH - 19) + 0
    if (bci >= from && bci < to) good++; else bad++
} END { print "bytecode indexes in the line, " from " to " to ": " good + 0 ", others: " bad + 0; exit !good || bad }' counted-G1.jsonl ||
    fail "bytecode indexes are not those of the line: $(grep -o '"bytecodeIndex":[-0-9]*' counted-G1.jsonl | sort | uniq -c)"

# The word that polls look at is the right one: where it were another, no thread would be told to be waited for.
if [ "$MAJOR" -ge 10 ]; then polls='"value":"on"'; else polls='"value":"off: the threads of this JVM have no polls of their own'; fi
"$JW_COMMAND" convert -q -o jsonl -e jdk.ActiveSetting counted-G1.jfr g1.settings || fail "g1: no settings"
grep -q "\"name\":\"pollsamples\",$polls" g1.settings || fail "g1: polls: $(grep pollsamples g1.settings | tail -n 1)"

# SIGVTALRM is the wall clock's too: each signal has one outcome, and those of delays are spared.
ledger counted-G1.jfr 1

# The operation, where the JVM has symbols; known from the first second on. By the JDK's own tool.
run_jfr "$READER" print --events jaywalk.SafepointDelay --stack-depth 64 counted-G1.jfr >g1.txt
sed -n 's/.*Safepoint "\([A-Za-z0-9]*\)".*/\1/p' counted-G1.log | sort -u >g1.operations
[ "$MAJOR" -ge 17 ] || echo G1CollectFull >g1.operations # their logs do not tell
grep '^  operation = "' g1.txt | sed 's/.*"\(.*\)".*/\1/' | { grep . || true; } >g1.told
! grep -vxFf g1.operations g1.told || fail "operations have other names than the JVM's log has: $(grep '^  operation' g1.txt | sort | uniq -c)"
if readelf -Ws "$(libjvm)" | grep _ZN20SafepointSynchronize6_stateE >symbol.txt; then
    grep -q '^  operation = "G1CollectFull"' g1.txt || fail "no operation has its name"
    # What a safepoint waited for is in the loop: samples of the CPU clock, and no more of them than the waits have time for.
    run_jfr "$READER" print --events jaywalk.SafepointSample --stack-depth 64 counted-G1.jfr >samples.txt
    grep -q '^  clock = "wall"' samples.txt || fail "no sample of the wall clock is of a thread that a safepoint waited for"
    waited=$(count '^  clock = "cpu"' samples.txt)
    "$JW_COMMAND" convert -q --safepoint -e cpu --samples counted-G1.jfr waited.collapsed
    let_in=$(awk '{ sum += $NF } END { print sum + 0 }' waited.collapsed)
    [ "$let_in" = "$waited" ] || fail "--safepoint lets in $let_in samples of the CPU clock, $waited are told"
    places samples.txt >samples.places
    loop=$(count '^Late\.counted' samples.places)
    all=$(wc -l <samples.places)
    room=$(awk '{ sum += $1 } END { print int(sum / 10000000) }' counted-G1.reached)
    echo "samples that a safepoint waited for: $all, of the CPU clock $waited, in the loop $loop; the waits have time for $room"
    [ "$waited" -ge 10 ] || fail "$waited samples are told to be waited for"
    [ $((loop * 100)) -ge $((all * 90)) ] || fail "of $all samples that a safepoint waited for $loop are in the loop"
    [ $((waited * 4)) -le $((room * 5)) ] || fail "$waited samples are told to be waited for, the waits had time for $room"
fi

# Whatever is told of it the log has, so nothing is where the log has nothing.
late none none 10 '' -XX:+UseParallelGC
