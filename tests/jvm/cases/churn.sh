# Classes come and go: of loaders of their own, hidden, redefined and retransformed by another agent, their code compiled
# into a cache that is much too small, under both clocks at 1 ms. No crash, no wrong name, line or call, hardly a
# frame without a name, hardly a signal lost. CHURN_GC adds a collector, as in CHURN_GC=-XX:+UseZGC; CSTACK names the walker:
# AsyncGetCallTrace has no id for old code, so under agct nothing is redefined.
seconds=${CHURN_SECONDS:-8}
walker=${CSTACK:-vm}
[ "$walker" = agct ] && how=fixed || how=add
flags=(-Xmx256m -XX:ReservedCodeCacheSize=3m -XX:+UseCodeCacheFlushing -XX:+IgnoreUnrecognizedVMOptions
    -XX:CompileThresholdScaling=0.1 -XX:+AllowRedefinitionToAddDeleteMethods)

told() { # $1: what the workload counted
    sed -n "s/^$1 //p" churn.out
}

at_least() { # $1: what the workload counted, $2: how many there must be for the case to prove something
    [ "$(told "$1")" -ge "$2" ] || fail "$1: only $(told "$1") in $seconds s, not $2"
}

# shellcheck disable=SC2086
profile churn "event=cpu,interval=1ms,wall=1ms,cstack=$walker,file=churn.jfr" "${flags[@]}" ${CHURN_GC:-} \
    Churn "$seconds" "$how"
cat churn.out
# m16, m22: classes are unloaded all the time, so nothing of ours holds their loaders; names of what is gone stay right.
at_least unloaded $((10 * seconds))
at_least hidden $((20 * seconds))
at_least 'code unloaded' $((10 * seconds))
[ "$how" = fixed ] || at_least redefined $((3 * seconds))
check_once ChurnNames churn.jfr "$(dirname "$LIB")/workloads/Redefined.java" "$walker"
ledger churn.jfr 0.1
# Of a long run, which the stock tools would take hours to print, the summary.
if [ "$seconds" -le 60 ]; then
    whole churn.jfr
else
    jfr_tool "$MAJOR" "$JDK" summary churn.jfr
fi

# A JVM that does not count its safepoints: names are told from others by what they are.
if [ "$how" = add ] && [ "$seconds" -le 60 ]; then
    profile untold "event=cpu,interval=1ms,cstack=$walker,file=untold.jfr" "${flags[@]}" -XX:-UsePerfData Churn 3 add
    check_once ChurnNames untold.jfr "$(dirname "$LIB")/workloads/Redefined.java" "$walker"
fi
