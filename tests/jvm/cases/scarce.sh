# Little of what a process is given: a limit on the size of files, on queued signals and descriptors; a file that is taken away while it is
# written, a directory that takes none. The program's result is its own; what cannot be is told, and what is on the disk is
# readable.
# once: it is the kernel that gives little.
FLAGS=(-Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx64m)

run_java right 0 "${FLAGS[@]}" Sums 8
same_result() { # $1: name
    cmp -s right.out "$1.out" || fail "$1: the program's result is another"
}
told() { # $1: name, $2: pattern
    grep -qE "^\[jaywalk\] (warning|error): .*$2" "$1.err" || fail "$1: no such message: $2, but: $(head -n 3 "$1.err" | tr '\n' ' ')"
}

# Whoever writes beyond the limit gets SIGXFSZ, which ends a process that does not expect it.
limited() { # $1: name, $2: limit, $3: agent options, then arguments of java
    local name=$1 limit=$2 options=$3 status=0
    shift 3
    (
        eval "ulimit $limit" && exec "$JDK/bin/java" "${JAVA_FLAGS[@]}" "${FLAGS[@]}" "$(agent_flag "$options")" "$@"
    ) >"$name.out" 2>"$name.err" </dev/null || status=$?
    no_crash
    [ "$status" = 0 ] || fail "$name: java ended with status $status: $(tail -n 2 "$name.err" | tr '\n' ' ')"
}
limited fsize '-f 40' "event=cpu,interval=1ms,file=fsize.jfr" Sums 8
same_result fsize
told fsize 'File too large'
# m53: up to where it was told to end.
[ ! -f fsize.jfr ] || check_once Whole --killed "$COUNTERS" fsize.jfr

# m42: more threads than signals that may be queued, and than descriptors: the others are sampled by their clocks, and counted.
limited signals "-i ${SCARCE_SIGNALS:-8} -n 256" "event=cpu,interval=10ms,file=signals.jfr" Sums 8
same_result signals
check_once Whole "$COUNTERS" signals.jfr
check_once Ledger "$COUNTERS" signals.jfr 1
grep -qE '^ *[0-9]+ threadsUntimed$' log 2>/dev/null || grep -qrE '^ *[0-9]+ threadsUntimed$' check-*.out ||
    fail "signals: no thread was refused a timer"

mkdir refused
chmod 555 refused
if [ "$(id -u)" != 0 ]; then
    profile refused "event=cpu,file=refused/x.jfr" "${FLAGS[@]}" Sums 8
    same_result refused
    told refused 'Permission denied'
fi

# Taken away, or replaced, while it is written: the recording goes on where it is, and comes back under its name at the end.
run_java taken 0 "${FLAGS[@]}" "$(agent_flag "event=cpu,interval=5ms,file=taken.jfr")" Sums 8 3 &
pid=$!
until [ -s taken.jfr ]; do sleep 0.1; done
rm taken.jfr
wait "$pid" || fail "taken: $(cat why)"
[ -s taken.jfr ] || told taken 'taken.jfr'
