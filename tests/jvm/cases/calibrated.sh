# Methods that burn known shares of CPU: each share is right within a point or its standard error.
inline='-XX:CompileCommand=dontinline,Calibrated::part*'

profile calibrated event=cpu,interval=4ms,file=calibrated.jfr "$inline" Calibrated 10
check_once Shares calibrated.jfr calibrated.out share- 1
ledger calibrated.jfr
whole calibrated.jfr
