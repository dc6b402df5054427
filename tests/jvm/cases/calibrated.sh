# Methods that burn known shares of CPU: each share is right within a point or its standard error.
# once: signals come by the clocks of the kernel.
# alone: shares of CPU time are held to a point, and a method that is driven out of the caches takes more.
inline='-XX:CompileCommand=dontinline,Calibrated::part*'

profile calibrated event=cpu,interval=4ms,file=calibrated.jfr "$inline" Calibrated 10
check_once Shares calibrated.jfr calibrated.out share- 1
ledger calibrated.jfr
whole calibrated.jfr
