# Stacks of 10,000 virtual threads, most of whose frames lie in the heap after a wait, and are moved there by the collector, are
# whole: down to the thread's entry, interpreted and compiled. With a concurrent collector such a stack says what is missing.
[ "$MAJOR" -ge 24 ] || not_run "before JDK 24 a JVM tells of the mounted thread where objects stand still alone"

frozen() { # $1: name, $2: threads, $3: rounds, $4: WHOLE or MARKED, then flags of java
    local name=$1
    profile "$name" "event=cpu,interval=1ms,wall=20ms,file=$name.jfr" "${@:5}" -Xmn48m Frozen "$2" "$3"
    silent "$name"
    check_once FrozenStacks "$name.jfr" "$4"
}

frozen many 10000 4 WHOLE -XX:+UseG1GC
frozen interpreted 400 4 WHOLE -XX:+UseParallelGC -Xint
frozen wide 2000 10 WHOLE -XX:+UseSerialGC -XX:-UseCompressedOops
frozen marked 2000 8 MARKED -XX:+UseZGC
