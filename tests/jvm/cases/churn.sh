# Thousands of classes defined and unloaded a second: no crash, right names, hardly a loss.
# CHURN_GC adds a collector, as in CHURN_GC=-XX:+UseZGC; CSTACK names the walker.
# alone: the rate at which classes come and go is what makes it hard; it takes all processors.
seconds=${CHURN_SECONDS:-20}

# shellcheck disable=SC2086
profile churn event=cpu,interval=4ms,cstack=${CSTACK:-vm},file=churn.jfr -Xmx256m ${CHURN_GC:-} Churn "$seconds"
cat churn.out
[ "$(sed -n 's/^unloaded //p' churn.out)" -gt $((1000 * seconds)) ] ||
    fail "only $(sed -n 's/^unloaded //p' churn.out) classes were unloaded in $seconds s"
check ChurnNames churn.jfr
ledger churn.jfr 0.1
whole churn.jfr
