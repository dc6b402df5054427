# Above a vtable or itable stub stands the class of the object that is called: the one that the caller says,
# by both walkers, however a collector and the JVM's flags lay objects out.
# once: the layouts that it stands on are tested on each JDK by stubs.
files=()

receivers() { # $1: name, $2: options, then flags of the JVM
    local name=$1 options=$2
    shift 2
    profile "$name" "event=cpu,interval=1ms,$options,file=$name.jfr" -XX:-Inline "$@" Receivers 1200
    silent "$name"
    files+=("$name.jfr")
}

knows() { # $1: a flag of the JVM
    "$JDK/bin/java" -XX:+UnlockExperimentalVMOptions "$1" -Xmx64m -version >/dev/null 2>&1
}

receivers vm cstack=vm
! has_agct || receivers agct cstack=agct
for flag in UseSerialGC UseParallelGC UseZGC UseShenandoahGC UseCompactObjectHeaders; do
    if knows "-XX:+$flag"; then
        receivers "$flag" cstack=vm -XX:+UnlockExperimentalVMOptions "-XX:+$flag"
    fi
done
[ "$MAJOR" -ge 25 ] || receivers addresses cstack=vm -XX:-UseCompressedClassPointers
check_once ReceiverFrames "${files[@]}"
whole vm.jfr

profile none "event=cpu,interval=1ms,cstack=vm,features=none,file=none.collapsed" -XX:-Inline Receivers 1200
grep -q 'Receivers.areas;vtable stub [0-9]' none.collapsed || fail "features=none: no vtable stub without a receiver"
"$JW_COMMAND" convert vm.jfr vm.collapsed 2>convert.err || fail "jaywalk convert: $(tail -n 1 convert.err)"
grep -q 'Receivers.areas;vtable stub;Receivers$Circle [0-9]' vm.collapsed ||
    fail "no receiver in collapsed stacks: $(grep -m 1 'vtable stub' vm.collapsed)"
