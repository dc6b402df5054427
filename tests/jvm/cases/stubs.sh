# Where stacks are hardest to walk: hardly a walk fails, and none has a wrong caller.
# The first sample in a library whose frames nobody asked for yet may fail: hence not 0.5 % of so few.
inline='-XX:CompileCommand=dontinline,Stubs::kernel*'

for mode in tiered -Xint -XX:TieredStopAtLevel=1 -XX:-Inline; do
    name=stubs$mode
    [ "$mode" = tiered ] && flags=() || flags=("$mode")
    profile "$name" "event=cpu,interval=4ms,file=$name.jfr" "${flags[@]}" "$inline" Stubs 1.6
    silent "$name"
    check_once Failures "$name.jfr" stubs- 1
    check_once Callers "$name.jfr"
    ledger "$name.jfr"
done
whole stubstiered.jfr
