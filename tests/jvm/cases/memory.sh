# A program that makes a profiler hungry, at the smallest memlimit: the agent stays within it, by its own account and by
# what the kernel says of the process; all that had to be left out is counted and shown; every reader reads the file.
# m49: names and stacks without end, at the smallest limit.
# once: all that is charged is memory of the agent.
limit=$((40 << 20))
heap=(-Xms64m -Xmx64m -XX:+AlwaysPreTouch -XX:+UseSerialGC)
anonymous() { sed -n 's/^anonymous \(.*\) KiB/\1/p' "$1.out"; }

run_java bare 0 "${heap[@]}" Hungry 3000 200 3
profile hungry "event=cpu,interval=1ms,wall=5ms,memlimit=40m,file=hungry.jfr" "${heap[@]}" Hungry 3000 200 3
whole hungry.jfr
ledger hungry.jfr 100

# The JVM's own part comes and goes by some megabytes with its compilers.
grown=$(($(anonymous hungry) - $(anonymous bare)))
echo "private memory beside a run without the agent: $grown KiB"
[ $((grown * 1024)) -le $limit ] || fail "the process grew by $grown KiB"

# By its own account, each second: never more in use than charged (but for the ends of pages), never more charged than the
# share (three subsystems may borrow), and in all never more than the limit.
jfr_tool "$MAJOR" "$JDK" print --json --events jaywalk.Memory hungry.jfr
tr -d ' ",' <tool.out | awk -F: -v limit=$limit '
    $1 == "startTime" { if ($0 != time) { check(); time = $0; all = 0; count++ } }
    $1 == "subsystem" { name = $2 }
    $1 == "used" { used = $2 }
    $1 == "charged" { charged = $2; all += $2; if (used > charged + 131072) wrong(name " uses " used " of " charged) }
    $1 == "limit" {
        if (charged > $2 && name != "writing" && name != "stacks" && name != "events") wrong(name " is charged " charged " of " $2)
        shares[name] = $2
    }
    $1 == "refused" { refused[name] = $2 }
    function check() { if (all > limit) wrong("charged " all " in all") }
    function wrong(what) { print "WRONG: " what; bad = 1 }
    END {
        check()
        for (name in shares) { sum += shares[name]; printf "%s: refused %d\n", name, refused[name] }
        if (sum != limit) wrong("the shares are " sum)
        if (count < 3) wrong("told " count " times")
        if (refused["names"] == 0 || refused["waiting"] == 0) wrong("nothing was left out")
        exit bad
    }' >account || { cat account; fail "$(grep -m 1 WRONG account)"; }
cat account

# A graph of the same: what it could not keep has a frame of its own, and the counts agree.
profile graph "event=cpu,interval=1ms,memlimit=40m,file=graph.collapsed" "${heap[@]}" Hungry 3000 50 4
marked=$(awk '$0 ~ /\[memlimit reached\]/ { n += $NF } END { print n + 0 }' graph.collapsed)
total=$(awk '{ n += $NF } END { print n + 0 }' graph.collapsed)
said=$(sed -n 's/^.*stopped after [0-9]* seconds: \([0-9]*\) samples.*/\1/p' graph.err)
echo "$marked of $total samples in [memlimit reached]"
[ "$total" -ge 1000 ] || fail "the graph has $total samples (the session: $said)"
[ "$marked" -ge 1 ] || fail "no stack was left out"
! grep -q "out of memory" graph.err || fail "$(grep -m 1 'out of memory' graph.err)"
