# Attaching to a program with 50,000 classes: the picture agrees with the CPU clocks of the threads, and the program is not held
# up: no safepoint waits 50 ms for an attach.
# alone: safepoints are timed in milliseconds, in which another case would have the processor.
. "$(dirname "$LIB")/attach.sh"

mkdir none
# One safepoint after the other, while an attach lists 50,000 classes: whatever part of it keeps safepoints from
# coming is met by some of them, each time. Waits by chance, for a processor, are not there each time: so
# the middle of seven rounds is taken.
# m64: an attach holds no safepoint up.
# Waits and lengths in nanoseconds, and names of operations, a line each: how the log spells them has changed.
log=(-Xlog:safepoint:file=safepoints.log:none:filecount=0)
if [ "$MAJOR" -ge 17 ]; then
    times() { sed -n 's/.*Reaching safepoint: \([0-9]*\) ns.*Total: \([0-9]*\) ns.*/\1 \2/p'; }
    names() { sed -n 's/.*Safepoint "\([^"]*\)".*/\1/p'; }
else
    times() {
        sed -n 's/.*threads were stopped: \([0-9.]*\) seconds, Stopping threads took: \([0-9.]*\) seconds.*/\2 \1/p' |
            awk '{ printf "%d %d\n", $1 * 1e9, $2 * 1e9 }'
    }
    names() { sed -n 's/.*Entering safepoint region: //p'; }
fi
operations=safepoints.log
if [ "$MAJOR" -lt 9 ]; then
    log=(-XX:+PrintGCApplicationStoppedTime -Xloggc:safepoints.log -XX:+PrintSafepointStatistics -XX:PrintSafepointStatisticsCount=1
        -XX:+UnlockDiagnosticVMOptions -XX:-DisplayVMOutput -XX:+LogVMOutput -XX:LogFile=operations.log)
    operations=operations.log
    names() { sed -n 's/^[0-9.]*: \([A-Za-z0-9_]*\) *\[.*/\1/p'; }
fi
begin_target storm -Xmx1g "${log[@]}" Crowded none 50000 storm
lines() { wc -l <safepoints.log; }
longest() { # $1, $2: lines. The longest wait for a safepoint and the longest of all, in microseconds; how many
    sed -n "$1,$2p" safepoints.log | times |
        awk '$1 > wait { wait = $1 } $2 > all { all = $2 } END { printf "%d %d %d\n", wait / 1e3, all / 1e3, NR }'
}
for ((round = 1; round <= 7; round++)); do
    from=$(lines)
    jaywalk 0 start -i 4ms -f storm.collapsed "$storm" >out
    until [ "$(jaywalk 0 status "$storm" | sed -n 's/ samples in .*//p')" -gt 0 ]; do sleep 0.15; done
    jaywalk 0 stop "$storm" >out
    echo "with attach: $(longest "$from" "$(lines)")"
    from=$(lines)
    sleep 0.3
    echo "without: $(longest "$from" "$(lines)")"
done | tee rounds
[ "$(awk '/^with attach/ && $5 >= 10' rounds | wc -l)" = 7 ] || fail "too few safepoints during an attach"
middle=$(awk '/^with attach/ { print $4 }' rounds | sort -n | sed -n 4p)
echo "longest safepoint with its wait, middle of seven rounds: $middle us"
[ "$middle" -lt 50000 ] || fail "an attach holds safepoints up for $middle us"
agrees storm 1 50
# Whatever operations the attach itself has the VM do at safepoints are few, however many classes there are.
# It grows faster than it is read.
head -c "$(stat -c %s "$operations")" "$operations" | names >names
[ "$(grep -c FindDeadlocks names)" -ge 70 ] || fail "the log names no operations: $(head -n 3 names | tr '\n' ' ')"
awk '!/FindDeadlocks|Cleanup|ICBufferFull|Collect|G1|GC_/ { n[$1]++ } END { for (name in n) print n[name], name }' names |
    tee own
[ "$(awk '{ n += $1 } END { print n + 0 }' own)" -le 40 ] || fail "operations at safepoints: $(tr '\n' ' ' <own)"
end_target storm running
