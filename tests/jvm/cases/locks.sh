# Locks: waits for monitors sum up to what the program's own clock says, within 5 %, of platform threads and of virtual ones; their class, place,
# waiting threads and, of platform threads, their owner are what the program knows, alone and beside the other engines; Object.wait is told as such, with its
# timeout; the owner's stack has the time that others waited; a convoy and a deadlock are named; the report names it all.
sum_of() { # $1: file of jfr print, $2: type; ns
    awk -v type="$2" '
        /^jdk\./ { inside = $1 == type }
        inside && $1 == "duration" { unit = $4; number = $3; sum += number * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1) }
        END { printf "%.0f\n", sum }' "$1"
}

json() { # $1: file, $2: field; the first number
    grep -o "\"$2\":[0-9]*" "$1" | head -n 1 | cut -d : -f 2
}

near() { # $1: what, $2: found, $3: truth, $4: per cent
    awk -v found="$2" -v truth="$3" -v most="$4" -v what="$1" 'BEGIN {
        off = truth == 0 ? 100 : (found / truth - 1) * 100
        printf "%s: %.2f %% off\n", what, off
        exit off > most || off < -most }' || fail "$1: $2 ns are told, the program knows of $3"
}

told() { # $1: name of a run; its threads and places
    local name=$1
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    "$JW_COMMAND" contention "$name.jfr" >"$name.txt" || fail "$name: no report"
    near "$name" "$(json "$name.json" total_ns)" "$(awk '$1 == "enter" { print $2 }' "$name.out")" 5
    grep -q '"class":"Locking$Shelf".*"stack":\["Locking.want' "$name.json" || fail "$name: not where the program waits: $(cat "$name.json")"
    grep -q '"Locking.await:' "$name.json" || fail "$name: Object.wait is not told"
}

of_platform() { # $1: name, $2: options, then arguments of java
    local name=$1 options=$2
    shift 2
    profile "$name" "$options,file=$name.jfr" "$@" Locking
    told "$name"
    for victim in 0 1 2; do
        near "$name: victim-$victim" "$(grep -o '"total_ns":[0-9]*[^}]*"thread":"victim-'$victim'"' "$name.json" | head -n 1 | grep -o '[0-9]*' | head -n 1)" \
            "$(awk -v name="victim-$victim" '$2 == name { print $3 }' "$name.out")" 6
    done
}

of_platform alone lock=10us
of_platform beside "event=cpu,wall=20ms,lock=10us$([ "$MAJOR" -ge 11 ] && echo ,alloc=64k)"
of_platform checked lock=10us -Xcheck:jni
! grep 'in native method' checked.out || fail "checked: the JVM complains of what JNI is asked for"

# Also where monitors stand in a table of their own, as always from JDK 28 on, and where the collector colours addresses.
takes() { "$JDK/bin/java" "$@" -version >/dev/null 2>&1; } # $@: flags of the JVM
TABLE=(-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable)
runs=(alone beside)
if [ "$MAJOR" -ge 24 ] && takes "${TABLE[@]}"; then
    of_platform table lock=10us "${TABLE[@]}"
    runs+=(table)
fi
if [ "$MAJOR" -ge 17 ] && takes -XX:+UseZGC; then
    of_platform coloured lock=10us -XX:+UseZGC -XX:ZCollectionInterval=0.1
    runs+=(coloured)
fi

tells_owners() { # $1: name of a run, $2: of what; of locks of java.util.concurrent they are not told where objects move while threads run
    ! grep -q "owners of $2 are not told: " "$1.err" || {
        skip_part "owners of $2: $(sed -n 's/.* are not told: //p' "$1.err")"
        return 1
    }
}
# Who had the lock when a wait began: the owner, nearly all the time, or a victim that had just got it, or, for a moment, nobody. ZGC's lock stacks tell nobody, so
# from JDK 23 on nobody is known who has had the lock since before anybody waited for it: the victims' first waits.
owners_of() { # $1: name of a run, $2: what the owner is called, $3: and others that may have it; what waits for the shelf have that are for the owner or nobody known, and for the owner: ns
    "$JW_COMMAND" convert -q --event=jdk.JavaMonitorEnter "$1.jfr" "$1.jsonl"
    grep -F '"Locking$Shelf"' "$1.jsonl" |
        sed -n 's/.*"duration":\([0-9]*\).*"previousOwner":\(null\|{"osName":[^,]*,"osThreadId":[0-9]*,"javaName":"\([^"]*\)","javaThreadId":\([0-9]*\)\).*/\1 \3#\4/p' |
        awk -v owner="^($2)#[0-9]+\$" -v other="^($3)#[0-9]+\$" -v spared="$([[ $1 =~ coloured|virtual ]] && echo 3 || echo 0)" '
            $2 ~ owner { owned += $1; split($2, parts, "#"); numbers[parts[2]] }
            $2 == "#" && spared-- <= 0 { unowned += $1 }
            $2 != "#" && $2 !~ owner && $2 !~ other { print "who never had it: " $2 >"/dev/stderr"; bad = 1 }
            END { for (i in numbers) count++; printf "%.0f %.0f\n", owned + unowned, (bad || count > 1 ? -1 : owned) }'
}
for name in "${runs[@]}"; do
    ! grep 'owners of monitors are not told: ' "$name.err" || fail "$name: $(cat "$name.err")"
    read -r waited owned <<<"$(owners_of "$name" owner 'victim-[0-2]')"
    echo "$name: $owned of $waited ns have their owner"
    [ "$owned" -gt 0 ] && [ $((owned * 100)) -ge $((waited * 90)) ] || fail "$name: of $waited ns that others waited $owned have the owner that the program knows"
