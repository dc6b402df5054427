# Locks: waits for monitors sum up to what the program's own clock says, within 5 %, of each platform thread and each virtual one; their class, place,
# waiting threads and owner are what the program knows, alone and beside the other engines; so it is of locks of java.util.concurrent, with each collector; Object.wait is told as such, with its
# timeout; the owner's stack has the time that others waited; how long it had the lock lies between what is told at least and at most; a chain of three, a convoy and a deadlock are named; the report names it all.
. "$(dirname "$LIB")/attach.sh"

sum_of() { # $1: file of jfr print, $2: type, $3: class of the monitor; ns
    awk -v type="$2" -v class="$3" '
        /^jdk\./ { inside = $1 == type }
        inside && $1 == "duration" { unit = $4; number = $3 * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1) }
        inside && $1 == "monitorClass" && $3 == class { sum += number }
        END { printf "%.0f\n", sum }' "$1"
}

sync='java.util.concurrent.locks.ReentrantLock$NonfairSync'
json() { # $1: file, $2: field; the first number
    grep -o "\"$2\":[0-9]*" "$1" | head -n 1 | cut -d : -f 2
}

of_lock() { # $1: name of a run, $2: class; ns that were waited for it
    sed -n '/"locks":/,/^"sites"/p' "$1.json" | grep -F "\"class\":\"$2\"" | grep -o '"total_ns":[0-9]*' | cut -d : -f 2
}

entered() { awk '$1 == "enter" { print $2, $3 }' "$1"; } # $1: output of the program

near() { # $1: what, $2: found, $3: truth, of which "$4" ns may have been for want of a processor, $5: per cent
    awk -v found="$2" -v truth="$3" -v lacked="${4:-0}" -v most="$5" -v what="$1" 'BEGIN {
        off = truth == 0 ? 100 : (found / truth - 1) * 100
        printf "%s: %.2f %% off, %.2f %% of it may have been for want of a processor\n", what, off, truth == 0 ? 0 : lacked / truth * 100
        exit truth == 0 || found == 0 || found > truth * (1 + most / 100) || found < (truth - lacked) * (1 - most / 100) }' || fail "$1: $2 ns are told, the program knows of $3, $4 of it perhaps for want of a processor"
}

told() { # $1: name of a run; its threads and places
    local name=$1
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    "$JW_COMMAND" contention "$name.jfr" >"$name.txt" || fail "$name: no report"
    near "$name" "$(of_lock "$name" 'Locking$Shelf')" $(entered "$name.out") 5
    grep -q '"class":"Locking$Shelf".*"stack":\["Locking.want' "$name.json" || fail "$name: not where the program waits: $(cat "$name.json")"
    grep -q '"Locking.await:' "$name.json" || fail "$name: Object.wait is not told"
}

