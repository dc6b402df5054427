# Commands to a running JVM: each does what it says, in any order, and stubs made long before are known.
. "$(dirname "$LIB")/attach.sh"

command() { # $1: expected answer of the agent, $2: options
    load_agent "$jvm" "$2" >>jcmd.out
    [ "$(tail -n 1 jcmd.out)" = "return code: $1" ] ||
        fail "$2: $(tail -n 1 jcmd.out), not return code $1"
}

told() { # $1: text that the JVM's stderr must hold
    grep -qF -- "$1" attach.err || fail "no such message: $1"
}

"$JDK/bin/java" "${JAVA_FLAGS[@]}" "${LATE_AGENTS[@]}" Stubs 1 "$OUT/over" >attach.out 2>attach.err </dev/null &
jvm=$!
trap 'kill "$jvm" 2>/dev/null || true' EXIT
# Before it handles SIGQUIT jcmd finds no JVM there.
until grep -qE '^SigCgt:.*[4-7c-f]$' "/proc/$jvm/status"; do
    kill -0 "$jvm" || fail "java did not start: $(head -n 1 attach.err)"
    sleep 0.02
done
command 0 status
told "Profiler is not active"
# m23: JVMTI events are switched on while code is generated and methods are compiled.
command 0 "start,interval=1ms,file=$OUT/first.jfr"
command 200 "start,file=$OUT/second.jfr"
told "Profiler already started"
command 0 status
told "Profiling is running"
command 0 stop
command 200 stop
command 0 "start,event=itimer,interval=1ms,file=$OUT/itimer.jfr"
command 0 stop
command 0 "start,interval=1ms,file=$OUT/last.jfr"
until
    command 0 status
    [ "$(grep -oE '[0-9]+ samples in' attach.err | sed '$!d;s/ .*//')" -ge 1000 ]
do sleep 0.3; done
touch over
wait "$jvm" || fail "java ended with status $?"
trap - EXIT
no_crash
[ ! -e second.jfr ] || fail "a refused start left a file"
check_once Failures last.jfr stubs-
ledger last.jfr
whole first.jfr last.jfr