done

# Locks of java.util.concurrent, which stand on park; and what is parked for something else is apart. On virtual threads too, and from JDK 26 on on all, by the agent's own
# places in LockSupport, whose frames nobody sees.
latched() { # $1: name of a run, then arguments of the program
    local name=$1
    shift
    profile "$name" "lock=10us,file=$name.jfr" Locking reentrant "$@"
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    near "$name" "$(json "$name.json" total_ns)" "$(awk '$1 == "enter" { print $2 }' "$name.out")" 5
    sed -n '/"other_waits":/,$p' "$name.json" | grep '"class":"Locking$Desk"' | grep -q 'LockSupport.parkNanos' ||
        fail "$name: a park for another object is not told: $(cat "$name.json")"
    "$JW_COMMAND" convert -q -e lock --total "$name.jfr" "$name.collapsed"
    grep -q 'AbstractQueuedSynchronizer.acquire.*LockSupport.park' "$name.collapsed" || fail "$name: waits do not stand where they were: $(head -n 3 "$name.collapsed")"
    ! grep -q 'Locking$Desk' "$name.collapsed" || fail "$name: the graph of locks shows what is none"
    ! grep -qE 'JaywalkParks|ParkEvents' "$name.collapsed" "$name.json" || fail "$name: frames of the agent are in stacks"
    if [ "$MAJOR" -ge 17 ]; then
        run_jfr "$JDK" print --events jdk.ThreadPark "$name.jfr" >"$name.print"
        [ "$(grep -A 2 'parkedClass = Locking$Desk' "$name.print" | grep -c 'timeout = 5.00 ms')" = 10 ] ||
            fail "$name: timeouts of parks are not told: $(grep -A 2 'Locking$Desk' "$name.print" | head -n 6)"
    fi
    ! grep -q . <(grep -v '^enter\|^wait' "$name.out") || fail "$name: the JVM has something to say: $(cat "$name.out")"
    ! grep -q 'lock: parks.* are not told' "$name.err" || fail "$name: $(cat "$name.err")"
}

# Who had the lock, be it a virtual thread that works on a carrier: its name, and its stack with the time that others waited.
named_by_place() { # $1: name of a run
    local total blamed
    total=$(json "$1.json" total_ns)
    blamed=$(sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$1.json" | grep '"thread":"\(owner\|\[virtual thread [0-9]*\]\)"' | grep '"Locking.hold:' | grep -o '"total_ns":[0-9]*' | awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }')
    echo "$1: $blamed ns of $total are on the stack of who had the lock"
    [ $((blamed * 100)) -ge $((total * 30)) ] || fail "$1: of $total ns that others waited $blamed are on the stack of who kept them waiting: $(cat "$1.json")"
}
latched reentrant
has_latches=no
! tells_owners reentrant 'locks of java.util.concurrent' || has_latches=yes
owner_told() { # $1: name of a run
    sed -n '/"owners":/,/^"owner_stacks"/p' "$1.json" | grep -q '"class":"java.util.concurrent.locks.ReentrantLock$NonfairSync","thread":"owner"' ||
        fail "$1: the owner is not told: $(cat "$1.json")"
    named_by_place "$1"
}
[ $has_latches = no ] || owner_told reentrant

