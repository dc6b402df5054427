# Live objects: at a dump and at the end exactly those that the program keeps, of each class, with stack, thread and age as the program knows
# them, also of a thread, or a virtual one, that has ended, and under -Xcheck:jni; what was dropped is not among them; leaks names what grew, and where; with a collector that moves
# objects in pauses, and one that does it beside the program. A JVM without sampled allocations goes on without.
. "$(dirname "$LIB")/attach.sh"

number() { sed -n "s/.*\"$2\":\(\"[^\"]*\"\|[0-9]*\).*/\1/p" "$1"; } # $1: file, $2: field

exact() { # $1: name, $2: class, $3: how many
    local found
    found=$(grep -c "Living\$$2;" "$1.jsonl" || true)
    [ "$found" = "$3" ] || fail "$1: $found objects of $2 are live, the program keeps $3"
}

of_collector() { # $1: name, $2: virtual, or nothing, then flags of java
    local name=$1 kind=$2 whose=ends-soon
    shift 2
    rm -f go
    begin_target target "$(agent_flag event=alloc,alloc=1k,live=16384,file=$name.jfr)" -Xmx256m "$@" Living $kind
    until grep -q '^kept' target.out; do sleep 0.05; done
    jaywalk 0 dump -f "$OUT/$name-first.jfr" "$target"
    touch go
    wait "$target" || fail "$name: java ended with status $?: $(last_words target.err)"
    ! grep 'in native method' target.out || fail "$name: the JVM complains of what JNI is asked for"
    for part in "$name-first" "$name"; do
        # Events of all sets, of which the last one counts.
        "$JW_COMMAND" convert -q -e live --times ns "$part.jfr" "$part.all.jsonl"
        awk '{ match($0, /"startTime":"?[0-9]+/); at = substr($0, RSTART, RLENGTH); if (at != last) { last = at; n = 0 } line[n++] = $0 }
            END { for (i = 0; i < n; i++) print line[i] }' "$part.all.jsonl" >"$part.jsonl"
        exact "$part" Kept 60
        exact "$part" Dropped 0
    done
    exact "$name-first" Late 0
    exact "$name" Late 40
    if [ -n "$kind" ]; then # under -Xcheck:jni it has no name; before JDK 24 the JVM tells of its carrier alone, where objects do not stand still
        [ "$MAJOR" -ge 24 ] && whose='"virtual":true' || whose=ForkJoinPool-1-worker
    fi
    [ "$(grep 'Living$Late;' "$name.jsonl" | grep '"Living","method":"late"' | grep -c "$whose")" = 40 ] ||
        fail "$name: where late objects come from is not what the program knows: $(grep -m 1 'Living$Late;' "$name.jsonl")"

    read -r _ _ first_ms last_ms < <(grep '^kept' target.out)
    read -r _ least most < <(grep '^pauses' target.out)
    grep 'Living$Kept;' "$name.jsonl" >"$name.kept"
    number "$name.kept" collections >"$name.ages"
    number "$name.kept" allocationTime | tr -d '"' | sed 's/......$//' >"$name.times"
    [ "$(wc -l <"$name.ages")" = 60 ] || fail "$name: ages are not told: $(head -n 1 "$name.kept")"
    awk -v least="$least" -v most="$most" '$1 < least || $1 > most { exit 1 }' "$name.ages" ||
        fail "$name: ages are $(sort -n "$name.ages" | uniq | tr '\n' ' '), the program counts $least to $most pauses"
    awk -v first="$first_ms" -v last="$last_ms" '$1 < first - 1 || $1 > last + 1 { exit 1 }' "$name.times" ||
        fail "$name: allocated at $(head -n 1 "$name.times"), the program did it from $first_ms to $last_ms"

    "$JW_COMMAND" leaks "$name-first.jfr" "$name.jfr" >"$name.leaks"
    sed -n '/^By class/,/^By where/p' "$name.leaks" | sed -n 4p | has_line 'Living$Late\[\]$' ||
        fail "$name: leaks does not name what grew: $(head -n 12 "$name.leaks" | tr '\n' '|')"
    tr '\n' ' ' <"$name.leaks" | has_line 'allocated at Living.late' || fail "$name: leaks does not name where: $(tail -n 4 "$name.leaks")"
    "$JW_COMMAND" leaks --json "$name.jfr" >"$name.json"
    grep -q '"class":"Living$Late\[\]","before_bytes":0,' "$name.json" ||
        fail "$name: the first set and the last of one recording do not tell what came between"
    cat "$name.leaks"
}

if [ "$MAJOR" -lt 11 ]; then
    profile off event=cpu,live,file=off.jfr Allocating
    grep -q 'live: off' off.err || fail "live does not say why it is off: $(cat off.err)"
    exit 0
fi
if [ "$MAJOR" -ge 21 ]; then
    of_collector g1 virtual -XX:+UseG1GC -Xcheck:jni
    of_collector z virtual -XX:+UseZGC
else
    of_collector serial "" -XX:+UseSerialGC
    of_collector g1 "" -XX:+UseG1GC
fi
