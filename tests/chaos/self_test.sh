# self_test.sh: whether the cell notices what goes wrong on purpose. Sourced by tests/jvm/cases/chaos.sh; a few seconds.
GC=Serial FLAGS=plain INTERVAL=1ms DEPTH=64

expect() { # $1: cell, then patterns that its findings have, each
    local name=$1 pattern
    shift
    for pattern in "$@"; do
        grep -qE "$pattern" "$name/findings" ||
            echo "$name: no finding like '$pattern': $(tr '\n' ' ' <"$name/findings")"
    done
}

spoil() { # $1: recording: some bytes in its middle
    printf '\377\377\377\377\377\377\377\377' |
        dd of="$1" bs=1 seek=$(($(stat -c %s "$1") / 2)) conv=notrunc status=none
}

few=interrupts,heap,timed
chaos_cell good 3 --storms "$few" >good.log 2>&1 &
CHAOS_SPOIL=spoil chaos_cell spoiled 3 --storms "$few" >spoiled.log 2>&1 &
CHAOS_UNREAD=1 chaos_cell wrong 2 --storms "$few,fault-violation,fault-throw,fault-nothing" >wrong.log 2>&1 &
CHAOS_UNREAD=1 CHAOS_JAVA_FLAGS=-Dchaos.watchdog.seconds=3 chaos_cell hangs 2 --storms "$few,fault-hang" >hangs.log 2>&1 &
CHAOS_UNREAD=1 CHAOS_LIMIT_SECONDS=12 CHAOS_JCMD_SECONDS=2 chaos_cell stopped 2 --storms "$few,fault-stop" >stopped.log 2>&1 &
CHAOS_UNREAD=1 CHAOS_JAVA_FLAGS=${NO_CORE[*]} chaos_cell crashes 2 --storms "$few,fault-crash" >crashes.log 2>&1 &
wait
{
    [ ! -s good/findings ] || echo "good: $(head -n 1 good/findings)"
    expect spoiled '^unreadable '
    expect wrong 'fault-violation: two and two' 'fault-throw: threw .*as meant' 'fault-nothing: did nothing'
    expect hangs '^hang HANG fault-hang: no progress'
    expect stopped '^hang still running after 12 s'
    expect crashes '^crash '
    grep -q '"storm-fault-hang"' hangs/state || echo "hangs: the state has no stack of the thread that hangs"
    grep -q -- '-- syscall: ' stopped/state || echo "stopped: the state has no system calls"
    ! command -v gdb >/dev/null || grep -q '^Thread 2 ' stopped/state || echo "stopped: the state has no native stacks"
} >missed
cat missed
[ ! -s missed ] || fail "$(head -n 1 missed)"
