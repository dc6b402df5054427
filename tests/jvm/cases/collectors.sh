# Each collector, with garbage to collect: no crash, a plausible profile; two of them on each of two JDKs. CSTACK names the
# walker.
walker=${CSTACK:-vm}
# AsyncGetCallTrace has no id for redefined code.
[ "$walker" = agct ] && how=fixed || how=redefined
# m03: samples are taken while each collector works, in its barriers, too.
collectors=(Serial Parallel G1 Z)
[ "$MAJOR" -ge 11 ] || unset 'collectors[3]' # there was no ZGC
mapfile -t collectors < <(half_of "${collectors[@]}")
for gc in "${collectors[@]}"; do
    profile "churn-$gc" "event=cpu,interval=4ms,cstack=$walker,file=churn-$gc.jfr" -Xmx256m -XX:+Use${gc}GC \
        Churn 2 "$how"
    check_once ChurnNames "churn-$gc.jfr" "$(dirname "$LIB")/workloads/Redefined.java" "$walker" 10
    ledger "churn-$gc.jfr"
    profile "stubs-$gc" "event=cpu,interval=4ms,cstack=$walker,file=stubs-$gc.jfr" -Xmx128m -XX:+Use${gc}GC Stubs 1
    check_once Callers "stubs-$gc.jfr"
    ledger "stubs-$gc.jfr"
done
check Whole "$COUNTERS" churn-*.jfr stubs-*.jfr
