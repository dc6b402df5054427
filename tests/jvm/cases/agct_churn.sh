# As churn, by AsyncGetCallTrace: right names though the code and the methods of a stack come and go.
# alone: as churn.
CSTACK=agct
CHURN_SECONDS=${CHURN_SECONDS:-10}
. "$(dirname "$LIB")/cases/churn.sh"
