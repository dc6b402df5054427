# A thread that is stopped behind each of its instructions: at each of the JVM's code its stack reaches the thread's root, and differs from the
# one before by a call or a return at most.
[ "$(uname -m)" = x86_64 ] || not_run "the processor's trap flag is of x86-64"
case $MAJOR in 17 | 21 | 25) ;; *) not_run "the code of JDK $MAJOR was not gone through instruction by instruction" ;; esac
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

at_least() { # $1: mode, $2: what, $3: how many prove something
    local told
    told=$(sed -n "s/^$2 //p" "$1.out")
    [ "${told:-0}" -ge "$3" ] || fail "$1: $2: ${told:-nothing}, not $3"
}

# Nothing inlined: then each step is held to the last one, too.
step() { # $1: mode, $2: whether it is held to the last one, $3: rounds before, $4: instructions of Java, then flags
    local mode=$1 held=$2 warm=$3 least=$4 wrong
    shift 4
    profile "$mode" "event=cpu,interval=2ms,features=mixed,file=$mode.jfr" -cp "$CLASSES:$JW_JAR" "$@" Steps "$held" 1 "$warm"
    cat "$mode.out"
    at_least "$mode" 'in Java' "$least"
    # Where this JDK's compiled code returns to the interpreter below what an earlier call has left.
    [ "$MAJOR" != 17 ] || at_least "$mode" 'left behind' 8
    wrong=$(grep -m 1 '^WRONG' "$mode.out" || true)
    [ -z "$wrong" ] || fail "$mode: of $(sed -n 's/^walked //p' "$mode.out") instructions $(grep -c '^WRONG' "$mode.out"), such as $wrong"
}

for mode in $(half_of c1 c2 tiered cold); do
    case $mode in
    c1) step c1 true 1500 80000 -XX:TieredStopAtLevel=1 -XX:-Inline ;;
    c2) step c2 true 8000 20000 -XX:-Inline ;;
    tiered) step tiered false 4000 15000 ;;
    cold) step cold true 40 25000 -XX:-Inline ;;
    esac
done
