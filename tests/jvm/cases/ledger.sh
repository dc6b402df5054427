# Thousands of threads that live for 1 to 15 ms of CPU beside lasting ones: the ledger of CPU time closes
# with the process' own clock, but for what threads use on their way out, of which the program has its own account;
# it has each figure as samples and kernel have it, and says what of the short threads the kernel's tick left unsampled.
# once: it closes by the clocks of the kernel.
# alone: CPU time of a thousand short threads is held to 2 %.
profile short event=cpu,interval=10ms,file=short.jfr,chunktime=5s "${STEADY_COMPILERS[@]}" ShortLived 2000 4
silent short
check CpuLedger short.jfr short.out
whole short.jfr
ledger short.jfr

# The agent's answer and the command's reports say the same.
grep -q '^\[jaywalk\] CPU time [0-9.]* s: sampled [0-9.]* %, short-lived threads [0-9.]* %' short.err ||
    fail "the agent does not sum the ledger up: $(tail -n 1 short.err)"
"$JW_COMMAND" convert -q short.jfr short.txt
grep -qE '^CPU time +[0-9.]+ s by the clock of the process$' short.txt || fail "no ledger in short.txt"
grep -qE '^Unsampled .* short-lived threads, [0-9,]+ of them$' short.txt ||
    fail "no short-lived threads in short.txt"
grep -qE ' short-\*$' short.txt || fail "no names of short-lived threads in short.txt"
! "$JW_COMMAND" convert -q short.jfr - --output=collapsed | has_line 'CPU time' ||
    fail "collapsed stacks are samples alone"