# So it is with each collector of JDK 8, and each way in which it writes references: wide, as they are, shifted, and shifted from a base.
owned_with() { # $1: name of a run, then flags of java
    local name=$1
    shift
    profile "$name" "lock=10us,file=$name.jfr" "$@" Locking reentrant
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    ! grep 'are not told' "$name.err" || fail "$name: what it can tell it does not"
    owner_told "$name"
}
if [ "$MAJOR" -lt 9 ]; then
    for collector in Serial Parallel ConcMarkSweep G1; do
        owned_with "$collector-narrow" "-XX:+Use${collector}GC" -XX:+UseCompressedOops
        owned_with "$collector-wide" "-XX:+Use${collector}GC" -XX:-UseCompressedOops
    done
    owned_with shifted -XX:HeapBaseMinAddress=8g
    owned_with based -XX:HeapBaseMinAddress=40g
fi
if [ "$MAJOR" -ge 24 ]; then
    latched parked virtual
    # Three, and the owner, where it came back while a victim had the lock.
    parked=$(sed -n '/"victims":/,/^"owners"/p' parked.json | grep -c '"thread":"\(victim-[0-2]\|owner\|\[virtual thread [0-9]*\]\)"' || true)
    [ "$parked" = 3 ] || [ "$parked" = 4 ] || fail "parked: not three virtual threads, or four: $(cat parked.json)"
    latched carried virtual busy
    named_by_place carried
    profile drawn event=lock,file=drawn.collapsed Locking reentrant virtual
    ! grep -qE 'JaywalkParks|ParkEvents' drawn.collapsed || fail "drawn: frames of the agent are in stacks"
fi

# What the owner did meanwhile, and how much of the time that others waited is told with it.
for name in "${runs[@]}"; do
    "$JW_COMMAND" convert -q --blame --total "$name.jfr" "$name.blame.collapsed"
    blamed=$(awk '/Locking.hold;/ { sum += $NF } END { printf "%.0f\n", sum }' "$name.blame.collapsed")
    all=$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$name.blame.collapsed")
    total=$(json "$name.json" total_ns)
    read -r _ owned <<<"$(owners_of "$name" owner 'victim-[0-2]')"
    echo "$name: $blamed ns blamed on Locking.hold, $all in all, of $owned for the owner and $total waited"
    [ $((blamed * 100)) -ge $((owned * 85)) ] || fail "$name: of $owned ns that others waited $blamed are on the stack of who kept them waiting"
    [ $((all * 100)) -le $((total * 101)) ] || fail "$name: more time is blamed on owners than was waited"
    sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$name.json" | grep '"thread":"owner"' | grep -q '"Locking.hold:' || fail "$name: the owner's stack is not that of Locking.hold"
    sed -n '/"convoys":/,/^"chains"/p' "$name.json" | grep '"most":3' | grep -q '"class":"Locking$Shelf","owner":"owner"' || fail "$name: the convoy is not named"
done

# A deadlock of two, with names, classes and stacks, in the log and in the report; the program ends as if nobody had looked, once the log has it.
deadlocked() { # $1: name of a run, then flags of java, and further arguments of the program; $name.dead: its two threads, a line each
    local name=$1 watcher flags=()
    shift
    while [[ ${1:-} = -* ]]; do
        flags+=("$1")
        shift
    done
    rm -f "$name.seen" "$name.err"
    (while kill -0 $$ && [ "$(grep -c 'deadlock 1: ' "$name.err" 2>/dev/null)" != 2 ]; do sleep 0.1; done && touch "$name.seen") &
    watcher=$!
    profile "$name" "lock=10us,file=$name.jfr" "${flags[@]}" Deadlocked 120000 "$name.seen" "$@"
    kill "$watcher" 2>/dev/null || true
    "$JW_COMMAND" contention "$name.jfr" >"$name.txt" || fail "$name: no report"
    "$JW_COMMAND" contention --json "$name.jfr" >"$name.json" || fail "$name: no report"
    grep '"deadlock":1' "$name.json" >"$name.dead" || true
    [ "$(wc -l <"$name.dead")" = 2 ] || fail "$name: not two threads: $(cat "$name.json")"
}
stands() { # $1: name of a run, $2: thread, $3: class of the lock, $4: who has it, then frames of the thread's stack, in their order
    local name=$1 line frames
    line=$(grep "\"thread\":\"$2\",\"class\":\"$3\",\"owner\":\"$4\"" "$name.dead") || fail "$name: $2 does not wait for a $3 of $4: $(cat "$name.dead")"
    grep -q "deadlock 1: \"$2\" has waited for .* which \"$4\" has" "$name.err" || fail "$name: the log does not name the deadlock: $(cat "$name.err")"
    frames=$(printf '"%s.*' "${@:5}")
    grep -q "$frames" <<<"$line" || fail "$name: $2 does not stand where it waits: $line"
}
locked() { # $1: name of a run
    stands "$1" left-first 'Deadlocked$Right' right-first Deadlocked.leftThenRight:32
    stands "$1" right-first 'Deadlocked$Left' left-first Deadlocked.rightThenLeft:41
}
deadlocked dead
locked dead
if [[ " ${runs[*]} " =~ " table " ]]; then
    deadlocked dead-table "${TABLE[@]}"
    locked dead-table
