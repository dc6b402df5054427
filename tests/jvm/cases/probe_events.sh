# Events that probes declare, in the recording: each of them with its fields, method, handler, stack, thread and attribute; a type that comes
# in the middle of a chunk, under a name of its own where there is one of that name; what is told while nothing is recorded. The files are whole, and read by
# every tool.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

TIMES=${PROBE_TIMES:-2000}
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)
kind=platform
[ "$MAJOR" -lt 21 ] || kind=virtual

events() { # $1: recording, $2: type, $3: a field; lines of JSON
    "$JW_COMMAND" convert -q -o jsonl "$1" - | grep -F "\"$2\"" | grep -F "\"$3\":" || true
}

told() { # $1: name, then flags of java
    local name=$1 sale="jaywalk.probe.Sale" one count
    shift
    run_java "$name" 0 "${LATE_AGENTS[@]}" "${may_load[@]}" "-agentpath:$JW_LIBRARY=start,quiet,event=cpu,file=$name.jfr" "$@" \
        -cp "$JW_JAR:$API_CLASSES" told.Teller "$PROBE_CLASSES" "$TIMES" $kind
    [ "$(tail -n 1 "$name.out")" = ok ] || fail "$name: $(tail -n 1 "$name.out")"
    # -Xcheck:jni speaks of signals and of local references by itself.
    [ "$name" = checked ] || ! grep -vE '^(\{.*|ok)$' "$name.out" || fail "$name: the JVM or the agent says something on standard output"

    # A fifth of the sales throws. On two threads each.
    sales=$((TIMES / 5 * 4 * 2)) failures=$((TIMES / 5 * 2))
    grep -qF "\"events\":[{\"name\":\"Sale\",\"type\":\"jaywalk.probe.Sale\",\"recorded\":$sales,\"lost\":0,\"idle\":0},{\"name\":\"Failed\",\"type\":\"jaywalk.probe.Failed\",\"recorded\":$failures,\"lost\":0,\"idle\":0}]" \
        "$name.out" || fail "$name: $(grep -o '"events.*' "$name.out" | head -n 1)"
    grep -qF "\"recorded\":$sales,\"lost\":0,\"idle\":$((sales / 2))},{\"name\":\"Failed\",\"type\":\"jaywalk.probe.Failed\",\"recorded\":$failures,\"lost\":0,\"idle\":$((failures / 2))}]" \
        "$name.out" || fail "$name: idle: $(grep -o '"events.*' "$name.out" | tail -n 1)"

    events "$name.jfr" $sale items >"$name.sales"
    count=$(wc -l <"$name.sales")
    [ "$count" = "$sales" ] || fail "$name: $count sales in the recording, not $sales"
    # Whoever sells two has no customer, and all that is told of it.
    for one in '"items":2,' '"customer":null' '"price":20000000000,' '"share":0.5,' '"even":true' '"small":-2,' '"short":4,' '"half":1,'; do
        [ "$(grep -cF "$one" "$name.sales")" -ge $((sales / 4)) ] || fail "$name: $one is not in a quarter of $name.sales"
    done
    for one in '"customer":"customer 1 ä€😀"' '"name":"told/Till",' '"name":"Told",' '"name":"sold",' '"probe":"told"'; do
        grep -qF "$one" "$name.sales" || fail "$name: $one is not in $name.sales"
    done
    [ "$(grep -cF '"tenant":"acme"' "$name.sales")" = $((sales / 2)) ] || fail "$name: the attribute is not on half of the sales"
    ! grep -qE '"class":"(io/jaywalk/ProbeEvents|java/lang/Jaywalk[^"]*|java/lang/invoke/[^"]*|Told)"' "$name.sales" || fail "$name: frames of the agent are in stacks"

    [ "$(events "$name.jfr" jaywalk.probe.Failed why | grep -cF '"why":"four are too many","rule":"tills"')" = $failures ] || fail "$name: failures"
    [ "$(events "$name.jfr" ${sale}_2 buyer | grep -cF '"name":"begun"')" = "$TIMES" ] || fail "$name: the second probe's events"
    "$JW_COMMAND" convert -q -o csv --event=$sale "$name.jfr" "$name.csv"
    [ "$(grep -cF ',"told","Told.sold","told/Till.sell",' "$name.csv")" = "$sales" ] || fail "$name: no methods in $name.csv"
    ! grep -qF stackTrace <(events "$name.jfr" jaywalk.probe.Failed why) || fail "$name: failures have a stack"

    # Who called, and what for: method handles and reflection are passed over.
    events "$name.jfr" jaywalk.probe.Asked items >"$name.asked"
    trace=$(printf '%016x' $((0xa1)))$(printf '%016x' $((0xb2)))
    [ "$(wc -l <"$name.asked")" = $((TIMES + 4)) ] || fail "$name: $(wc -l <"$name.asked") asked"
    [ "$(grep -cF '"caller":"told.Teller.ask","span":7,"trace":"'"$trace"'","endpoint":"GET /till/ä","items":1' "$name.asked")" = "$TIMES" ] ||
        fail "$name: the caller or its context are not told: $(head -n 1 "$name.asked")"
    for one in 2 3; do
        grep -qF '"caller":"told.Teller.ask","span":7,"trace":"'"$trace"'","endpoint":"GET /till/ä","items":'$one "$name.asked" ||
            fail "$name: the caller through a handle or reflection: $(grep -F "\"items\":$one" "$name.asked")"
    done
    grep -qF '"caller":"told.Teller.ask","span":0,"trace":null,"endpoint":null,"items":5' "$name.asked" || fail "$name: without a context: $(grep '"items":5' "$name.asked")"
    grep -qE '"caller":"told[.]Teller[.]lambda[^"]*","span":8,"trace":null,"endpoint":null,"items":6' "$name.asked" || fail "$name: in a thread: $(grep '"items":6' "$name.asked")"
    if [ "$MAJOR" -ge 9 ]; then
        [ "$(events "$name.jfr" jaywalk.probe.Called by | grep -cF '"by":"told.Teller.ask"')" = "$TIMES" ] || fail "$name: callers of a method of the JDK"
    fi

    # A flame graph of them: all of the type whose stacks begin at the place.
    "$JW_COMMAND" convert -q --event=$sale "$name.jfr" "$name.collapsed"
    count=$(awk '/told[.\/]Till[.]sell/ { sum += $NF } END { print sum + 0 }' "$name.collapsed")
    [ "$count" = $sales ] || fail "$name: $count events in the graph, not $sales"
    ! grep -vE 'Till[.]sell[^;]* [0-9]+$' "$name.collapsed" || fail "$name: stacks that do not end at the place"
    grep -q . <(grep -F $sale <("$JW_COMMAND" summary "$name.jfr")) || fail "$name: summary does not name them"
}

told interpreter -Xint
told c2 -XX:-TieredCompilation
told checked -Xcheck:jni
whole interpreter.jfr c2.jfr checked.jfr
