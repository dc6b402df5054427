# As collectors, by AsyncGetCallTrace, which cannot walk while they work.
has_agct || not_run "AsyncGetCallTrace gives no ids that can be read from JDK 26 on"
CSTACK=agct
. "$(dirname "$LIB")/cases/collectors.sh"
