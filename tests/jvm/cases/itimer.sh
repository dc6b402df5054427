# The last resort among the CPU engines: one timer for the process. It expires at ticks of the scheduler,
# which favours what runs in step with them, and says nothing of expirations that were merged: the profile
# is plausible, not exact.
# once: signals come by the clocks of the kernel.
# alone: the ticks that it samples by favour whoever runs in step with them, so nobody else may.
profile itimer event=itimer,interval=10ms,file=itimer.jfr Hot 6
check_once HotMethod itimer.jfr 0.15
# It may pick a thread that has just begun, and is not known yet: named as such, and lost. All of
# these come at the start, so that a longer run has room for more of them.
ledger itimer.jfr 0.5
whole itimer.jfr
