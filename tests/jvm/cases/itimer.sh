# The last resort among the CPU engines: one timer for the process.
profile itimer event=itimer,interval=10ms,file=itimer.jfr Hot 3
check_once HotMethod itimer.jfr
ledger itimer.jfr
whole itimer.jfr