# Each victim waits for 400 ms: there is nothing sampled in these sums. What the JDK's own code waits for meanwhile is not of the program's clock.
by_victim() { # $1: name of a run, $2: park, where that is how it waits
    local victim type=jdk.JavaMonitorEnter class='Locking$Shelf'
    [ -z "${2:-}" ] || type=jdk.ThreadPark class=${sync//.//}
    "$JW_COMMAND" convert -q --event=$type "$1.jfr" "$1.waits.jsonl"
    for victim in 0 1 2; do
        near "$1: victim-$victim" "$(grep -F "\"$class\"" "$1.waits.jsonl" | grep '"eventThread":{[^}]*"javaName":"victim-'$victim'"' | sed -n 's/.*"duration":\([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" \
            $(awk -v name="victim-$victim" '$2 == name { print $3, $4 }' "$1.out") 5
    done
}

# Whoever finds a monitor biased to another thread waits for a safepoint first, which is no wait for the monitor: JDK 8 and 11 have that by default.
UNBIASED=(-XX:-UseBiasedLocking)
[ "$MAJOR" -lt 15 ] || UNBIASED=()

of_platform() { # $1: name, $2: options, then arguments of java
    local name=$1 options=$2
    shift 2
    profile "$name" "$options,file=$name.jfr" "${UNBIASED[@]}" "$@" Locking
    told "$name"
    by_victim "$name"
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

# Who had the lock when a wait began: the owner, nearly all the time, or a victim that had just got it, or, for a moment, nobody. ZGC's lock stacks tell nobody, so
# from JDK 23 on nobody is known who has had the lock since before anybody waited for it: the victims' first waits. So it is of a virtual owner that is on no carrier then, or is
# told as what carries it.
owners_of() { # $1: name of a run, $2: what the owner is called, $3: a park's type and field, or nothing; what waits for the shelf, or the lock, have that are for the owner or nobody known, and for the owner: ns
    local type=jdk.JavaMonitorEnter field=previousOwner class='Locking$Shelf'
    [ -z "${3:-}" ] || type=jdk.ThreadPark field=owner class=${sync//.//}
    "$JW_COMMAND" convert -q --event=$type "$1.jfr" "$1.owners.jsonl"
    grep -F "\"$class\"" "$1.owners.jsonl" |
        sed -n 's/.*"duration":\([0-9]*\).*"'$field'":\(null\|{"osName":[^,]*,"osThreadId":[0-9]*,"javaName":"\([^"]*\)","javaThreadId":\([0-9]*\)\).*/\1 \3#\4/p' |
        awk -v owner="^($2)#[0-9]+\$" -v other='^victim-[0-2]#[0-9]+$' -v spared="$([[ $1 =~ coloured|virtual|mounted ]] && echo 3 || echo 0)" '
            $2 ~ owner { owned += $1; split($2, parts, "#"); numbers[parts[2]] }
            ($2 == "#" || $2 ~ /^ForkJoinPool/) && spared-- <= 0 { unowned += $1 }
            $2 != "#" && $2 !~ /^ForkJoinPool/ && $2 !~ owner && $2 !~ other { print "who never had it: " $2 >"/dev/stderr"; bad = 1 }
            END { for (i in numbers) count++; printf "%.0f %.0f\n", owned + unowned, (bad || count > 1 ? -1 : owned) }'
}
has_owners() { # as owners_of
    local waited owned
    read -r waited owned <<<"$(owners_of "$@")"
    [ "$waited" -gt 0 ] || fail "$1: nobody has waited for the owner: $(head -n 3 "$1.owners.jsonl")"
    echo "$1: $owned of $waited ns, $((owned * 100 / waited)) %, have their owner"
    [ "$owned" -gt 0 ] && [ $((owned * 100)) -ge $((waited * 95)) ] || fail "$1: of $waited ns that others waited $owned have the owner that the program knows"
}
for name in "${runs[@]}"; do
    ! grep 'owners of monitors are not told: ' "$name.err" || fail "$name: $(cat "$name.err")"
    has_owners "$name" owner
done

# Locks of java.util.concurrent, which stand on park; and what is parked for something else is apart. On virtual threads too, and from JDK 26 on on all, by the agent's own
# places in LockSupport, whose frames nobody sees.
latched() { # $1: name of a run, then arguments of the program
    local name=$1
    shift
    profile "$name" "lock=10us,file=$name.jfr" Locking reentrant "$@"
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    near "$name" "$(of_lock "$name" "$sync")" $(entered "$name.out") 5
    by_victim "$name" park
    sed -n '/"other_waits":/,$p' "$name.json" | grep '"class":"Locking$Desk"' | has_line 'LockSupport.parkNanos' ||
        fail "$name: a park for another object is not told: $(cat "$name.json")"
    "$JW_COMMAND" convert -q -e lock --total "$name.jfr" "$name.collapsed"
    grep -q 'AbstractQueuedSynchronizer.acquire.*LockSupport.park' "$name.collapsed" || fail "$name: waits do not stand where they were: $(head -n 3 "$name.collapsed")"
    ! grep -q 'Locking$Desk' "$name.collapsed" || fail "$name: the graph of locks shows what is none"
    ! grep -qE 'JaywalkParks|ParkEvents' "$name.collapsed" "$name.json" || fail "$name: frames of the agent are in stacks"
    "$JW_COMMAND" convert -q --event=jdk.ThreadPark "$name.jfr" "$name.jsonl"
    [ "$(grep -F '"Locking$Desk"' "$name.jsonl" | grep -c '"timeout":5000000,')" = 10 ] || fail "$name: timeouts of parks are not told: $(grep -F '"Locking$Desk"' "$name.jsonl" | head -n 2)"
    ! grep -q . <(grep -v '^enter\|^wait' "$name.out") || fail "$name: the JVM has something to say: $(cat "$name.out")"
    ! grep -q 'lock: parks.* are not told' "$name.err" || fail "$name: $(cat "$name.err")"
}

# Who had the lock, be it a virtual thread that works on a carrier: its name, and its stack with the time that others waited. A virtual one that is on its way to a carrier as a victim
# comes is asked by nobody then, for the twentieth part of all that is waited for; or for more of it, where the machine lets it have the lock for longer.
named_by_place() { # $1: name of a run, $2: per cent
    local total blamed
    total=$(sed -n '/"owners":/,/^"owner_stacks"/p' "$1.json" | grep '"thread":"owner"' | grep -o '"total_ns":[0-9]*' | awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }')
    [ "$total" -gt 0 ] || fail "$1: nobody has waited for the owner: $(cat "$1.json")"
    blamed=$(sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$1.json" | grep '"thread":"owner"' | grep '"Locking.hold:' | grep -o '"total_ns":[0-9]*' | awk -F: '{ sum += $2 } END { printf "%.0f\n", sum }')
    echo "$1: $blamed ns of $total, $((blamed * 100 / total)) %, for the owner are on its stack"
    [ "$blamed" -gt 0 ] && [ $((blamed * 100)) -ge $((total * $2)) ] || fail "$1: of $total ns that others waited for the owner $blamed are on its stack: $(cat "$1.json")"
}
latched reentrant
has_owners reentrant owner park
if [ "$MAJOR" -ge 17 ]; then
    run_jfr "$JDK" print --events jdk.ThreadPark reentrant.jfr >reentrant.print
    [ "$(grep -A 2 'parkedClass = Locking$Desk' reentrant.print | grep -c 'timeout = 5.00 ms')" = 10 ] ||
        fail "reentrant: timeouts of parks are not told: $(grep -A 2 'Locking$Desk' reentrant.print | head -n 6)"
fi
! grep 'java.util.concurrent .*not told' reentrant.err || fail "reentrant: what it can tell it does not"
owner_told() { # $1: name of a run
    sed -n '/"owners":/,/^"owner_stacks"/p' "$1.json" | has_line '"class":"java.util.concurrent.locks.ReentrantLock$NonfairSync","thread":"owner"' ||
        fail "$1: the owner is not told: $(cat "$1.json")"
    named_by_place "$1" 85
}
owner_told reentrant

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
    # Their owner sleeps, on no carrier, and is known by its number and its name.
    has_owners parked owner park
    latched carried virtual busy
    has_owners carried owner park
    named_by_place carried 60
    profile drawn event=lock,file=drawn.collapsed Locking reentrant virtual
    ! grep -qE 'JaywalkParks|ParkEvents' drawn.collapsed || fail "drawn: frames of the agent are in stacks"
fi

# What the owner did meanwhile, and how much of the time that others waited is told with it.
for name in "${runs[@]}"; do
    "$JW_COMMAND" convert -q --blame --total "$name.jfr" "$name.blame.collapsed"
    blamed=$(awk '/Locking.hold;/ { sum += $NF } END { printf "%.0f\n", sum }' "$name.blame.collapsed")
    all=$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$name.blame.collapsed")
    total=$(json "$name.json" total_ns)
    read -r _ owned <<<"$(owners_of "$name" owner)"
    echo "$name: $blamed ns blamed on Locking.hold, $((blamed * 100 / owned)) %, $all in all, of $owned for the owner and $total waited"
    [ $((blamed * 100)) -ge $((owned * 85)) ] || fail "$name: of $owned ns that others waited $blamed are on the stack of who kept them waiting"
    [ $((all * 100)) -le $((total * 101)) ] || fail "$name: more time is blamed on owners than was waited"
    sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$name.json" | grep '"thread":"owner"' | has_line '"Locking.hold:' || fail "$name: the owner's stack is not that of Locking.hold"
    sed -n '/"convoys":/,/^"chains"/p' "$name.json" | grep '"most":[34]' | has_line '"class":"Locking$Shelf","owner":"owner"' || fail "$name: the convoy is not named"
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

# With ZGC, too, which moves what these threads have while they wait for each other, and from JDK 23 on tells of no such monitor by itself who has it.
if [[ " ${runs[*]} " =~ " coloured " ]]; then
    deadlocked dead-coloured -XX:+UseZGC -XX:ZCollectionInterval=0.1
    locked dead-coloured
fi

# And of locks of java.util.concurrent.
stands_by_latch() { # $1: name of a run
    stands "$1" left-first "$sync" right-first java.util.concurrent.locks.LockSupport.park: Deadlocked.take:50 'Deadlocked.lambda$main$0'
    stands "$1" right-first "$sync" left-first java.util.concurrent.locks.LockSupport.park: Deadlocked.take:50 'Deadlocked.lambda$main$1'
}
deadlocked latch latch
stands_by_latch latch

# Virtual threads that wait for ever are on no carrier that could be asked: the JVM tells where they stand. Up to JDK 23 their parks are not told, and
# for a monitor they wait on their carrier, as which they are told.
if [ "$MAJOR" -ge 21 ] && [ "$MAJOR" -lt 24 ]; then
    carrier='ForkJoinPool-1-worker-[0-9]*'
    deadlocked carriers virtual
    stands carriers "$carrier" 'Deadlocked$Right' "$carrier" Deadlocked.leftThenRight:32 'Deadlocked$$Lambda' java.lang.VirtualThread.run
    stands carriers "$carrier" 'Deadlocked$Left' "$carrier" Deadlocked.rightThenLeft:41
fi
if [ "$MAJOR" -ge 24 ]; then
    deadlocked parted latch virtual
    stands_by_latch parted
    deadlocked mixed latch mixed
    stands_by_latch mixed
    deadlocked apart virtual
    locked apart
    stands apart left-first 'Deadlocked$Right' right-first Deadlocked.leftThenRight:32 'Deadlocked$$Lambda' java.lang.VirtualThread.run
    # Nobody has waited for what they have: it lies in the heap.
    deadlocked apart-first virtual first
    locked apart-first
fi

# A chain of three, "first" waits for "middle", who waits for "last": who waits for whom, and how long last had its lock while others waited. What is told lies within what the
# program's own clock says: each bound is one, whatever the machine does meanwhile.
said() { # $1: name of a run, $2: what
    awk -v what="$2" '$1 == what { print $2 }' "$1.out"
}
chained() { # $1: name of a run, $2: class of the lock of middle, $3: of last, $4: how many per cent of the gap are told at least, then arguments of java
    local name=$1 middle=$2 last=$3 share=$4 line chain
    shift 4
    profile "$name" "lock=10us,file=$name.jfr" "$@"
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    line=$(sed -n '/"chains":/,/^"other_waits"/p' "$name.json" | grep -F "\"class\":\"$middle\",\"owner\":\"middle\",\"next_class\":\"$last\",\"next_owner\":\"last\"") ||
        fail "$name: the chain is not told: $(cat "$name.json")"
    chain=$(grep -o '"time_ns":[0-9]*' <<<"$line" | cut -d : -f 2)
    line=$(sed -n '/"owners":/,/^"owner_stacks"/p' "$name.json" | grep -F "\"class\":\"$last\",\"thread\":\"last\"") || fail "$name: the owner is not told: $(cat "$name.json")"
    echo "$name: a chain of $chain ns, $(said "$name" linked) to $(said "$name" chain); last had it $(grep -o '"holds".*' <<<"$line"), gap $(said "$name" gap), $(said "$name" least) to $(said "$name" most), round $(said "$name" round)"
    [ "$chain" -le "$(said "$name" chain)" ] && [ $((chain * 100)) -ge $(($(said "$name" linked) * 75)) ] || fail "$name: the chain is told for $chain ns: $(cat "$name.out")"
    grep -q '"holds":3,.*"holds_bounded":2,' <<<"$line" || fail "$name: last had it three times, of which two have others before and behind: $line"
    [ "$(grep -o 'held_at_least_ns":[0-9]*' <<<"$line" | cut -d : -f 2)" -le "$(said "$name" most)" ] &&
        [ $(($(grep -o 'held_at_least_ns":[0-9]*' <<<"$line" | cut -d : -f 2) * 100)) -ge $(($(said "$name" gap) * share)) ] || fail "$name: at least is not: $line; $(cat "$name.out")"
    [ "$(grep -o 'held_at_most_ns":[0-9]*' <<<"$line" | cut -d : -f 2)" -ge "$(said "$name" least)" ] &&
        [ "$(grep -o 'held_at_most_ns":[0-9]*' <<<"$line" | cut -d : -f 2)" -le "$(said "$name" round)" ] || fail "$name: at most is not: $line; $(cat "$name.out")"
}
kept_by_last() { # $1: name of a run; what last did has its stack
    sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$1.json" | grep '"thread":"last"' | has_line '"Chained.keep:' || fail "$1: what last did is not told: $(cat "$1.json")"
}
# Whom the JVM calls blocked may not have said so yet: half of the gap. Who is parked has.
chained chain 'Chained$Left' 'Chained$Right' 50 Chained
kept_by_last chain
if [ "$MAJOR" -ge 17 ] && takes -XX:+UseZGC; then
    chained chain-coloured "$sync" "$sync" 100 -XX:+UseZGC -XX:ZCollectionInterval=0.1 Chained latch
    ! grep 'java.util.concurrent .*are not told\|do is not told' chain-coloured.err || fail "chain-coloured: what it can tell it does not"
    kept_by_last chain-coloured
    if [ "$MAJOR" -ge 21 ] && [ "$MAJOR" -lt 24 ]; then # two kinds of it, of which that without generations is the default of 21 and 22
        chained chain-generations "$sync" "$sync" 100 -XX:+UseZGC -XX:+ZGenerational -XX:ZCollectionInterval=0.1 Chained latch
        ! grep 'java.util.concurrent .*are not told\|do is not told' chain-generations.err || fail "chain-generations: what it can tell it does not"
        kept_by_last chain-generations
    fi
else
    chained chain-latch "$sync" "$sync" 100 Chained latch
    kept_by_last chain-latch
fi
[ "$MAJOR" -lt 24 ] || chained chain-virtual "$sync" "$sync" 100 Chained latch virtual

# Who has had a monitor since before anybody waited for it, while the collector moves its object: whoever is told as its owner is it. That ends once the agent says that it has seen what is to be told.
metric() { # $1: process, $2: name
    { "$JW_COMMAND" metrics "$1" || true; } | sed -n "s/^jaywalk_$2_total //p" | grep . || echo 0
}
kept() { # $1: name of a run, which is a variable, too; $2: counters that are summed up, $3: how many of them, then flags and arguments of the program
    local name=$1 counters=$2 wanted=$3 sum counter who owned flags=()
    shift 3
    while [[ ${1:-} = -* ]]; do
        flags+=("$1")
        shift
    done
    rm -f "$name.seen" "$name.seen2"
    begin_target "$name" "$(agent_flag "lock=10us,file=$name.jfr")" "${flags[@]}" Kept "$name.seen" "$@"
    until sum=0 && for counter in $counters; do sum=$((sum + $(metric "${!name}" "$counter"))); done && [ "$sum" -ge "$wanted" ] && [ "$(metric "${!name}" lock_owners)" -ge "${ASKED:-1}" ]; do
        kill -0 "${!name}" || fail "$name: of $wanted waits $sum are told: $(cat "$name.err")"
        sleep 0.2
    done
    "$JW_COMMAND" metrics "${!name}" | grep '^jaywalk_lock' >"$name.metrics"
    owned=$(metric "${!name}" lock_owned)
    [ -z "${LATER:-}" ] || touch "$name.seen2"
    until [ -z "${LATER:-}" ] || { [ "$(grep -c later "$name.out")" = 6 ] && [ "$(metric "${!name}" lock_owned)" -ge $((owned + 6)) ]; }; do
        kill -0 "${!name}" || fail "$name: of who comes later nobody knows for whom he waits: $(cat "$name.err")"
        sleep 0.2
    done
    touch "$name.seen"
    wait "${!name}" || fail "$name: status $?: $(cat "$name.err")"
    no_crash
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    "$JW_COMMAND" convert -q --event=jdk.JavaMonitorEnter "$name.jfr" "$name.all.jsonl"
    # A line for each wait: victim, owner by name and number; "-": nobody.
    for who in victim later; do
        grep -F '"Kept$Shelf"' "$name.all.jsonl" |
            sed -n 's/.*"eventThread":{[^}]*"javaName":"'$who'-\([0-9]\)".*"previousOwner":\(null\|{"osName":[^,]*,"osThreadId":[0-9]*,"javaName":"\([^"]*\)","javaThreadId":\([0-9]*\)\).*/\1 \3- \4-/p' >"$name.$who"
    done
}
kept_by_keepers() { # $1: name of a run, then who waited
    local who
    for who in "${@:2}"; do
        [ "$(sort -u "$1.$who" | wc -l)" = 6 ] || fail "$1: not six waits: $(cat "$1.all.jsonl")"
        awk '$2 != "keeper-" $1 "-" { exit 1 }' "$1.$who" || fail "$1: not the owners that the program knows: $(cat "$1.$who")"
    done
    sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$1.json" | grep '"thread":"keeper-' | has_line '"Kept.keep:' || fail "$1: what owners did is not told: $(cat "$1.json")"
    ! grep '"held_at_least_ns":0,' "$1.json" | grep 'Kept$Shelf' || fail "$1: how long they had it is not told: $(cat "$1.json")"
}
kept kept_still 'lock_owned lock_found' 6
kept_by_keepers kept_still victim
if [[ " ${runs[*]} " =~ " coloured " ]]; then
    moves=(-XX:+UseZGC -Xmx128m -XX:ZCollectionInterval=0.3)
    ! takes -XX:+UseZGC -XX:ZCollectionIntervalMinor=0.3 || moves=(-XX:+UseZGC -Xmx128m -XX:ZCollectionIntervalMinor=0.3)
    # Who comes once they are known has them at once.
    LATER=yes kept kept_moved 'lock_owned lock_found' 6 "${moves[@]}"
    kept_by_keepers kept_moved victim later
    [ "$MAJOR" -lt 23 ] || grep -q 'lock_found_total 6$' kept_moved.metrics || fail "kept_moved: nothing had to be found: $(cat kept_moved.metrics)"
fi
if [[ " ${runs[*]} " =~ " coloured " ]] && [ "$MAJOR" -ge 24 ]; then
    # A virtual one at work is found on its carrier, and told by its number; of one that sleeps nobody else is told.
    kept kept_carried 'lock_owned lock_found' 1 "${moves[@]}" busy virtual
    [ "$(cut -d ' ' -f 1,3 kept_carried.victim)" = "0 $(sed -n 's/keeper-0 //p' kept_carried.out)-" ] || fail "kept_carried: not the keeper: $(cat kept_carried.victim kept_carried.out)"
    ASKED=0 kept kept_away lock_sought 1 "${moves[@]}" virtual
    grep -qx "0 -\? -\|0 [^ ]* $(sed -n 's/keeper-0 //p' kept_away.out)-" kept_away.victim || fail "kept_away: somebody else is told: $(cat kept_away.victim kept_away.out)"
fi

# Who had a lock when a wait for it began is told by its name, also where it has long ended when the wait is over.
profile ended lock=10us,file=ended.jfr Ended
"$JW_COMMAND" convert -q --event=jdk.ThreadPark ended.jfr ended.jsonl
grep '"eventThread":{[^}]*"javaName":"third"' ended.jsonl | sed -n 's/.*"duration":\([0-9]*\).*"owner":\(null\|{"osName":[^,]*,"osThreadId":[0-9]*,"javaName":"\([^"]*\)"\).*/\1 \3/p' | sort -n | tail -n 1 | grep ' first$' ||
    fail "ended: not the owner that the program knows: $(grep '"javaName":"third"' ended.jsonl)"

# Owners that are virtual threads and on no carrier, whatever they wait for there: each wait for one is on that one's stack, whole. Up to JDK 23 virtual threads are told as their carriers.
away() { # $1: name of a run, which is a variable, too; $2: stacks that are waited for, then flags and arguments of the program
    local name=$1 wanted=$2 flags=()
    shift 2
    while [[ ${1:-} = -* ]]; do
        flags+=("$1")
        shift
    done
    rm -f "$name.seen"
    begin_target "$name" "$(agent_flag "lock=10us,file=$name.jfr")" "${flags[@]}" Away "$name.seen" "$@"
    until [ "$(metric "${!name}" lock_away)" -ge "$wanted" ]; do
        kill -0 "${!name}" || fail "$name: of $wanted stacks $(metric "${!name}" lock_away) are told: $(cat "$name.err")"
        sleep 0.2
    done
    touch "$name.seen"
    wait "${!name}" || fail "$name: status $?: $(cat "$name.err")"
    no_crash
    "$JW_COMMAND" convert -q --event=jaywalk.LockOwner "$name.jfr" "$name.owners.jsonl"
    "$JW_COMMAND" convert -q --event="$([[ " $* " = *" latch "* ]] && echo jdk.ThreadPark || echo jdk.JavaMonitorEnter)" "$name.jfr" "$name.waits.jsonl"
}
away_by_owner() { # $1: name of a run
    local name=$1 owner longest waited told
    for owner in sleeper reader waiter middle; do
        grep '"waiter":{[^}]*"javaName":"for-'$owner'"' "$name.owners.jsonl" | grep -F '"Away$Shelf"' >"$name.of" || fail "$name: what $owner did is not told: $(cat "$name.owners.jsonl")"
        ! grep -v '"eventThread":{[^}]*"javaName":"'$owner'"' "$name.of" || fail "$name: somebody else than $owner is told"
        ! grep -v '"class":"Away","method":"'$owner'"' "$name.of" || fail "$name: $owner is told elsewhere"
        read -r longest waited <<<"$(grep '"eventThread":{[^}]*"javaName":"for-'$owner'"' "$name.waits.jsonl" | grep -F '"Away$Shelf"' | sed -n 's/.*"duration":\([0-9]*\).*/\1/p' | awk '{ sum += $1 } $1 > most { most = $1 } END { printf "%.0f %.0f\n", most, sum }')"
        told=$(sed -n 's/.*"duration":\([0-9]*\).*/\1/p' "$name.of" | awk '{ sum += $1 } END { printf "%.0f\n", sum }')
        echo "$name: $told ns on the stack of $owner, of $waited, the longest wait $longest"
        [ "$longest" -gt 0 ] && [ "$told" -ge "$longest" ] && [ "$told" -le "$waited" ] || fail "$name: of $waited ns for $owner, $longest at a time, $told are on its stack"
        "$JW_COMMAND" convert -q --blame --total "$name.jfr" "$name.blame.collapsed"
        grep -q "Away.$owner;" "$name.blame.collapsed" || fail "$name: nothing is blamed on $owner: $(head -n 5 "$name.blame.collapsed")"
    done
}
away_by_lock() { # $1: name of a run
    local name=$1 lock other
    for lock in Red Blue; do
        other=$([ $lock = Red ] && echo Blue || echo Red)
        grep -F "\"Away\$$lock\"" "$name.owners.jsonl" | grep -F '"type":"Java"' >"$name.of" || fail "$name: no owner of $lock is told: $(cat "$name.owners.jsonl")"
        echo "$name: $(wc -l <"$name.of") pieces of owners of $lock"
        ! grep -v "\"class\":\"Away\",\"method\":\"use$lock\"" "$name.of" || fail "$name: an owner of $lock is told where it has none"
        ! grep "\"class\":\"Away\",\"method\":\"use$other\"" "$name.of" || fail "$name: an owner of $lock is told where it has $other"
    done
}
if [ "$MAJOR" -ge 24 ]; then
    away away_latch 8 latch
    away_by_owner away_latch
    away away_monitor 8
    away_by_owner away_monitor
    # Who has a monitor and never waited for anything is searched for among all.
    away away_unseen 8 unseen
    away_by_owner away_unseen
    # Nor has anybody waited for what they have, which the collector moves: it lies in the heap with their frames.
    away away_first 8 first
    away_by_owner away_first
    away away_convoy 30 latch convoy
    away_by_lock away_convoy
    if [[ " ${runs[*]} " =~ " coloured " ]]; then
        away away_moved 8 "${moves[@]}" latch
        away_by_owner away_moved
        away away_monitors 30 "${moves[@]}" convoy
        away_by_lock away_monitors
    fi
fi

# The same out of a graph made live.
profile graph event=lock,file=graph.collapsed Locking
"$JW_COMMAND" convert -q -e lock --total alone.jfr alone.collapsed
near graph "$(awk 'index($0, "Locking.want;Locking$Shelf ") { sum += $NF } END { printf "%.0f\n", sum }' alone.collapsed)" $(entered alone.out) 5
grep -q 'Locking.want;Locking$Shelf' graph.collapsed || fail "the graph does not name who waits for what: $(head -n 3 graph.collapsed)"

# What the JDK's own tool reads.
if [ "$MAJOR" -ge 17 ]; then
    run_jfr "$JDK" print --events jdk.JavaMonitorEnter,jdk.JavaMonitorWait alone.jfr >alone.print
    near "jfr print" "$(sum_of alone.print jdk.JavaMonitorEnter 'Locking$Shelf')" $(entered alone.out) 6
    [ "$(grep 'address = 0x[0-9A-F]\{9,\}' alone.print | sort | uniq -c | awk '$1 > 8' | grep -c .)" = 2 ] || fail "the two monitors are not told by their addresses: $(grep 'address = ' alone.print | sort | uniq -c)"
    [ "$(grep -c 'timeout = 20' alone.print)" -ge 10 ] || fail "timeouts of Object.wait are not told"
    grep -q 'timedOut = true' alone.print || fail "it is not told that the time was over"
fi
whole beside.jfr
ledger beside.jfr 1

if [ "$MAJOR" -ge 24 ]; then
    profile virtual lock=10us,file=virtual.jfr Locking virtual
    told virtual
    by_victim virtual
    # Object.wait of a virtual thread that is over before any of its frames are brought back: its own, with where it waits.
    "$JW_COMMAND" convert -q --event=jdk.JavaMonitorWait virtual.jfr virtual.desk.jsonl
    [ "$(grep -F '"Locking$Desk"' virtual.desk.jsonl | grep '"eventThread":{[^}]*"javaName":"waiter"' | grep -c '"method":"await"')" = 10 ] ||
        fail "virtual: not ten waits of the virtual waiter, where it waits: $(grep -F 'Locking$Desk' virtual.desk.jsonl | head -n 2)"
    # Its owner sleeps, on no carrier, and is known by its number: it waits for nobody, and nothing tells its name. On its carrier, in Java, a sample does.
    has_owners virtual '(owner)?'
    takes "${TABLE[@]}" || TABLE=()
    profile mounted lock=10us,file=mounted.jfr "${TABLE[@]}" Locking virtual busy
    "$JW_COMMAND" contention --json --top=0 mounted.jfr >mounted.json || fail "mounted: no report"
    by_victim mounted
    has_owners mounted '(owner)?' # until a sample has told its name
    named_by_place mounted 60
fi
