# A workload full of stubs, by AsyncGetCallTrace: few walks fail, and the time of each stub lies below the right callers.
# once: AsyncGetCallTrace is the second choice, and much the same in JDK 17 and 25; make test-jdks has it on each.
# alone: CPU time of each stub is held to a point, and one that is driven out of the caches takes more.
has_agct || not_run "AsyncGetCallTrace gives no ids that can be read from JDK 26 on"
inline='-XX:CompileCommand=dontinline,Stubs::kernel*'

profile stubs event=cpu,interval=4ms,cstack=agct,file=stubs.jfr "$inline" Stubs 10
if [ "$MAJOR" -ge 9 ]; then
    check_once Failures stubs.jfr stubs-
else
    skip_part "that few walks fail: C2 of JDK 8 pushes what it computes on the x87 below its frame, where AsyncGetCallTrace does not walk"
fi
check_once Shares stubs.jfr stubs.out stubs- 10
check Callers stubs.jfr
ledger stubs.jfr
whole stubs.jfr
