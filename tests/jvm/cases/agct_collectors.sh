# As collectors, by AsyncGetCallTrace, which cannot walk while they work.
CSTACK=agct
. "$(dirname "$LIB")/cases/collectors.sh"
