# Start and stop again and again, under load: no thread, timer, descriptor or memory stays behind. CYCLES (30)
# is how often; memory is held to a bound from 500 on, when what settles by itself has settled.
# once: what is left behind is the agent's.
. "$(dirname "$LIB")/attach.sh"
cycles=${CYCLES:-30}

# Each session has a new thread, which the C library gives one of many arenas; one arena, and what stays behind is
# not hidden by what each of them may hold.
export MALLOC_ARENA_MAX=1
# What the JVM does of its own accord is kept still: a heap that is there, compilers that stay.
begin_target target -XX:+UseSerialGC -Xms64m -Xmx64m -XX:+AlwaysPreTouch "${STEADY_COMPILERS[@]}" \
    -XX:TieredStopAtLevel=1 Hot -1
counts() {
    local timers=0
    [ ! -e "/proc/$target/timers" ] || timers=$(grep -c '^ID:' "/proc/$target/timers" || true)
    echo "$(find "/proc/$target/task" -mindepth 1 -maxdepth 1 | wc -l) $timers $(find "/proc/$target/fd" -mindepth 1 | wc -l)"
}
anonymous() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$target/status"; }

# Bytes a line by which lines "number kilobytes" grow in their second half: the middle of the slopes over a quarter of
# them. What leaks does so all the time; what a longer session than any before needs comes once, and stays.
slope() { # $1: file
    awk '{ y[NR] = 1024 * $2 }
        END {
            lag = int(NR / 4)
            for (i = int(NR / 2) + 1; i + lag <= NR; i++) printf "%d\n", (y[i + lag] - y[i]) / lag
        }' "$1" | sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# Some first ones: the attach listener, buffers that are kept for the next session.
for i in 1 2 3 4 5; do
    jaywalk 0 start -i 1ms -f warm.jfr "$target" >out
    jaywalk 0 stop "$target" >out
done
agent_rests "$target"
before=$(counts)
echo "threads, timers, descriptors: $before"
[ "${before% *}" = "${before%% *} 0" ] || fail "timers without a session: $before"

# The JVM itself keeps a note of each load of an agent: so much for one that does nothing.
for ((i = 1; i <= (cycles + 1) / 2; i++)); do
    jaywalk 0 version "$target" >out
    echo "$i $(anonymous)"
    sleep 0.1 # ten commands a second are taken
done >notes
# m26, m43, m67: one session after the other; each leaves nothing open, armed or running.
for ((i = 1; i <= cycles; i++)); do
    jaywalk 0 start -i 1ms -f cycle.jfr "$target" >out
    jaywalk 0 stop "$target" >out
    agent_rests "$target"
    [ "$(counts)" = "$before" ] || fail "after cycle $i: threads, timers, descriptors $(counts), before $before: $(
        readlink /proc/"$target"/fd/* | sort | uniq -c | tr '\n' ' ')"
    echo "$i $(anonymous)"
done >memory
note=$(slope notes)
leak=$(slope memory)
echo "cycles $cycles"
echo "resident $(awk 'NR == 1 { first = $2 } END { print $2 - first }' memory) kB more after the last cycle than after the first"
echo "slope $leak bytes a cycle"
echo "note $note bytes a load"
# Two loads a cycle, with longer options than `version`.
if [ "$cycles" -ge 500 ]; then
    [ $((leak - 2 * note)) -le 1024 ] ||
        fail "memory grows by $leak bytes a cycle, of which the JVM's notes are $((2 * note))"
fi
check Whole "$COUNTERS" cycle.jfr
end_target target running
