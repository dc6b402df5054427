# What hooks are said to cost, in a program that does nothing but hand over tasks (asyncstacks): no more than the process has used, nor than time passed in them, whatever few
# of them that are measured have met.
profile hookcost event=cpu,interval=20ms,asyncstacks,file=hookcost.jfr HandsOver 200
silent hookcost
check_once HookCost hookcost.jfr 100000
grep -qE '^\[jaywalk\] Cost: ([0-9]|[0-9][0-9]|100)\.[0-9]+ % of the CPU time of the process: ' hookcost.err ||
    fail "it is not said, or more than the process has used"
