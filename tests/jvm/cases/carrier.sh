# features=carrier: below the entry of a virtual thread stand a border and the frames of its carrier, by both walkers, compiled and
# interpreted, after waits, in recordings and pictures; without it nothing does (by our own walker: cases frozen and virtual).
[ "$MAJOR" -ge 24 ] || not_run "before JDK 24 a JVM tells of the mounted thread where objects stand still alone"

carriers() { # $1: name, $2: WANTED or PLAIN, $3: walker, $4: options, $5: threads, then flags of java
    local name=$1
    profile "$name" "event=cpu,interval=1ms,wall=20ms,cstack=$3$4,file=$name.jfr" "${@:6}" Frozen "$5" 5
    silent "$name"
    check_once CarrierStacks "$name.jfr" "$2" "$3"
}

carriers wanted WANTED vm ,features=vtable+comptask+carrier 2000
carriers interpreted WANTED vm ,features=carrier 200 -Xint
if has_agct; then
    carriers agct WANTED agct ,features=carrier 2000
    carriers agct-plain PLAIN agct "" 2000
fi

# What the agent draws, and what the command does.
profile drawn event=cpu,interval=1ms,features=carrier,file=drawn.collapsed Frozen 500 5
"$JW_COMMAND" convert -q wanted.jfr converted.collapsed
"$JW_COMMAND" convert -q wanted.jfr converted.html
for file in drawn.collapsed converted.collapsed; do
    grep -q '^java/util/concurrent/ForkJoinWorkerThread.run;.*;jdk/internal/vm/Continuation.run;\[virtual thread\];jdk/internal/vm/Continuation.enter;.*Frozen.work' \
        "$file" || fail "no carrier's frames below those of a virtual thread in $file"
done
grep -q 'rtual thread\]' converted.html || fail "no border in converted.html" # names begin where the one before differs: [vtable stub]
