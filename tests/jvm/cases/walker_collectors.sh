# As collectors, by our own walker, which walks while they work.
CSTACK=vm
. "$(dirname "$LIB")/cases/collectors.sh"
