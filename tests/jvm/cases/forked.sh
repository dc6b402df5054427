# Time that tasks of ForkJoinPool wait (queue=, jaywalk latency): each one that is handed over is told once, in whatever way, by platform and virtual threads, with its own class and
# the pool's, and has waited as long as it says itself; what is cancelled, refused, forked or run where it is called is not, nor anything of the scheduler of virtual threads.

forked() { # $1: platform or virtual; then flags of java
    local name=$1 count least most task found total
    shift
    profile "$name" "event=cpu,queue=1ns,file=$name.jfr" -Djava.util.concurrent.ForkJoinPool.common.parallelism=2 "$@" Forked "$name"
    "$JW_COMMAND" latency --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no times"
    while read -r count least most task; do
        read -r found total <<<"$(grep -F "{\"task\":\"$task\"," "$name.json" | sed 's/.*"calls":\([0-9]*\),"total_ns":\([0-9]*\),.*/\1 \2/')"
        echo "$name: $found of $count tasks $task waited $total ns; the program: $least to $most"
        [ "$found" = "$count" ] || fail "$name: $found tasks $task, not $count: $(cat "$name.json")"
        { [ "$total" -ge "$least" ] && [ "$total" -le "$most" ]; } ||
            fail "$name: tasks $task waited $total ns, and $least to $most by the program's own clock"
    done <"$name.out"
    [ "$(grep -c . "$name.out")" = 13 ] || fail "$name: the program has not told all: $(cat "$name.out")"
    [ "$(grep -c '{"task":' "$name.json")" = 13 ] || fail "$name: other tasks are told than those that were: $(cat "$name.json")"
    "$JW_COMMAND" convert -q --event=jaywalk.QueueTime "$name.jfr" "$name.csv" || fail "$name: no events"
    [ "$(grep -c '^"jaywalk.QueueTime"' "$name.csv")" = 243 ] || fail "$name: not 243 events: $(head -n 3 "$name.csv")"
    READER=$(one_reader)
    forgotten=$(run_jfr "${READER#* }" print --events jaywalk.Diagnostics "$name.jfr" | sed -n 's/^ *queueForgotten = //p' | tail -n 1)
    [ "$forgotten" = 0 ] || fail "$name: $forgotten tasks are remembered that nobody takes"
}

forked platform
# One carrier, so that each turn of the two threads is a task of the scheduler.
[ "$MAJOR" -lt 21 ] || forked virtual -Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1
whole platform.jfr
