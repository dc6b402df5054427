# A workload full of stubs, by AsyncGetCallTrace: few walks fail, and the time of each stub lies below the right callers.
# alone: CPU time of each stub is held to a point, and one that is driven out of the caches takes more.
inline='-XX:CompileCommand=dontinline,Stubs::kernel*'

profile stubs event=cpu,interval=4ms,cstack=agct,file=stubs.jfr "$inline" Stubs 10
check_once Failures stubs.jfr stubs-
check_once Shares stubs.jfr stubs.out stubs- 10
check Callers stubs.jfr
ledger stubs.jfr
whole stubs.jfr
