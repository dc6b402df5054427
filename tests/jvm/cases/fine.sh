# CPU samples below a tick of the kernel: clocks are compared instead of timers. Shares of methods are right, there are
# more samples than ticks, and each signal has its outcome. A signal takes some microseconds to a thread that runs on
# another processor; one that calls the kernel meanwhile takes it there, and this program reads its clock all the time.
# once: signals come by the clocks of the kernel.
# alone: clocks are compared each millisecond only while the sampler gets a processor when it is due.
inline='-XX:CompileCommand=dontinline,Calibrated::part*'

profile fine event=cpu,interval=1ms,file=fine.jfr "$inline" Calibrated 8
check_once Shares fine.jfr fine.out share- 1 25
whole fine.jfr
jfr_tool "$MAJOR" "$JDK" print --events jaywalk.Diagnostics fine.jfr
sent=$(awk '$1 == "cpuSignals" { n = $3 } END { print n + 0 }' tool.out)
[ "$sent" -gt 4000 ] || fail "only $sent signals in 8 s"
