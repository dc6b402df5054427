# Probes in a running program: every call is counted, in the interpreter and in the code of either compiler; after detach no handler is entered and
# none runs any more, the classes of the probe are collected, another probe in the same methods loses no call meanwhile, and a way of detaching that is
# not enough is found out.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
wrong=$(dirname "$LIB")/../../build/wrong/instrument/libjaywalk.so
[ -f "$wrong" ] || fail "$wrong is not there: make build/wrong/instrument/libjaywalk.so"

CYCLES=${PROBE_CYCLES:-100}
PARTS=${PROBE_PARTS:-} # names begin so; empty: all
# PROBE_CONTROL="PARTS CYCLES" adds a control of what cycles leave in metaspace; from three parts of a hundred on it has bounds.
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)

# Every second one, where another JDK has the others.
turn=0
probed() { # $1: name, $2: flags of java, $3: mode, then what the mode wants
    local name=$1 flags mode=$3
    [ "${name#"$PARTS"}" != "$name" ] || [ -z "$PARTS" ] || return 0
    [ -z "$HALF" ] || [ $((turn++ % 2)) = "$HALF" ] || return 0
    read -ra flags <<<"$2"
    shift 3
    run_java "$name" 0 "${LATE_AGENTS[@]}" "${may_load[@]}" "${flags[@]}" -cp "$JW_JAR:$API_CLASSES" probed.Probed "$mode" "$PROBE_CLASSES" "$@"
    cat "$name.out"
    [ "$(tail -n 1 "$name.out")" = ok ] || fail "$name: $(tail -n 1 "$name.out")"
    ! grep -v 'was taken out' "$name.err" | has_line '\[jaywalk\]' || fail "$name: $(grep -m 1 '\[jaywalk\]' "$name.err")"
}

c1=-XX:TieredStopAtLevel=1
c2=-XX:-TieredCompilation
probed exact-interpreter -Xint exact 3000
probed exact-c1 $c1 exact 20000
probed exact-c2 $c2 exact 20000
probed checked -Xcheck:jni exact 1000
probed verified -Xverify:all exact 1000
probed places "" places
probed within-interpreter "-Xint -Xverify:all" within 2000
probed within-c1 $c1 within 20000
probed within "$c2 -Xcheck:jni" within 20000
probed above "" above
probed blocked "" blocked
probed beside-interpreter -Xint beside 6
probed beside "" beside 12
probed births "" births
probed throwing "" throwing
probed slow "" slow
probed often "" often
probed deep "" deep
probed deep-c2 $c2 deep
probed cycles-interpreter -Xint cycles "$CYCLES"
probed cycles-c1 $c1 cycles "$CYCLES"
probed cycles "" cycles "$CYCLES"
if [ "$MAJOR" -ge 21 ]; then
    probed blocked-virtual "" blocked-virtual
    probed cycles-virtual "" cycles-virtual "$CYCLES"
fi

# What metaspace grows by in as many cycles of a probe as of a class that is retransformed likewise, without one; for the long runs.
if [ -n "${PROBE_CONTROL:-}" ]; then
    printf 'Premain-Class: probed.Control\nCan-Retransform-Classes: true\n' >control.mf
    "$JDK/bin/jar" cfm control.jar control.mf
    # The agent is there for probes from the start, so that the other one sees what it writes.
    for first in probe control; do
        run_java "$first-first" 0 "${may_load[@]}" "-agentpath:$JW_LIBRARY=start,quiet,interval=1s,probe=$PROBE_CLASSES/probes/Nowhere.class,file=$first.jfr" \
            -javaagent:control.jar -cp "$JW_JAR:$API_CLASSES" probed.Probed control "$PROBE_CLASSES" "${PROBE_CONTROL%% *}" "${PROBE_CONTROL##* }" "$first"
        cat "$first-first.out"
        [ "$(tail -n 1 "$first-first.out")" = ok ] || fail "$first-first: $(tail -n 1 "$first-first.out")"
    done
    own=$(awk '/^grows/ { print $2; exit }' probe-first.out) alone=$(awk '/^grows/ { print $4; exit }' control-first.out)
    [ "${PROBE_CONTROL##* }" -lt 100 ] || [ "$own" -lt $((2 * alone + 4096)) ] || fail "metaspace grows by $own bytes a cycle, where the JVM itself has $alone"
fi

[ -z "$PARTS" ] || exit 0

# With the JVM, from its first class on: nothing of it is missed.
run_java start 0 "${may_load[@]}" "-agentpath:$JW_LIBRARY=start,quiet,probe=$PROBE_CLASSES/probes/Early.class,file=start.jfr" \
    -cp "$JW_JAR:$API_CLASSES" probed.Probed early "$PROBE_CLASSES"
[ "$(tail -n 1 start.out)" = ok ] || fail "start: $(tail -n 1 start.out)"

# What becomes of each place is told: by the list, by status, in the recording.
run_java linked 0 "${may_load[@]}" "-agentpath:$JW_LIBRARY=start,quiet,interval=100ms,file=linked.jfr" \
    -cp "$JW_JAR:$API_CLASSES" probed.Probed linked "$PROBE_CLASSES"
[ "$(tail -n 1 linked.out)" = ok ] || fail "linked: $(tail -n 1 linked.out)"
missed=$("$JW_COMMAND" convert -q -o jsonl -e jaywalk.Diagnostics linked.jfr - | tail -n 1 | grep -o '"probePlacesMissed":[0-9]*')
[ "${missed#*:}" = $((MAJOR > 8 ? 65 : 64)) ] || fail "linked: the recording has $missed"

# The JVM refuses the first call that takes a probe's flag back (behind three that connect its handlers): it is asked again, and nobody comes in.
if [ -f "$JW_FAULTS_LIBRARY" ]; then
    JW_FAULTS_RULES=jni.CallVoidMethod:ENOMEM@4 JW_FAULTS_TOLD=told run_java refused 0 "${may_load[@]}" "-agentpath:$JW_FAULTS_LIBRARY=start,quiet,interval=100ms,file=refused.jfr" \
        -cp "$JW_JAR:$API_CLASSES" probed.Probed blocked "$PROBE_CLASSES"
    [ "$(tail -n 1 refused.out)" = ok ] || fail "refused: $(tail -n 1 refused.out)"
    [ "$(tr -d '\0' <told | wc -l)" = 1 ] || fail "refused: not one call was refused: $(tr -d '\0' <told)"
else
    skip_part "a JVM that refuses to end a probe: no $JW_FAULTS_LIBRARY"
fi

# With a library that only links the places to nothing, a thread is inside when detach comes back; and where handlers pause for long, cycles find it, too.
found_out() { # $1: name, $2: what it must say, then the mode and what that wants
    local name=$1 said=$2 mode=$3 status=0
    shift 3
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" "${may_load[@]}" "-agentpath:$wrong=start,quiet,file=$name.jfr" -cp "$JW_JAR:$API_CLASSES" \
        probed.Probed "$mode" "$PROBE_CLASSES" "$@" >"$name.out" 2>"$name.err" </dev/null || status=$?
    no_crash
    [ "$status" != 0 ] && grep -q "$said" "$name.err" || fail "$name: detaching without a proof was not found out: $(tail -n 1 "$name.out")"
}
found_out wrong 'not refused: detached watch' blocked
found_out wrong-cycles 'handlers after detach, in cycle' cycles 20 1000