fi

# And of locks of java.util.concurrent.
sync='java.util.concurrent.locks.ReentrantLock$NonfairSync'
stands_by_latch() { # $1: name of a run
    stands "$1" left-first "$sync" right-first java.util.concurrent.locks.LockSupport.park: Deadlocked.take:50 'Deadlocked.lambda$main$0'
    stands "$1" right-first "$sync" left-first java.util.concurrent.locks.LockSupport.park: Deadlocked.take:50 'Deadlocked.lambda$main$1'
}
if [ $has_latches = yes ]; then
    deadlocked latch latch
    stands_by_latch latch
fi

# Virtual threads that wait for ever are on no carrier that could be asked: the JVM tells where they stand. Up to JDK 23 their parks are not told, and
# for a monitor they wait on their carrier, as which they are told.
if [ "$MAJOR" -ge 21 ] && [ "$MAJOR" -lt 24 ]; then
    carrier='ForkJoinPool-1-worker-[0-9]*'
    deadlocked carriers virtual
    stands carriers "$carrier" 'Deadlocked$Right' "$carrier" Deadlocked.leftThenRight:32 'Deadlocked$$Lambda' java.lang.VirtualThread.run
    stands carriers "$carrier" 'Deadlocked$Left' "$carrier" Deadlocked.rightThenLeft:41
fi
if [ "$MAJOR" -ge 24 ]; then
    if [ $has_latches = yes ]; then
        deadlocked parted latch virtual
        stands_by_latch parted
        deadlocked mixed latch mixed
        stands_by_latch mixed
    fi
    deadlocked apart virtual
    locked apart
    stands apart left-first 'Deadlocked$Right' right-first Deadlocked.leftThenRight:32 'Deadlocked$$Lambda' java.lang.VirtualThread.run
fi

# The same out of a graph made live.
profile graph event=lock,file=graph.collapsed Locking
"$JW_COMMAND" convert -q -e lock --total alone.jfr alone.collapsed
near graph "$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' alone.collapsed)" "$(awk '$1 == "enter" { print $2 }' alone.out)" 5
grep -q 'Locking.want;Locking$Shelf' graph.collapsed || fail "the graph does not name who waits for what: $(head -n 3 graph.collapsed)"

# What the JDK's own tool reads.
if [ "$MAJOR" -ge 17 ]; then
    run_jfr "$JDK" print --events jdk.JavaMonitorEnter,jdk.JavaMonitorWait alone.jfr >alone.print
    near "jfr print" "$(sum_of alone.print jdk.JavaMonitorEnter)" "$(awk '$1 == "enter" { print $2 }' alone.out)" 6
    [ "$(grep 'address = 0x[0-9A-F]\{9,\}' alone.print | sort | uniq -c | awk '$1 > 8' | grep -c .)" = 2 ] || fail "the two monitors are not told by their addresses: $(grep 'address = ' alone.print | sort | uniq -c)"
    [ "$(grep -c 'timeout = 20' alone.print)" -ge 10 ] || fail "timeouts of Object.wait are not told"
    grep -q 'timedOut = true' alone.print || fail "it is not told that the time was over"
fi
whole beside.jfr
ledger beside.jfr 1

if [ "$MAJOR" -ge 24 ]; then
    profile virtual lock=10us,file=virtual.jfr Locking virtual
    told virtual
    # Its owner sleeps, on no carrier, and is known by its number; or, for the moments between, by what carries it.
    read -r waited owned <<<"$(owners_of virtual '(owner)?' 'ForkJoinPool.*')"
    echo "virtual: $owned of $waited ns have their owner"
    [ "$owned" -gt 0 ] && [ $((owned * 100)) -ge $((waited * 70)) ] || fail "virtual: of $waited ns that others waited $owned have the owner that the program knows"
    takes "${TABLE[@]}" || TABLE=()
    profile mounted lock=10us,file=mounted.jfr "${TABLE[@]}" Locking virtual busy
    "$JW_COMMAND" contention --json --top=0 mounted.jfr >mounted.json || fail "mounted: no report"
    named_by_place mounted
fi
