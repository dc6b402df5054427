# The weighted samples of each thread with a second of CPU or more are within 3 % of what the kernel
# says it used: Java threads, one in bursts, one in native code, a thread that the JVM does not know,
# the collector's.
# once: signals come by the clocks of the kernel.
# alone: CPU times are held to 3 %, and a starved thread has not the second of CPU that they are held over.
args=(-XX:+UseParallelGC -XX:ParallelGCThreads=1 -Xmx128m)
[ -r /proc/self/timers ] || not_run "this kernel has no /proc/self/timers"

collector=('GC Thread#0')
if [ "$MAJOR" -lt 17 ]; then
    skip_part "the collector's thread: that of JDK 8 and 11 does not use a second of CPU for this program"
    collector=()
fi
profile burn event=cpu,interval=10ms,file=burn.jfr "${args[@]}" CpuBurn --sampled
silent burn
check_once CpuAccuracy burn.jfr burn.out burn-one burn-two burn-three burn-bursts burn-native \
    foreign "${collector[@]}"
ledger burn.jfr
whole burn.jfr
