# As churn, by AsyncGetCallTrace: right names though the code and the methods of a stack come and go.
CSTACK=agct
CHURN_SECONDS=${CHURN_SECONDS:-5}
. "$(dirname "$LIB")/cases/churn.sh"
