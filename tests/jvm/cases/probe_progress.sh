# How far a probe is with the classes that are there, while it comes and goes: on a terminal, and for whoever asks for the status meanwhile.
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
command -v script >/dev/null || not_run "no terminal without the tool script"
JAVA_FLAGS+=("${LATE_AGENTS[@]}")

printf 'Premain-Class: probed.Paused\nCan-Retransform-Classes: true\n' >other.mf
"$JDK/bin/jar" cfm other.jar other.mf
safepoints=()
[ "$MAJOR" -lt 17 ] || safepoints=(-Xlog:safepoint:file=safepoints.log) # before, the JVM's log does not say which operation it was
begin_target paused "${safepoints[@]}" -javaagent:other.jar -cp "$JW_JAR:$API_CLASSES" probed.Paused "$OUT/held"

# The program holds the agent up behind the first twenty classes until the file has gone.
watched() { # $1: name, $2: what its last line says, $3: how classes are written, then arguments of the command
    local name=$1 last=$2 how=$3 command
    shift 3
    : >held
    SHELL=/bin/sh script -qec "exec $JW_COMMAND $*" /dev/null </dev/null >"$name.pty" 2>&1 &
    command=$!
    until grep -aq '[12][0-9] of 30 classes are written, in [1-9][0-9]* batches' "$name.pty"; do
        kill -0 "$command" || fail "$name: no progress on a terminal: $(tail -c 200 "$name.pty")"
        sleep 0.1
    done
    jaywalk 0 status "$paused" >"$name.status"
    grep -q "^Probe parts: [12][0-9] of 30 classes are written $how, in [1-9][0-9]* batches$" "$name.status" ||
        fail "$name: status does not tell: $(grep Probe "$name.status")"
    rm held
    wait "$command" || fail "$name: status $?: $(tail -c 200 "$name.pty")"
    grep -aq "$last" "$name.pty" || fail "$name: $(tail -c 200 "$name.pty")"
    jaywalk 0 status "$paused" >"$name.status"
    ! grep -q 'classes are written' "$name.status" || fail "$name: status tells of it still"
}

watched attach 'attached parts: 1 handlers, 30 methods of 30 classes' again probe attach "$paused" "$PROBE_CLASSES/Parts.class"
# What it says of the longest pause is not less than what the JVM says of its own.
told=$(grep -ao 'the longest stopped it for [0-9]* us' attach.pty | grep -o '[0-9]*')
if [ ${#safepoints[@]} != 0 ]; then
    longest=$(sed -n 's/.*Safepoint "RedefineClasses".* At safepoint: *\([0-9]*\) ns.*/\1/p' safepoints.log | sort -n | tail -n 1)
    [ -n "$longest" ] && [ "${told:-0}" -ge $((longest / 1000)) ] || fail "the longest pause is told as ${told:-none} us, the JVM's log has $longest ns"
fi
watched detach 'detached parts' back probe detach "$paused" parts

# Nobody watches: nothing is said of it.
jaywalk 0 probe attach "$paused" "$PROBE_CLASSES/Parts.class" >attach.out
[ ! -s said.err ] || fail "without a terminal: $(head -n 1 said.err)"

# With more time for each batch there are fewer of them, with less more, and what came so goes so.
batches() { # $1: name, then options
    local name=$1
    shift
    jaywalk 0 probe attach "$@" "$paused" "$PROBE_CLASSES/Parts.class" >"$name.out"
    sed -n 's/^30 classes were written again while the program ran, in \([0-9]*\) batches; .*/\1/p' "$name.out"
}
jaywalk 0 probe detach --pausebudget 10s "$paused" parts >detach.out
[ "$(batches few --pausebudget 10s)" = 2 ] || fail "with 10 s: $(cat few.out)"
jaywalk 0 probe detach "$paused" parts >detach.out
[ "$(batches many --pausebudget=100us)" -ge 4 ] || fail "with 100 us: $(cat many.out)"
: >held
"$JW_COMMAND" probe detach "$paused" parts >back.out 2>&1 &
back=$!
# One at a time where the first of them took long; with as much time as is given by default they are one batch.
until jaywalk 0 status "$paused" >back.status && grep -qE '^Probe parts: [0-9]+ of 30 classes are written back, in ([2-9]|[12][0-9]) batches$' back.status; do
    kill -0 "$back" || fail "with 100 us, back: $(cat back.out)"
    sleep 0.1
done
rm held
wait "$back" && grep -q '^detached parts$' back.out || fail "with 100 us: $(cat back.out)"
jaywalk 2 probe attach --pausebudget 0 "$paused" "$PROBE_CLASSES/Parts.class" >none.out
says 'pausebudget=0: is zero; allowed: '
end_target paused running
