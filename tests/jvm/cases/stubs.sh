# Where stacks are hardest to walk: hardly a walk fails, and none has a wrong caller.
# The first sample in a library whose frames nobody asked for yet may fail: hence not 0.5 % of so few. One walk in a thousand
# fails of compiled code: where the bound is to be well above that, there are twice as many samples.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
inline='-XX:CompileCommand=dontinline,Stubs::kernel*'

# Of two JDKs each does two of these.
for mode in $(half_of tiered -XX:-Inline -Xint -XX:TieredStopAtLevel=1); do
    name=stubs$mode
    [ "$mode" = tiered ] && flags=() || flags=("$mode")
    seconds=1.6
    case $mode in tiered | -XX:-Inline) seconds=3.2 ;; esac
    profile "$name" "event=cpu,interval=4ms,file=$name.jfr" "${flags[@]}" -cp "$CLASSES:$JW_JAR" "$inline" Stubs "$seconds"
    silent "$name"
    check_once Failures "$name.jfr" stubs- 1
    check_once Callers "$name.jfr"
    ledger "$name.jfr"
done
whole "$name.jfr"
