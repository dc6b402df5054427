# attach.sh: for cases that use the command on a running JVM. Sourced after lib.sh, never run.

# Runs a workload in the background: its number in the variable $1, output in $1.out and $1.err.
begin_target() { # $1: variable, then arguments of java
    local variable=$1
    shift
    : >"$variable.out" # an earlier one of this name must not be taken for it
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" "$@" >"$variable.out" 2>"$variable.err" </dev/null &
    printf -v "$variable" %d $!
    trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT
    until grep -q . "$variable.out"; do
        kill -0 "${!variable}" || fail "$variable: java did not start: $(head -n 1 "$variable.err")"
        sleep 0.1
    done
}

# Loads the agent as the JDK itself does; the last line of what that says is `return code: N`.
load_agent() { # $1: process, $2: options
    if [ "$MAJOR" -ge 9 ]; then
        "$JDK/bin/jcmd" "$1" JVMTI.agent_load "$JW_LIBRARY" "\"$2\"" 2>&1 || true
    else # its jcmd cannot
        "$JDK/bin/java" -cp "$CLASSES:$JDK/lib/tools.jar" LoadAgent "$1" "$JW_LIBRARY" "$2" 2>&1 || true
    fi
}

# Runs the command; what it says goes to stdout and the file `said` (stdout and stderr of the last one).
jaywalk() { # $1: expected status, then arguments
    local expected=$1 status=0
    shift
    "$JW_COMMAND" "$@" >"$OUT/said.out" 2>"$OUT/said.err" || status=$?
    cat "$OUT/said.out"
    [ "$status" = "$expected" ] ||
        fail "jaywalk $*: status $status, not $expected: $(head -n 1 "$OUT/said.err")"
}

# The JVM's attach listener still has the connection of a command: it closes its end when the command has its answer already.
listener_is_busy() { # $1: process
    # The name is the one that the listening socket was bound to.
    awk -v path="/tmp/.java_pid$1" '($8 == path || $8 == path ".tmp") && $4 != "00010000" { busy = 1 } END { exit !busy }' "/proc/$1/net/unix"
}

# The agent's own thread ends after it has answered the command that ended the session, and so does the connection.
agent_rests() { # $1: process
    while [ "$(cat "/proc/$1/task/"*/comm 2>/dev/null | grep -cx jaywalk)" != 0 ] || listener_is_busy "$1"; do sleep 0.05; done
}

says() { # $1: text that the last command must have told on stderr
    grep -qF -- "$1" "$OUT/said.err" || fail "no such message: $1, but: $(head -n 1 "$OUT/said.err")"
}

# The program is there, has printed what it prints by itself, and the agent kept out of its stderr.
unharmed() { # $1: variable, $2: its stdout
    kill -0 "${!1}" || fail "$1 is gone"
    [ "$(cat "$1.out")" = "$2" ] || fail "$1: stdout is not its own: $(tail -n 2 "$1.out" | tr '\n' ' ')"
    ! grep -v '^WARNING: ' "$1.err" | has_line . || fail "$1: stderr: $(grep -v '^WARNING: ' "$1.err" | head -n 1)"
}

end_target() { # $1: variable, $2: its stdout
    unharmed "$1" "$2"
    kill "${!1}"
    wait "${!1}" || true
    no_crash
}

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
agrees() { # $1: name, $2: seconds at least, $3: samples at least
    clocks "${!1}" >before
    jaywalk 0 start -i 4ms -t -f "$1.collapsed" "${!1}" >out
    sleep "$2"
    until [ "$(jaywalk 0 status "${!1}" | sed -n 's/ samples in .*//p')" -ge "${3:-0}" ]; do sleep 0.15; done
    jaywalk 0 stop "${!1}" >out
    clocks "${!1}" >after
    awk -v name="$1" '
        FILENAME == "before" { was[$1] = $2; next }
        FILENAME == "after" { used[$1] = $2 - was[$1]; all += used[$1]; called[$1] = $3; next }
        match($0, /tid=[0-9]+/) { tid = substr($0, RSTART + 4, RLENGTH - 4) }
        !(tid in used) { next } # of a thread that has ended there is no clock any more
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
