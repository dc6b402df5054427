# How far a probe is with the classes that are there, while it comes and goes: on a terminal, and for whoever asks for the status meanwhile.
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
command -v script >/dev/null || not_run "no terminal without the tool script"
JAVA_FLAGS+=("${LATE_AGENTS[@]}")

printf 'Premain-Class: probed.Paused\nCan-Retransform-Classes: true\n' >other.mf
"$JDK/bin/jar" cfm other.jar other.mf
begin_target paused -javaagent:other.jar -cp "$JW_JAR:$API_CLASSES" probed.Paused "$OUT/held"

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
watched detach 'detached parts' back probe detach "$paused" parts

# Nobody watches: nothing is said of it.
jaywalk 0 probe attach "$paused" "$PROBE_CLASSES/Parts.class" >attach.out
[ ! -s said.err ] || fail "without a terminal: $(head -n 1 said.err)"
end_target paused running
