# Traced methods (trace=): an event for each call that is long enough and for no other, of methods that return, throw, call themselves and build objects,
# in sessions that are started and stopped; on virtual threads, too. What names no method is told, and what cannot be a pattern refused.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

SESSIONS=3
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)
log=()
[ "$MAJOR" -lt 11 ] || log=("-Xlog:redefine+class+load=info:file=redefined.log")

traced() { # $1: platform or virtual, $2: number of the session
    local number name least most count
    grep '^[0-9]' "$1.out" >"$1.numbers" || true
    while read -r number name least most; do
        "$JW_COMMAND" convert -q -o csv --event=jdk.MethodTrace "$1/$number.jfr" - >"$1.csv"
        # Its columns are the last, but for those of who carried it and of what it worked for, where there are any: nothing, here.
        count=$(grep -cE "(Traced|Part)[.]$name\"(,[^,]*)?(,,0,0)?\s*$" "$1.csv" || true)
        echo "$1, session $number: $count of $name, $least to $most by the program's own clock"
        [ "$count" -ge "$least" ] && [ "$count" -le "$most" ] || fail "$1: $count events of $name, not $least to $most"
        [ "$least" -ge 30 ] || fail "$1: $least calls of $name are a proof of nothing"
        # The stack begins with the method, and has none of ours in it.
        [ "$(grep -cE "$name:[0-9]+\",\"[^\"]*$name\"" "$1.csv")" = "$count" ] || fail "$1: stacks of $name do not end in it"
    done <"$1.numbers"
    ! grep -qE 'Jaywalk(Timer|Dispatcher)|MethodEvents' "$1.csv" || fail "$1: frames of the agent are in stacks"
    [ "$(wc -l <"$1.numbers")" = $((4 * SESSIONS)) ] || fail "$1: not all sessions have told"
}

kinds=(platform)
[ "$MAJOR" -lt 21 ] || kinds+=(virtual)
for kind in "${kinds[@]}"; do
    mkdir "$kind"
    run_java "$kind" 0 "${LATE_AGENTS[@]}" "${may_load[@]}" "${log[@]}" -cp "$JW_JAR:$API_CLASSES" traced.Traced $SESSIONS "$kind" "$OUT/$kind"
    [ "$(tail -n 1 "$kind.out")" = ok ] || fail "$kind: $(tail -n 1 "$kind.out")"
    traced "$kind"
    # Each session writes the class anew, and writes it back.
    [ "$MAJOR" -lt 11 ] || [ "$(grep -c 'redefined name=traced.Traced,' redefined.log)" = $((2 * SESSIONS)) ] ||
        fail "$kind: the class was not written back: $(grep -c 'redefined name=traced.Traced,' redefined.log)"
done
whole platform/1.jfr

# With the JVM, and of its own methods, which are called as often as the program says.
run_java begin 0 "$(agent_flag 'quiet,event=cpu,trace=java.util.BitSet.flip:0,file=begin.jfr')" -cp "$JW_JAR:$API_CLASSES" traced.Traced once
count=$("$JW_COMMAND" convert -q -o csv --event=jdk.MethodTrace begin.jfr - | grep -c '"java/util/BitSet.flip"')
[ "$count" = "$(cat begin.out)" ] || fail "$count events of BitSet.flip, not $(cat begin.out)"

for bad in work traced.Traced.work:fast 'traced.Traced.work(J)' '.work'; do
    run_java refused 0 "$(agent_flag "trace=$bad,file=refused.jfr")" -version
    grep -q 'trace: .*example\|trace: .*such as' refused.err || fail "no clear refusal of trace=$bad: $(cat refused.err)"
    [ ! -e refused.jfr ] || fail "what was refused has left a file"
done
