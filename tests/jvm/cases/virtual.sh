# Each sample of a virtual thread is that thread's, by number and name, wherever it is carried: in Java and in native code,
# under both clocks; and each has its share of the CPU time. A concurrent collector's objects are not read: numbers alone.
# alone: shares of CPU time are held to a percentage point.
[ "$MAJOR" -ge 24 ] || not_run "before JDK 24 a JVM tells of the mounted thread where objects stand still alone"

virtuals() { # $1: name, $2: rounds, then flags of java
    local name=$1
    profile "$name" "event=cpu,interval=1ms,wall=10ms,file=$name.jfr" "${@:3}" Virtuals 10 "$2"
    silent "$name"
    ledger "$name.jfr"
}

virtuals moved 25 -XX:+UseG1GC
check VirtualThreads moved.jfr moved.out NAMES 1
whole moved.jfr
virtuals wide 8 -XX:+UseSerialGC -XX:-UseCompressedOops
check_once VirtualThreads wide.jfr wide.out NAMES 100
virtuals concurrent 8 -XX:+UseZGC
check_once VirtualThreads concurrent.jfr concurrent.out NUMBERS 100

# Reports tell virtual threads apart, in what the command makes and in what the agent draws.
"$JW_COMMAND" convert -q -t moved.jfr moved.collapsed
profile drawn event=cpu,interval=1ms,threads,file=drawn.collapsed Virtuals 4 5
for of in moved drawn; do
    grep -q '^\[request ä 0 virtual=[0-9]*\];.*Virtuals.burn' "$of.collapsed" || fail "no \"request ä 0\" in $of.collapsed"
    grep -q '^\[virtual=[0-9]*\];.*Virtuals.burn' "$of.collapsed" || fail "no thread without a name in $of.collapsed"
done

# Ten thousand at once: shares of ten that do much and of groups of those that do little, and whole stacks.
profile many event=cpu,interval=1ms,file=many.jfr ManyVirtuals 10000
silent many
ledger many.jfr
check_once ManyVirtualThreads many.jfr many.out 1
