# Time in the queues of executors (queue=, jaywalk latency): each task is told once, handed over in whatever way, by platform and virtual threads, with its own class, and has
# waited as long as it says itself, within 5 %; what was refused or removed is not told, nor what waited less than asked for. The class of the JDK is written back.
. "$(dirname "$LIB")/attach.sh"

queued() { # $1: name, $2: platform or virtual
    local name=$1 count ns none task found total
    profile "$name" "event=cpu,queue=1ns,file=$name.jfr" Queued "$2"
    "$JW_COMMAND" latency --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no times"
    while read -r count ns none task; do
        read -r found total <<<"$(grep -F "{\"task\":\"$task\"," "$name.json" | sed 's/.*"calls":\([0-9]*\),"total_ns":\([0-9]*\),.*/\1 \2/')"
        echo "$name: $found of $count tasks $task waited $total ns; the program: $ns, of which $none may be none"
        [ "$found" = "$count" ] || fail "$name: $found tasks $task, not $count: $(cat "$name.json")"
        [[ $task == *Lambda*Pool ]] || { [ $((total * 100)) -ge $(((ns - none) * 95)) ] && [ $((total * 100)) -le $((ns * 105)) ]; } ||
            fail "$name: tasks $task waited $total ns, and $ns by the program's own clock, of which $none may be none"
    done <"$name.out"
    [ "$(grep -c . "$name.out")" = 7 ] || fail "$name: the program has not told all: $(cat "$name.out")"
    [ "$(grep -c '{"task":' "$name.json")" = 7 ] || fail "$name: other tasks are told than those that were: $(cat "$name.json")"
    "$JW_COMMAND" convert -q --event=jaywalk.QueueTime "$name.jfr" "$name.csv" || fail "$name: no events"
    [ "$(grep -c '^"jaywalk.QueueTime"' "$name.csv")" = 123 ] || fail "$name: not 123 events: $(head -n 3 "$name.csv")"
    # Virtual threads have no name in it.
    [ "$2" = virtual ] || [ "$(grep -c '"submitter",[0-9]' "$name.csv")" = 123 ] || fail "$name: it is not said of each task who handed it over: $(head -n 3 "$name.csv")"
}

queued platform platform
[ "$MAJOR" -lt 21 ] || queued virtual virtual
whole platform.jfr

# What waited for less is not told; the class is what it was.
log=()
[ "$MAJOR" -lt 11 ] || log=("-Xlog:redefine+class+load=info:file=redefined.log")
begin_target server "${log[@]}" Queued serve
jaywalk 0 start -e cpu --queue=3600s -f long.jfr "$server" >out
sleep 0.3
jaywalk 0 stop "$server" >out
! "$JW_COMMAND" latency long.jfr 2>long.txt || fail "tasks are told that waited for less: $("$JW_COMMAND" latency long.jfr)"
grep -q 'queue' long.txt || fail "it is not said which option to give: $(cat long.txt)"
jaywalk 0 start -e cpu --queue=1us -f live.jfr "$server" >out
# It waits for work of its own, which on a busy machine comes late: a case that hears nothing at all of it does not end.
until
    jaywalk 0 dump -f "$OUT/told.jfr" "$server" >out
    "$JW_COMMAND" latency told.jfr 2>/dev/null | grep 'Queued.Task in java.util.concurrent.ThreadPoolExecutor' >told
do sleep 0.2; done
jaywalk 0 stop "$server" >out
"$JW_COMMAND" latency live.jfr | has_line 'Queued.Task in java.util.concurrent.ThreadPoolExecutor' || fail "nothing is told of a program that has long been running"
end_target server serves
if [ "$MAJOR" -ge 11 ]; then
    # Twice written, twice written back.
    [ "$(grep -c 'redefined name=java.util.concurrent.ThreadPoolExecutor,' redefined.log)" = 4 ] || fail "the class was not written back: $(grep -c ThreadPoolExecutor redefined.log)"
fi
