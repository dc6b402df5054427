# Attaching to programs of every kind: idle, busy, with 300 libraries, with 50,000 classes, fifty times in a row.
# The picture agrees with the CPU clocks of the threads, and the program is not held up: no safepoint waits
# 50 ms for an attach.
# alone: safepoints are timed in milliseconds, in which another case would have the processor.
. "$(dirname "$LIB")/attach.sh"

mkdir none libraries
printf 'int jaywalk_test_%s(int x) { return x + 1; }\n' one two three >tiny.c
"${CC:-gcc}" -shared -fPIC -O2 -o tiny.so tiny.c
for ((i = 0; i < 300; i++)); do cp tiny.so "libraries/lib$i.so"; done

# CPU time of each thread: tid, nanoseconds, name.
clocks() { # $1: process
    local task used rest
    for task in "/proc/$1/task/"*; do
        { read -r used rest <"$task/schedstat" && echo "${task##*/} $used $(<"$task/comm")"; } 2>/dev/null || true
    done
}

# Samples a process and holds the picture against its threads' clocks: who used a tenth of the CPU or more has
# that share of the samples, within 4.5 standard errors and two points; the time before the first and after
# the last reading of the clocks is theirs, not the session's. A thread's frame ends in its number.
agrees() { # $1: name, $2: seconds
    clocks "${!1}" >before
    jaywalk 0 -d "$2" -i 4ms -t -f "$1.collapsed" "${!1}" >out
    clocks "${!1}" >after
    awk -v name="$1" '
        FILENAME == "before" { was[$1] = $2; next }
        FILENAME == "after" { used[$1] = $2 - was[$1]; all += used[$1]; called[$1] = $3; next }
        match($0, /tid=[0-9]+/) { tid = substr($0, RSTART + 4, RLENGTH - 4) }
        { seen[tid] += $NF; count += $NF }
        END {
            printf "%s: %d samples, %d ms of CPU\n", name, count, all / 1e6
            if (count * 4e6 > all + 4e6 * length(used)) { print "WRONG: more samples than CPU time"; bad = 1 }
            if (all > 1e9 && count < 50) { print "WRONG: hardly any samples"; bad = 1 }
            for (tid in used) {
                share = all == 0 ? 0 : used[tid] / all
                if (all < 1e9 || share < 0.1) continue
                bound = 4.5 * sqrt(share * (1 - share) / count) + 0.02
                printf "%s: used %.1f %%, sampled %.1f %%\n", called[tid], 100 * share, 100 * seen[tid] / count
                if (seen[tid] / count - share > bound || share - seen[tid] / count > bound) {
                    print "WRONG: " called[tid] " is off by more than " bound; bad = 1
                }
            }
            exit bad
        }' before after "$1.collapsed" >agrees.out || { cat agrees.out; fail "$1: $(grep -m 1 WRONG agrees.out)"; }
    cat agrees.out
}

# Hot's threads spend four fifths in one method, by clocks whose own reading counts on either side.
hot_is_hot() { # $1: name
    awk -v name="$1" '/;Hot.run/ { all += $NF } /;Hot.hottest/ { hot += $NF } /;Threads.cpuNs/ { clock += $NF }
        END {
            bound = 4.5 * sqrt(0.16 / all) + 0.01
            printf "%s: %.1f %% of %d in the hottest method, %.1f %% in the clock\n", name, 100 * hot / all, all, 100 * clock / all
            exit !(all >= 100 && hot / all - 0.8 < bound && 0.8 - (hot + clock) / all < bound)
        }' "$1.collapsed" || fail "$1: the hottest method does not have four fifths of the samples"
}

begin_target idle Crowded none 0 idle
agrees idle 1
end_target idle running

begin_target crowd Crowded libraries 0 busy
agrees crowd 3
hot_is_hot crowd
[ "$(grep -c 'libraries/lib.*r-xp\|r-xp.*libraries/lib' "/proc/$crowd/maps")" = 300 ] || fail "not 300 libraries"
end_target crowd running

begin_target busy Crowded none 0 busy
agrees busy 2
hot_is_hot busy
for ((i = 1; i <= 50; i++)); do
    jaywalk 0 start -i 1ms -f "again.collapsed" "$busy" >out
    until [ "$(jaywalk 0 status "$busy" | sed -n 's/ samples in .*//p')" -gt 0 ]; do sleep 0.15; done
    jaywalk 0 stop "$busy" >out
    [ -s again.collapsed ] || fail "attach $i of 50: no samples"
    rm again.collapsed
done
end_target busy running

# One safepoint after the other, while an attach lists 50,000 classes: whatever part of it keeps safepoints from
# coming is met by some of them, each time. Waits by chance, for a processor, are not there each time: so
# the middle of seven rounds is taken.
begin_target storm -Xmx1g -Xlog:safepoint:file=safepoints.log:none:filecount=0 Crowded none 50000 storm
lines() { wc -l <safepoints.log; }
longest() { # $1, $2: lines. The longest wait for a safepoint and the longest of all, in microseconds; how many
    sed -n "$1,$2p" safepoints.log |
        sed -n 's/.*Safepoint "\([^"]*\)".*Reaching safepoint: \([0-9]*\) ns.*Total: \([0-9]*\) ns.*/\2 \3/p' |
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
agrees storm 2
# Whatever operations the attach itself has the VM do at safepoints are few, however many classes there are.
grep -o 'Safepoint "[^"]*"' safepoints.log |
    awk '!/FindDeadlocks|Cleanup|ICBufferFull|Collect|G1|GC_/ { n[$2]++ } END { for (name in n) print n[name], name }' |
    tee own
[ "$(awk '{ n += $1 } END { print n + 0 }' own)" -le 40 ] || fail "operations at safepoints: $(tr '\n' ' ' <own)"
end_target storm running
