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

# Runs the command; what it says goes to stdout and the file `said` (stdout and stderr of the last one).
jaywalk() { # $1: expected status, then arguments
    local expected=$1 status=0
    shift
    "$JW_COMMAND" "$@" >"$OUT/said.out" 2>"$OUT/said.err" || status=$?
    cat "$OUT/said.out"
    [ "$status" = "$expected" ] ||
        fail "jaywalk $*: status $status, not $expected: $(head -n 1 "$OUT/said.err")"
}

says() { # $1: text that the last command must have told on stderr
    grep -qF -- "$1" "$OUT/said.err" || fail "no such message: $1, but: $(head -n 1 "$OUT/said.err")"
}

# The program is there, has printed what it prints by itself, and the agent kept out of its stderr.
unharmed() { # $1: variable, $2: its stdout
    kill -0 "${!1}" || fail "$1 is gone"
    [ "$(cat "$1.out")" = "$2" ] || fail "$1: stdout is not its own: $(tail -n 2 "$1.out" | tr '\n' ' ')"
    ! grep -v '^WARNING: ' "$1.err" | grep -q . || fail "$1: stderr: $(grep -v '^WARNING: ' "$1.err" | head -n 1)"
}

end_target() { # $1: variable, $2: its stdout
    unharmed "$1" "$2"
    kill "${!1}"
    wait "${!1}" || true
    no_crash
}
