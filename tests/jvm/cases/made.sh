# Objects by their class (event=new:): all are counted, by class and method, and each, or each n-th, is told with its stack: of constructors that call each other or
# throw, of what compiled code makes nothing of, arrays, lambdas, interfaces, enums, by platform and virtual threads, compiled and interpreted. What is not asked
# for is not told, nor what no code of the program makes; nothing stays when it ends.
. "$(dirname "$LIB")/attach.sh"

NAMED='Made$Order|Made$Line|Made$P*|**Fragile|int[]|Made$L*[]|Made$Line[][]'

sum_of() { # $1: file of collapsed stacks, $2: pattern: the numbers of those that match
    awk -v pattern="$2" '$0 ~ pattern { sum += $NF } END { print sum + 0 }' "$1"
}

# What the program says, as a pattern of the end of a stack.
pattern_of() { echo "(^|[;.])$(sed 's/\[\]/@/g; s/[$]/[$]/g; s/[.]/[.\/]/g; s/#/[0-9]+/; s/@/[[][]]/g' <<<"$1") [0-9]+\$"; }

each() { # $1: name, $2: file of collapsed stacks
    local end count found all=0 lines=0
    while read -r end count; do
        found=$(sum_of "$2" "$(pattern_of "$end")")
        [ "$found" = "$count" ] || fail "$1: $found of $count objects of $end: $(grep -m 3 -F "${end##*[;.]}" "$2" | cut -c 1-300)"
        all=$((all + count)) lines=$((lines + 1))
    done <"$1.out"
    [ "$lines" = 23 ] || fail "$1: the program has not told all: $(cat "$1.out")"
    found=$(sum_of "$2" .)
    [ "$found" = "$all" ] || fail "$1: $found objects where $all were made"
    ! grep -qE 'Jaywalk|NewEvents' "$2" || fail "$1: frames of the agent are in stacks"
    grep -q "event: $all objects were made" "$1.err" || fail "$1: it is not said how many were made: $(cat "$1.err")"
    echo "$1: $all objects"
}

# By class and method, as the recording counts them.
counted() { # $1: name
    awk '{ n = split($1, frames, ";"); sums[frames[n - 1] " " frames[n]] += $2 } END { for (one in sums) if (sums[one] != 0) print one, sums[one] }' "$1.out" |
        LC_ALL=C sort >"$1.expected"
    "$JW_COMMAND" convert -q -o csv --event=jaywalk.ObjectCount "$1.jfr" - |
        sed -nE 's/^"jaywalk.ObjectCount",[^,]*,"(.*)","(.*)",([0-9]+),.*/\2 \1 \3/p' |
        sed -E 's/\$[0-9]+ /$# /; s/ \[I / int[] /; s/ \[\[L(.*); / \1[][] /; s/ \[L(.*); / \1[] /' |
        awk '{ last[$1 " " $2] = $3 } END { for (one in last) print one, last[one] }' | LC_ALL=C sort >"$1.counted"
    diff "$1.expected" "$1.counted" || fail "$1: what was counted (>) is not what was made (<)"
    "$JW_COMMAND" latency -q --json --top=0 "$1.jfr" | sed -nE 's/^\{"made":"(.*) in (.*)","objects":([0-9]+),.*/\2 \1 \3/p' |
        sed -E 's/\$[0-9]+ /$# /; s/\\u003c/</; s/\\u003e/>/' | LC_ALL=C sort >"$1.told"
    diff "$1.expected" "$1.told" || fail "$1: what is told of counts (>) is not what was made (<)"
}

kinds=(platform)
[ "$MAJOR" -lt 21 ] || kinds+=(virtual)
for kind in "${kinds[@]}"; do
    profile "$kind" "event=new:$NAMED,file=$kind.collapsed" Made "$kind" 150
    each "$kind" "$kind.collapsed"

    # Each thousandth, beside another clock, of code that is compiled: the counts are exact all the same.
    profile "some-$kind" "event=new:$NAMED,interval=1000,wall=20ms,file=some-$kind.jfr" Made "$kind" 20000
    counted "some-$kind"
    "$JW_COMMAND" convert -q --total -o collapsed "some-$kind.jfr" "some-$kind.collapsed" || fail "some-$kind.jfr was not converted"
    made=$(awk '{ sum += $2 } END { print sum }' "some-$kind.out")
    found=$(sum_of "some-$kind.collapsed" .)
    echo "some-$kind: $found of $made objects, by each thousandth"
    [ "$found" -ge $((made - 20000)) ] && [ "$found" -le $((made + 20000)) ] || fail "some-$kind: samples stand for $found objects of $made"
done
whole "some-$kind.jfr"

profile interpreted "event=new:$NAMED,file=interpreted.jfr" -Xint Made platform 100
"$JW_COMMAND" convert -q -o collapsed interpreted.jfr interpreted.collapsed || fail "interpreted.jfr was not converted"
each interpreted interpreted.collapsed
counted interpreted
"$JW_COMMAND" convert -q interpreted.jfr interpreted.txt
grep -q '^Profile of new\(,\|$\)' interpreted.txt && grep -qE '^Total +[0-9,]+ objects in [0-9,]+ samples$' interpreted.txt ||
    fail "it is not said what was counted: $(head -n 3 interpreted.txt)"

profile dialect 'event=new:Made$Order,dialect=async-profiler,file=dialect.jfr' Made platform 100
found=$("$JW_COMMAND" convert -q -o collapsed dialect.jfr - | sed -n 's/.*Made.plain //p')
[ "$found" = 400 ] || fail "dialect: $found samples"

# In a program that runs, twice; its classes are what they were.
log=()
[ "$MAJOR" -lt 11 ] || log=("-Xlog:redefine+class+load=info:file=redefined.log")
begin_target server "${log[@]}" Made serve
for turn in 1 2; do
    jaywalk 0 start -e 'new:Made$Order|No.Where|Order|int[]' -f live.jfr "$server" >out
    until [ "$(jaywalk 0 status "$server" | sed -n 's/ samples in .*//p')" -ge 1 ]; do sleep 0.1; done
    jaywalk 0 stop "$server" >out
    says 'warning: event: no class of the application that was loaded makes a No.Where; code of the JDK is not looked at'
    says 'warning: event: no class of the application that was loaded makes a Order; classes are named with their package, or as **.Order'
done
"$JW_COMMAND" convert -q -o collapsed live.jfr - | has_line 'Made.plain;Made[$]Order' || fail "nothing is told of a program that has long been running"
end_target server serves
if [ "$MAJOR" -ge 11 ]; then
    [ "$(grep -c 'redefined name=Made,' redefined.log)" = 4 ] || fail "the class was not written back: $(grep -c 'name=Made,' redefined.log)"
fi
for wrong in '' ':' ':com.acme.' ':a||b' ':Made$Order.<init>' ':int' ':Made[' ':[]'; do
    run_java refused 0 "$(agent_flag "event=new$wrong,file=refused.jfr")" -version
    grep -qE "event=new: (of which classes|'.*' names no class: wanted are names|there are no objects of int; of arrays it is int\[\])|event=new:: is unknown" refused.err ||
        fail "no clear refusal of new$wrong: $(cat refused.err)"
done
