# Four clients at once give one busy JVM commands at random: the command, the Java API, the C API, and whoever speaks the
# attach protocol. Each answer is the one that belongs to the command or a clear refusal, each file is whole, and at the end
# nothing is left. CONTROL_SECONDS (5) is how long; SEED repeats their choices. Then ten thousand questions in a row.
# m26, m43: starts and stops at random, of all kinds of sessions.
# m59: dumps and stops of the same session by four clients, each file whole.
# m58: conservation in each file.
# m67: no descriptor, timer or thread is left.
# shellcheck source=/dev/null
# once: commands meet in the agent; what a JVM adds is attaching, which the case attach does on each.
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
seconds=${CONTROL_SECONDS:-5}
mkdir files

export MALLOC_ARENA_MAX=1
JAVA_FLAGS=(-Xms96m -Xmx96m -XX:+AlwaysPreTouch -XX:+UseSerialGC "${NO_CORE[@]}" -XX:ErrorFile="$OUT/hs_err_%p.log"
    "${LATE_AGENTS[@]}" "${STEADY_COMPILERS[@]}" -cp "$CLASSES:$JW_JAR" -Djava.library.path="$CLASSES")
[ "$MAJOR" -lt 22 ] || JAVA_FLAGS+=(--enable-native-access=ALL-UNNAMED)
begin_target target ControlStorm "$seconds" "$SEED" "$JW_LIBRARY" "$OUT/files"

counts() {
    local timers=0
    [ ! -e "/proc/$target/timers" ] || timers=$(grep -c '^ID:' "/proc/$target/timers" || true)
    echo "$(cat "/proc/$target/task/"*/comm | grep -cx 'jaywalk' || true) threads, $timers timers, $(
        find "/proc/$target/fd" -mindepth 1 ! -lname '*.so*' ! -lname '*.jar' ! -lname '*/mem' | wc -l) descriptors"
}
# The same when what a stop leaves behind has ended, thread and connection: it answers first.
settled() {
    local told="" i
    for ((i = 0; i < 300; i++)); do
        listener_is_busy "$target" || told=$(counts)
        [[ $told != "0 threads, 0 timers, "* ]] || break
        sleep 0.1
    done
    echo "$told"
}
anonymous() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$target/status"; }

# What a first session leaves for the next one is there before.
for i in 1 2; do
    jaywalk 0 start -i 1ms -f "warm.jfr" "$target" >out
    jaywalk 0 stop "$target" >out
done
jaywalk 0 start --wall 5ms -f "warm.html" "$target" >out
jaywalk 0 stop "$target" >out
before=$(settled)
echo "before: $before"
[[ $before = "0 threads, 0 timers, "* ]] || fail "before the storm: $before"

touch files/go
reader=$(one_reader)
"${reader#* }/bin/java" "${READER_FLAGS[@]}" -cp "$CHECKER:$CLASSES" ControlClients storm "$target" "$JW_LIBRARY" "$JW_COMMAND" "$seconds" \
    "$SEED" "$OUT/files" >clients.log 2>&1 &
clients=$!
while ! grep -q '^done' target.out || kill -0 "$clients" 2>/dev/null; do
    kill -0 "$target" || fail "the JVM has ended: $(tail -n 2 target.err | tr '\n' ' ')"
    echo "$(date +%s) $(anonymous)" >>memory
    sleep 0.5
done
wait "$clients" || fail "the clients: $(head -n 1 clients.log)"
"$JW_COMMAND" stop "$target" >last.out 2>&1 || grep -qE 'not active|samples are kept' last.out || fail "the last stop: $(cat last.out)"

after=$(settled)
echo "after: $after"
[ "$after" = "$before" ] || fail "after the storm: $after, before it $before: $(
    readlink "/proc/$target/fd/"* | sort | uniq -c | tr '\n' ' ')"
# What the agent may have at most is what memlimit says; what is there is told by the kernel.
awk '{ if (NR == 1) first = $2; if ($2 > most) most = $2; last = $2 } END { print "resident " first ", at most " most ", at last " last " kB" }' memory
[ "$(awk -v from="$(wc -l <memory)" 'NR > from / 4 { if (!n++) first = $2; last = $2 } END { print last - first < 65536 }' memory)" = 1 ] ||
    fail "resident memory grows: $(tail -n 1 memory) kB after $(head -n 1 memory)"

check_once ControlSaid files/*.said
# The JVM's own stderr has what no client was told.
# What ends by itself, by its timeout, says so there.
own='^(\[jaywalk\] (Profiling (started|stopped|resumed)|CPU time |Cost: |[0-9]+ samples in )|WARNING: |$)'
! grep -vE "$own" target.err | has_line . || fail "stderr: $(grep -vE "$own" target.err | head -n 1)"

shopt -s nullglob
complete=()
copies=()
for file in files/*; do
    case $file in
    *-copy.jfr) copies+=("$file") ;;
    *.jfr) complete+=("$file") ;;
    *.collapsed) ! grep -aqvE '^.+ [0-9]+$' "$file" || fail "$file is torn: $(tail -n 1 "$file")" ;;
    *.html) tail -n 1 "$file" | has_line '</html>$' || fail "$file is torn" ;;
    *.said | */go | */command.answer) ;;
    *) fail "left behind: $file" ;;
    esac
done
echo "files ${#complete[@]} recordings, ${#copies[@]} copies, $(ls files/*.collapsed files/*.html 2>/dev/null | wc -l) graphs"
[ ${#complete[@]} -ge 2 ] || fail "only ${#complete[@]} recordings"
check Whole "$COUNTERS" "${complete[@]}"
[ ${#copies[@]} = 0 ] || check Whole --running "$COUNTERS" "${copies[@]}"
summaries() { # $1: major, $2: home
    local file
    for file in "${complete[0]}" "${complete[-1]}"; do
        jfr_tool "$1" "$2" summary "$file"
    done
}
each_reader summaries

# s16: most of a storm is sent back, the log is not filled, and the next one is heard.
READER_CLASSES=$CHECKER:$CLASSES
lines=$(wc -l <target.err)
CHECKER=$READER_CLASSES check_once ControlClients flood "$target" "$JW_LIBRARY" "${CONTROL_FLOOD:-10000}"
[ $(($(grep -c 'commands in a second' target.err) - lines)) -le 60 ] || fail "the log of a storm has $(wc -l <target.err) lines"
sleep 0.3
jaywalk 0 status "$target" >out
grep -q '^Profiler is not active' out || fail "after the storm: $(cat said.out)"
kill "$target"
wait "$target" || true
no_crash
