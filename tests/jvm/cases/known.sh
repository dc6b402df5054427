# Both walkers are right, not only complete: stacks are what JVMTI says of them, frames are run as the JVM says they
# are, and no call is seen that the program does not make, at no line at which it does not make it.
sources=$(dirname "$LIB")/workloads
flags=(--add-opens java.base/java.lang=ALL-UNNAMED
    -XX:CompileCommand=dontinline,Known.kHost -XX:CompileCommand=inline,Known.kInner)
declare -A modes=([tiered]=-XX:+TieredCompilation [interpreted]=-Xint [c1]=-XX:TieredStopAtLevel=1
    [c2]=-XX:-TieredCompilation)

told=()
for walker in vm agct; do
    for mode in "${!modes[@]}"; do
        name=$walker-$mode
        profile "$name" "event=cpu,interval=4ms,cstack=$walker,file=$name.jfr" "${flags[@]}" "${modes[$mode]}" Known 0.25
        told+=("$walker" "$name.jfr" "$name.out")
    done
done
check_once KnownStacks "$sources/Known.java" "${told[@]}"
