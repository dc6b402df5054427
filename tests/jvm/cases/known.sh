# Both walkers, as far as the JDK has them, are right, not only complete: stacks are what JVMTI says of them, frames are run as the JVM says they
# are, and no call is seen that the program does not make, at no line at which it does not make it.
# KNOWN_FLAGS=FILE: by our own walker instead, under the flags of each line of the file that this JDK has.
sources=$(dirname "$LIB")/workloads
flags=()
[ "$MAJOR" -lt 9 ] || flags=(--add-opens java.base/java.lang=ALL-UNNAMED) # asked for the tier of a frame
flags+=(
    -XX:CompileCommand=dontinline,Known.kHost -XX:CompileCommand=inline,Known.kInner)
declare -A modes=([tiered]=-XX:+TieredCompilation [interpreted]=-Xint [c1]=-XX:TieredStopAtLevel=1
    [c2]=-XX:-TieredCompilation)

told=()
if [ -n "${KNOWN_FLAGS:-}" ]; then
    while read -ra these; do
        "$JDK/bin/java" "${these[@]}" -version >version.out 2>&1 || continue
        name=vm-${#told[@]}
        echo "flags of $name: ${these[*]}"
        profile "$name" "event=cpu,interval=4ms,file=$name.jfr" "${flags[@]}" "${these[@]}" Known 1
        silent "$name"
        told+=(vm "$name.jfr" "$name.out")
    done <"$KNOWN_FLAGS"
    check_once KnownStacks "$sources/Known.java" "${told[@]}"
    exit 0
fi
# m04: on each JDK what a walk finds is what JVMTI says.
walkers=(vm)
! has_agct || walkers+=(agct)
for walker in "${walkers[@]}"; do
    for mode in "${!modes[@]}"; do
        name=$walker-$mode
        profile "$name" "event=cpu,interval=4ms,cstack=$walker,file=$name.jfr" "${flags[@]}" "${modes[$mode]}" Known 0.25
        told+=("$walker" "$name.jfr" "$name.out")
    done
done
check_once KnownStacks "$sources/Known.java" "${told[@]}"
