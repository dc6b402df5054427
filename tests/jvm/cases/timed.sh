# Timed methods (time=, jaywalk latency): each call is counted, of methods that return, throw and call themselves, on platform and virtual threads; percentiles
# are those that the program clocks itself, within 2 %.

figure() { sed -n "s/.*\"method\":\"Timed.$2\",.*\"$3\":\([0-9]*\).*/\1/p" "$1.json"; } # $1: name, $2: method, $3: field

timed() { # $1: name, $2: platform or virtual, then flags of java
    local name=$1 kind=$2 what method from to found
    shift 2
    profile "$name" "event=cpu,time=Timed.*,time=Timed.t*,time=No.where,file=$name.jfr" "$@" Timed "$kind"
    grep -q 'warning: time: no class that was loaded has a method No.where' "$name.err" || fail "$name: it is not said that a pattern met nothing"
    "$JW_COMMAND" latency --json "$name.jfr" >"$name.json"
    while read -r what method from to; do
        if [ "$what" = calls ]; then
            found=$(figure "$name" "$method" calls)
            [ "$found" = "$from" ] || fail "$name: $found calls of $method, not $from"
        else
            case $method in 500) found=p50_ns ;; 900) found=p90_ns ;; 990) found=p99_ns ;; 999) found=p99_9_ns ;; esac
            found=$(figure "$name" "$what" $found)
            echo "$name: of a thousand calls $method took no longer than $found ns; the program: $from to $to"
            [ $((found * 100)) -ge $((from * 98)) ] && [ $((found * 100)) -le $((to * 102)) ] ||
                fail "$name: $method of a thousand: $found ns, and $from to $to by the program's own clock"
        fi
    done <"$name.out"
    [ "$(grep -c . "$name.out")" = 8 ] || fail "$name: the program has not told all"
}

timed platform platform
timed interpreter platform -Xint
[ "$MAJOR" -lt 21 ] || timed virtual virtual
"$JW_COMMAND" latency platform.jfr >platform.txt
grep -qE '^ *2400 .* Timed.work$' platform.txt || fail "no row of Timed.work: $(cat platform.txt)"
"$JW_COMMAND" latency --json platform.jfr interpreter.jfr >both.json
[ "$(figure both tiny calls)" = 408000 ] || fail "two recordings do not add up: $(figure both tiny calls)"
[ "$MAJOR" -lt 25 ] || run_jfr "$JDK" print --events jdk.MethodTiming platform.jfr | has_line 'invocations = 28[, ]*000' ||
    fail "jdk.MethodTiming does not tell of 28,000 calls"
whole platform.jfr

# More methods and threads than there is memory for: no call is lost, and a small heap is enough.
profile crowd "event=cpu,time=TimedCrowd\$Tiny*.applyAsInt,file=crowd.jfr" -Xmx64m TimedCrowd
"$JW_COMMAND" latency --json --top=0 crowd.jfr >crowd.json
found=$(tr '{' '\n' <crowd.json | grep -c 'Tiny[0-9]*.applyAsInt","calls":4000,')
[ "$found" = 100 ] || fail "crowd: $found methods of 100 have 4,000 calls: $(head -c 400 crowd.json)"

# A pattern that meets nearly all: what switches virtual threads is left out, or the JVM would stand still.
if [ "$MAJOR" -ge 21 ]; then
    profile switched "event=cpu,time=java.lang.*.*,file=switched.jfr" Switched
    grep -qx 20000 switched.out || fail "switched: $(cat switched.out)"
fi

profile none event=cpu,file=none.jfr -version
! "$JW_COMMAND" latency none.jfr 2>none.txt || fail "a recording without times is a success"
grep -q -- '--time=' none.txt || fail "it is not said which option to give: $(cat none.txt)"

# One file after the other: methods stay timed and traced meanwhile, no call is lost or told twice, also one that lasts for all of them. A dump has all
# calls until then, and a call of a session that is over is nobody's.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)
log=()
[ "$MAJOR" -lt 11 ] || log=("-Xlog:redefine+class+load=info:file=redefined.log")
mkdir turns
run_java turns 0 "${LATE_AGENTS[@]}" "${may_load[@]}" "${log[@]}" -cp "$JW_JAR:$API_CLASSES" traced.Turns "$OUT/turns"
[ "$(tail -n 1 turns.out)" = ok ] || fail "turns: $(tail -n 1 turns.out)"
grep -q 'time= is of the session' turns.out || fail "turns: a user may take out what is of the session: $(cat turns.out)"

sum_of() { # $1: method, $2: first field behind the calls, then recordings: calls of what is timed (total_ns) or counted (per_second) in all of them
    local method=$1 behind=$2 file
    shift 2
    for file in "$@"; do
        "$JW_COMMAND" latency --json "$file" 2>/dev/null | sed -n "/\"per_second\"/s/.*\"method\":\"traced.Turns.$method\",\"calls\":\([0-9]*\),\"$behind\".*/\1/p"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}
read -r files calls <<<"$(sed -n 's/^turns //p' turns.out)"
echo "turns: $files files, $calls calls"
[ "$files" -ge 4 ] || fail "turns: $files files are a proof of nothing"
found=$(sum_of tiny total_ns turns/turn-*.jfr)
[ "$found" = "$calls" ] || fail "turns: $found calls are told of $calls"
found=$(sum_of tiny per_second turns/turn-*.jfr)
[ "$found" = "$calls" ] || fail "turns: $found calls are counted of $calls"
found=$(sum_of hold total_ns turns/turn-*.jfr)
[ "$found" = 1 ] || fail "turns: one call that lasted for all files is told $found times"
for file in turns/turn-*.jfr; do
    "$JW_COMMAND" convert -q -o csv --event=jdk.MethodTrace "$file" -
done | grep -c 'Turns.hold' >holds || true
lost=$(sed -n 's/^jaywalk_hook_lost_between_files_total //p' turns.out)
[ $(($(cat holds) + ${lost:-0})) = 1 ] || fail "turns: one traced call has $(cat holds) events, and is counted as lost ${lost:-0} times"
[ "$(sum_of tiny total_ns turns/dump.jfr) $(sum_of tiny per_second turns/dump.jfr)" = "321 321" ] ||
    fail "dump: $(sum_of tiny total_ns turns/dump.jfr) and $(sum_of tiny per_second turns/dump.jfr) calls of 321"
[ "$(sum_of other total_ns turns/other.jfr)" = 3 ] || fail "three calls and one of a session before are $(sum_of other total_ns turns/other.jfr)"
# One to three probes in each of five sessions: each came once and went once, whatever files there were.
[ "$MAJOR" -lt 11 ] || [ "$(grep -c 'redefined name=traced.Turns,' redefined.log)" = 16 ] ||
    fail "turns: the class was written anew $(grep -c 'redefined name=traced.Turns,' redefined.log) times, not 16"
