# Our own walker finishes every kind of stack, also with Java below C (upcalls), and while another collector works: of
# each kind less than 0.5 % of the walks fail or are cut. KINDS_GC names the collectors, KINDS_SECONDS the CPU time of each
# of two threads of a kind, KINDS_SAMPLES what there must be of them, however long that takes, and more where it is not clear yet
# (Walks.java). KINDS_ROWS=WALKER prints rows of docs/walks.md instead, of that walker, and bounds nothing.
seconds=${KINDS_SECONDS:-0.7}
samples=${KINDS_SAMPLES:-1300}
[ -z "${KINDS_ROWS:-}" ] || samples=0
walker=${KINDS_ROWS:-vm}
int=-Xint
c1=-XX:TieredStopAtLevel=1
calls=-XX:-Inline

kinds() { # $1: name, $2: collector, $3: flags, then kinds of stacks
    local name=$1 gc=$2 flags only=
    read -ra flags <<<"$3"
    shift 3
    [ "$samples" = 0 ] || only=,filter=$(IFS=';' && echo "${*/%/-*}")
    profile "$name" "event=cpu,interval=1ms,cstack=$walker$only,file=$name.jfr" -Xmx128m -XX:+UnlockExperimentalVMOptions \
        "-XX:+Use${gc}GC" "${flags[@]}" -cp "$CLASSES:$JW_JAR" Walks "$seconds:$samples" "$@"
}

row() { # $1: what the row is called, $2: collector, $3: flags, $4: kind of stacks
    kinds "row$((rows += 1))" "$2" "$3" "$4"
    check_once Walked --row "row$rows.jfr" "$4-"
    echo "row | $1 | $2 | $MAJOR | $walker | $(<check.out)"
}

bounded() { # as kinds
    local name=$1
    kinds "$@"
    silent "$name"
    shift 3
    check_once Walked "$name.jfr" "${@/%/-}"
}

rows=0
[ "$MAJOR" -ge 11 ] && other=Z || other=Parallel # JDK 8 has no ZGC
read -ra collectors <<<"${KINDS_GC:-$(half_of G1 "$other" | tr '\n' ' ')}" # of two JDKs each has one
for gc in "${collectors[@]}"; do
    if [ -n "${KINDS_ROWS:-}" ]; then
        row stubs "$gc" "" stubs
        row "megamorphic calls" "$gc" "$calls" megamorphic
        row "interpreter only" "$gc" "$int" exceptions
        row "C1 only" "$gc" "$c1" exceptions
        row "recursion to 2,000" "$gc" "" recursion
        row exceptions "$gc" "" exceptions
        row monitors "$gc" "" monitors
        row "GC pressure" "$gc" "" garbage
    else
        bounded "tiered-$gc" "$gc" "" stubs recursion exceptions monitors garbage
        bounded "calls-$gc" "$gc" "$calls" megamorphic
        bounded "int-$gc" "$gc" "$int" exceptions
        bounded "c1-$gc" "$gc" "$c1" exceptions
    fi
done
if [ "$MAJOR" -ge 22 ] && [ -z "${KINDS_ROWS:-}" ]; then
    bounded upcalls G1 "" upcalls
fi
