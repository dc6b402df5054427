# Exceptions by their class (event=exception): each that is made, or each n-th, by whoever makes it: with causes, by constructors that call each other, of classes that
# extend what is named, from lambdas, constructors, deep stacks and the JVM itself, by platform and virtual threads. What is not asked for is not told, what is
# thrown again neither; nothing stays when it ends.
. "$(dirname "$LIB")/attach.sh"

NAMED='Thrown$Plain|Thrown$Quiet|Thrown$Un*|Thrown$Wrapped|Thrown$Outer|Thrown$Inner|Thrown$Failed|java.io.IOException|java/lang/NullP*'

sum_of() { # $1: file of collapsed stacks, $2: pattern: the numbers of those that match
    awk -v pattern="$2" '$0 ~ pattern { sum += $NF } END { print sum + 0 }' "$1"
}

# What the program says, as a pattern of the end of a stack.
pattern_of() { echo "(^|[;.])$(sed 's/[$]/[$]/g; s/[.]/[.\/]/g; s/#/[0-9]+/' <<<"$1") [0-9]+\$"; }

each() { # $1: name, $2: file of collapsed stacks, $3: pattern of lines that are not there
    local end count found all=0 lines=0
    while read -r end count; do
        [[ ! $end =~ $3 ]] || count=0
        found=$(sum_of "$2" "$(pattern_of "$end")")
        [ "$found" = "$count" ] || fail "$1: $found of $count exceptions of $end: $(grep -m 3 -F "${end##*[;.]}" "$2" | cut -c 1-300)"
        all=$((all + count)) lines=$((lines + 1))
    done <"$1.out"
    [ "$lines" = 13 ] || fail "$1: the program has not told all: $(cat "$1.out")"
    # There are exceptions of the JDK's own, before the program and, with JDK 8, while it is loaded and linked.
    grep -vE 'ClassLoader[.]loadClass|java/lang/NoSuch(Method|Field)(Exception|Error) [0-9]+$' "$2" >"$1.own"
    found=$(sum_of "$1.own" Thrown)
    [ "$found" = "$all" ] || fail "$1: $found exceptions where $all were made"
    ! grep -qE 'Jaywalk|ThrowEvents|fillInStackTrace|Throwable[.]<init>|Thrown[$](Plain|Below|Inner|Wrapped)[.]<init>' "$2" || fail "$1: the making of exceptions is in stacks"
    echo "$1: $all exceptions"
}

reader=$(one_reader)
kinds=(platform)
[ "$MAJOR" -lt 21 ] || kinds+=(virtual)
for kind in "${kinds[@]}"; do
    # The JVM has some exceptions ready where compiled code throws often, and makes none.
    profile "$kind" "event=exception:$NAMED,file=$kind.collapsed" -XX:-OmitStackTraceInFastThrow Thrown "$kind"
    each "$kind" "$kind.collapsed" 'Thrown[$]Other$'
    [ "$(awk -F'Thrown[./]deep' '/deep/ { print NF - 1; exit }' "$kind.collapsed")" = 201 ] || fail "$kind: a deep stack is cut"

    # Each tenth, of names alone, beside another clock.
    profile "some-$kind" "event=exception:Thrown\$Pl*,interval=10,wall=20ms,file=some-$kind.jfr" Thrown "$kind"
    "$JW_COMMAND" convert -q --total -o collapsed "some-$kind.jfr" "some-$kind.collapsed" || fail "some-$kind.jfr was not converted"
    found=$(sum_of "some-$kind.collapsed" 'Thrown[$]Plain [0-9]+$')
    [ "$found" -ge 2280 ] && [ "$found" -le 2520 ] || fail "some-$kind: samples stand for $found exceptions of 2400"
    [ "$(sum_of "some-$kind.collapsed" .)" = "$found" ] || fail "some-$kind: there are others: $(head -n 3 "some-$kind.collapsed")"
done
whole "some-$kind.jfr"

# All of them, in a recording: errors are of a type of their own, and no message is told. Interpreted.
profile all "event=exception,file=all.jfr" -Xint Thrown platform
"$JW_COMMAND" convert -q -o collapsed all.jfr all.collapsed || fail "all.jfr was not converted"
each all all.collapsed None
run_jfr "${reader#* }" print --events jdk.JavaErrorThrow,jdk.JavaExceptionThrow all.jfr >all.txt
linking=$(grep -c 'thrownClass = java.lang.NoSuchFieldError ' all.txt || true)
[ "$(grep -c 'thrownClass = Thrown[$]Failed ' all.txt)" = 1200 ] && [ "$(grep -c '^jdk.JavaErrorThrow' all.txt)" = $((1200 + linking)) ] || fail "errors are not told as such"
# How many there were in all, and beside samples of CPU time; of whatever class.
statistics() { "$JW_COMMAND" convert -q -e jdk.ExceptionStatistics -o csv "$1" - | tr -d '\r' | awk -F, 'NR > 1 { print $NF }' | tail -n 1; }
told=$(grep -cE '^jdk.Java(Error|Exception)Throw' all.txt)
# Those of the agent's own thread are not told.
filtered=$(run_jfr "${reader#* }" print --events jaywalk.Diagnostics all.jfr | sed -n 's/^ *hookFiltered = //p' | tail -n 1)
[ "$(statistics all.jfr)" -ge "$told" ] && [ "$(statistics all.jfr)" -le $((told + filtered)) ] || fail "all: $(statistics all.jfr) exceptions in all, and $told were told"
profile beside 'event=cpu,interval=1ms,exceptions=Thrown$Failed,file=beside.jfr' Thrown platform
[ "$("$JW_COMMAND" convert -q --event=exception -o csv beside.jfr - | grep -c '"Thrown[$]Failed"')" = 1200 ] || fail "beside: not 1200 exceptions beside samples of CPU time"
"$JW_COMMAND" convert -q --event=cpu -o collapsed beside.jfr - | has_line . || fail "beside: no samples of CPU time"
[ "$(statistics beside.jfr)" -ge "$(awk '{ sum += $2 } END { print sum }' beside.out)" ] || fail "beside: of all exceptions $(statistics beside.jfr) were counted"
! grep -q 'secret' all.txt || fail "a message is told: $(grep -m 1 secret all.txt)"

profile dialect 'event=exception:Thrown$Failed,dialect=async-profiler,file=dialect.jfr' Thrown platform
found=$("$JW_COMMAND" convert -q -o collapsed dialect.jfr - | sed -n 's/.*Thrown.fail //p')
[ "$found" = 1200 ] || fail "dialect: $found samples"

# One that finds no stack to be told by is counted: those and the samples are all that were made.
profile ends 'event=exception:Thrown$Ended,jstackdepth=8,file=ends.jfr' Thrown end
found=$("$JW_COMMAND" convert -q -o csv --event=exception ends.jfr - | grep -c 'Thrown[$]Ended')
dropped=$(run_jfr "${reader#* }" print --events jaywalk.Diagnostics ends.jfr | sed -n 's/^ *placesDropped = //p' | tail -n 1)
[ "$((found + dropped))" = "$(cat ends.out)" ] || fail "ends: $found samples and $dropped exceptions without a stack of $(cat ends.out)"

# In a program that runs, twice; the class is what it was.
log=()
[ "$MAJOR" -lt 11 ] || log=("-Xlog:redefine+class+load=info:file=redefined.log")
begin_target server "${log[@]}" Thrown serve
for option in exceptions event; do
    asked=(-e 'exception:Thrown$Plain|No.Where|Below')
    [ $option = event ] || asked=(-e cpu '--exceptions=Thrown$Plain|No.Where|Below')
    jaywalk 0 start "${asked[@]}" -f live.jfr "$server" >out
    until [ "$(jaywalk 0 status "$server" | sed -n 's/ samples in .*//p')" -ge 1 ]; do sleep 0.1; done
    jaywalk 0 stop "$server" >out
    says "warning: $option: no exception was made that No.Where takes"
    says "warning: $option: no exception was made that Below takes; classes are named with their package, or as **.Below"
done
"$JW_COMMAND" convert -q -o collapsed live.jfr - | has_line 'Thrown.plain;Thrown[$]Plain' || fail "nothing is told of a program that has long been running"
end_target server serves
if [ "$MAJOR" -ge 11 ]; then
    [ "$(grep -c 'redefined name=java.lang.Throwable,' redefined.log)" = 4 ] || fail "the class was not written back: $(grep -c Throwable redefined.log)"
fi
for wrong in java.io. 'a||b' 'java.io.IOException.<init>'; do
    run_java refused 0 "$(agent_flag "event=exception:$wrong,file=refused.jfr")" -version
    grep -q "event=exception: '.*' names no class of exceptions: wanted are names" refused.err || fail "no clear refusal of $wrong: $(cat refused.err)"
done
