# As collectors, by AsyncGetCallTrace, which cannot walk while they work.
# once: AsyncGetCallTrace is the second choice, and much the same in JDK 17 and 25; make test-jdks has it on each.
has_agct || not_run "AsyncGetCallTrace gives no ids that can be read from JDK 26 on"
CSTACK=agct
. "$(dirname "$LIB")/cases/collectors.sh"
