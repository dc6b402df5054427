# As churn, by AsyncGetCallTrace: right names though the code and the methods of a stack come and go.
# once: AsyncGetCallTrace is the second choice, and much the same in JDK 17 and 25; make test-jdks has it on each.
has_agct || not_run "AsyncGetCallTrace gives no ids that can be read from JDK 26 on"
CSTACK=agct
CHURN_SECONDS=${CHURN_SECONDS:-5}
. "$(dirname "$LIB")/cases/churn.sh"
