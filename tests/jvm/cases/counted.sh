# Counted methods (count=, jaywalk latency): each call is counted, and nothing else, of methods that return, throw, call themselves, build objects, begin
# with a loop or find no stack left, of the program and of the JDK; by platform and virtual threads, few and many; interpreted and compiled.

counted() { # $1: name, $2: platform or virtual, then flags of java
    local name=$1 kind=$2 method calls found lines=0
    shift 2
    profile "$name" "event=cpu,interval=1ms,count=Tally.*,count=Tally.t*,count=Tally\$Shape.area,count=Tally\$Square.<init>,count=java.util.BitSet.flip,count=No.where,file=$name.jfr" \
        "$@" Tally $kind
    grep -q 'warning: count: no class that was loaded has a method No.where' "$name.err" || fail "$name: it is not said that a pattern met nothing"
    ! grep -q 'not counted\|nothing is told' "$name.err" || fail "$name: calls were lost: $(cat "$name.err")"
    "$JW_COMMAND" latency --json --top=0 "$name.jfr" | sed 's/\\u003c/</; s/\\u003e/>/' >"$name.json"
    while read -r method calls; do
        found=$(awk -v row="{\"method\":\"$method\",\"calls\":" 'index($0, row) == 1 { print substr($0, length(row) + 1) + 0 }' "$name.json")
        [ "$found" = "$calls" ] || fail "$name: $found calls of $method, not $calls"
        lines=$((lines + 1))
    done <"$name.out"
    [ "$lines" = 8 ] || fail "$name: the program has not told all: $(cat "$name.out")"
}

counted platform platform
counted interpreter platform -Xint
counted first platform -XX:TieredStopAtLevel=1
[ "$MAJOR" -lt 21 ] || counted virtual 'virtual unshared' --add-opens java.base/java.lang=ALL-UNNAMED
"$JW_COMMAND" latency platform.jfr >platform.txt
grep -qE '^ *4000 +[0-9]+\.[0-9][0-9]  Tally\.failed$' platform.txt || fail "no row of Tally.failed: $(cat platform.txt)"
"$JW_COMMAND" latency --json platform.jfr interpreter.jfr >both.json
grep -q '"method":"Tally.deep","calls":56000,"per_second"' both.json || fail "two recordings do not add up: $(cat both.json)"
whole platform.jfr
