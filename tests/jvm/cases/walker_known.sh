# Our own walker is right, not only complete: stacks are what JVMTI says of them, and no call is seen that the
# program does not make, at no line at which it does not make it.
source=$(dirname "$LIB")/workloads/Known.java
for mode in tiered -Xint -XX:TieredStopAtLevel=1 -XX:-Inline; do
    name=known$mode
    [ "$mode" = tiered ] && flags=() || flags=("$mode")
    profile "$name" "event=cpu,interval=4ms,cstack=vm,file=$name.jfr" "${flags[@]}" Known 1
    check_once KnownStacks "$name.jfr" "$name.out" "$source"
done
