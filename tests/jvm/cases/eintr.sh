# No system call of the program ends with EINTR or early because of our signals: threads that wait in every
# way there is check it, while their own timers expire at 1 ms and further signals of ours are sent to
# all of them every 4 ms, by what /proc/self/timers shows.
options=event=cpu,interval=1ms
seconds=8

[ -r /proc/self/timers ] || not_run "the kernel shows no timers (CONFIG_CHECKPOINT_RESTORE)"
profile eintr "$options,file=eintr.jfr" Interrupted $((seconds * 1000)) 4000
cat eintr.out
awk '$1 == "wait" { calls += $2; eintr += $3; wrong += $4; early += $5; if ($3 + $4 + $5 > 0) bad = bad " " $6 ":" $3 "/" $4 "/" $5 }
    $1 == "sent" { sent = $2 }
    END { print calls, eintr + 0, wrong + 0, early + 0, sent + 0, bad == "" ? "-" : bad }' eintr.out >counts
read -r calls eintr wrong early sent bad <counts
echo "$calls calls, $sent signals: $eintr EINTR, $wrong other errors, $early early"
[ "$eintr" = 0 ] && [ "$wrong" = 0 ] && [ "$early" = 0 ] ||
    fail "of $calls calls $eintr ended with EINTR, $wrong with another error, $early early (EINTR/error/early of:$bad)"
[ "$calls" -ge 20000 ] || fail "only $calls calls"
[ "$sent" -ge "$calls" ] || fail "only $sent signals for $calls calls"
jfr_tool "$MAJOR" "$JDK" print --events jaywalk.Diagnostics eintr.jfr
finished=$(awk '$1 == "callsFinished" { n = $3 } END { print n + 0 }' tool.out)
cut=$(awk '$1 == "callsCut" { n = $3 } END { print n + 0 }' tool.out)
echo "$finished calls went on in a handler, $cut were cut"
[ "$finished" -ge 10000 ] && [ "$cut" = 0 ] || fail "callsFinished is $finished, callsCut $cut"
