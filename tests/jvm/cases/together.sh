# All engines at once (CPU time, wall clock, allocations, live objects, locks, delays of safepoints) give what each gives alone: both what the program
# knows of itself. CPU time and waiting time by method, bytes by class and place, bytes that are kept: within four standard deviations of as many
# samples as there are, whose number follows from intervals; waits for a lock within 5 %, of the owner that the program knows; delays of
# safepoints of the method and line that was late, and none that the JVM's own log does not have.
[ "$MAJOR" -ge 17 ] || not_run "-Xlog:safepoint of JDK 17 on is what delays are compared with"

CPU_MS=5 WALL_MS=10 ALLOC_BYTES=65536
count() { grep -c "$@" || true; }

# Of samples of two methods, each with the same chance in any interval: so many of n come to one with a variance of n p (1 - p). Turns of the wall
# clock that came together with a later one, where the machine did not let it turn in time, may be of the one or the other.
by_method() { # $1: run, $2: clock, $3: interval in ms, $4 and $5: methods, $6: thread
    "$JW_COMMAND" convert -q -e "$2" --threads --total "$1.jfr" "$1.$2.collapsed"
    local late=0
    [ "$2" != wall ] || late=$("$JW_COMMAND" convert -q -o jsonl -e jaywalk.Diagnostics "$1.jfr" - | tail -n 1 | grep -o '"wallLate":[0-9]*' | grep -o '[0-9]*$')
    awk -v run="$1" -v interval="$3" -v one="$4" -v two="$5" -v thread="$6" -v late="${late:-0}" '
        FNR == NR { truth[$1] = $2; next }
        index($0, thread) && index($0, "Together." one ";") { found[one] += $NF }
        index($0, thread) && index($0, "Together." two ";") { found[two] += $NF }
        END {
            interval *= 1e6; both = truth[one] + truth[two]; n = both / interval; p = truth[one] / both
            bound = (4 * sqrt(n * p * (1 - p)) + 2 + late) * interval
            for (what in found) {
                off = found[what] - truth[what]
                printf "%s %s: %.0f ms, truth %.0f, %.0f allowed\n", run, what, found[what] / 1e6, truth[what] / 1e6, bound / 1e6
                bad += off > bound || off < -bound
            }
            exit bad || !(one in found) || !(two in found)
        }' "$1.out" "$1.$2.collapsed" || fail "$1: $2 time of $4 and $5 is not what the program knows"
}

# Bytes are sampled one in so many, each with the same chance: as many samples as the interval makes of them, with that variance.
by_bytes() { # $1: run, $2: options of convert, $3: name of the file, then methods
    local run=$1 how=$2 file=$3
    shift 3
    "$JW_COMMAND" convert -q $how --total "$run.jfr" "$run.$file.collapsed"
    awk -v run="$run" -v wanted="$*" -v interval="$ALLOC_BYTES" '
        FNR == NR { truth[$1] = $2; next }
        { for (what in truth) if (index($0, "Together." what ";")) found[what] += $NF }
        END {
            split(wanted, list, " ")
            for (i in list) {
                what = list[i]; bound = 4 / sqrt(truth[what] / interval)
                off = found[what] / truth[what] - 1
                printf "%s %s: %.1f %% off, %.1f %% allowed\n", run, what, 100 * off, 100 * bound
                bad += off > bound || off < -bound
            }
            exit bad
        }' "$run.out" "$run.$file.collapsed" || fail "$run: bytes of $* are not what the program knows"
}

cpu() { by_method "$1" cpu "$CPU_MS" heavy light burner; }
wall() { by_method "$1" wall "$WALL_MS" nap rest sleeper; }

alloc() {
    by_bytes "$1" "-e alloc" alloc array node kept
    by_bytes "$1" --live live kept
}

locks() {
    "$JW_COMMAND" contention --json --top=0 "$1.jfr" >"$1.contention" || fail "$1: no report of locks"
    # By lock, the one that the program waits for.
    sed -n '/"locks":/,/^"/p' "$1.contention" | grep 'Together$Shelf' >"$1.shelf" || fail "$1: no wait for the lock is told"
    found=$(grep -o '"total_ns":[0-9]*' "$1.shelf" | head -n 1 | cut -d : -f 2)
    # Who has got the lock may be stopped by a safepoint on its way back into Java: the program's clock has that, too. Twice is much: mostly the owner was stopped before.
    stopped=$(sed -n 's/.*Reaching safepoint: *\([0-9]*\) ns.*/\1/p' "$1.log" | sort -n | tail -n 2 | awk '{ sum += $1 } END { printf "%.0f\n", sum }')
    awk -v found="$found" -v run="$1" -v stopped="$stopped" '$1 ~ /^want/ { truth += $2 } END {
        printf "%s locks: %.2f %% off; the two longest safepoints are %.2f %%\n", run, 100 * (found / truth - 1), 100 * stopped / truth
        exit found > truth * 1.05 || found < truth * 0.95 - stopped }' "$1.out" || fail "$1: $found ns of waits are told: $(grep want "$1.out" | tr '\n' ' ')"
    sed -n '/"owners":/,/^"owner_stacks"/p' "$1.contention" | grep 'Together$Shelf' >"$1.owners" || fail "$1: no owner is told"
    waits=$(grep -o '"waits":[0-9]*' "$1.shelf" | head -n 1 | cut -d : -f 2)
    owned=$(grep '"thread":"owner"' "$1.owners" | grep -o '"waits":[0-9]*' | head -n 1 | cut -d : -f 2)
    echo "$1 locks: $waits waits, ${owned:-0} have their owner"
    [ $((${owned:-0} * 10)) -ge $((waits * 9)) ] || fail "$1: of $waits waits ${owned:-0} have the owner that the program knows"
    sed -n '/"owner_stacks":/,/^"deadlocks"/p' "$1.contention" | grep '"thread":"owner"' | has_line '"Together.hold:' || fail "$1: it is not told that the owner was in Together.hold"
}

late() {
    run_jfr "$JDK" print --events jaywalk.SafepointDelay --stack-depth 64 "$1.jfr" >"$1.delays"
    told=$(count '^jaywalk.SafepointDelay' "$1.delays")
    named=$(count '^  lateIn = "J' "$1.delays")
    most=$(sed -n 's/.*Reaching safepoint: *\([0-9]*\) ns.*/\1/p' "$1.log" | awk '$1 >= 5000000' | wc -l)
    surely=$(sed -n 's/.*Reaching safepoint: *\([0-9]*\) ns.*/\1/p' "$1.log" | awk '$1 >= 20000000' | wc -l)
    right=$(count -E 'Together.counted\(.*line: *17[23]' <(grep -A 1 'stackTrace = \[' "$1.delays"))
    starved=$(starved_but "$1.jfr" Together counted)
    echo "$1 safepoints: $told delays, the JVM's log has $most; $named name somebody, $right of them the loop, $starved a thread that got no processor"
    [ "$surely" -ge 3 ] || fail "$1: the program was late $surely times: a proof of nothing"
    [ "$told" -le "$most" ] || fail "$1: $told delays are told, the JVM's log has $most"
    [ $((named * 3)) -ge $((surely * 2)) ] || fail "$1: of $surely delays $named name somebody"
    [ $((right * 100)) -ge $(((named - starved) * 95)) ] || fail "$1: of $named delays $right name the loop"
}

run() { # $1: name, $2: options
    profile "$1" "$2,file=$1.jfr" "-Xlog:safepoint*:file=$1.log:uptimenanos" -XX:+UseSerialGC -XX:LoopStripMiningIter=0 \
        -XX:-UseCountedLoopSafepoints '-XX:CompileCommand=dontinline,Together.*' Together
}

run all "event=cpu,interval=${CPU_MS}ms,wall=${WALL_MS}ms,alloc=$ALLOC_BYTES,live=16384,lock=10us,ttsp=10ms"
for engine in cpu wall alloc locks late; do
    "$engine" all
done
ledger all.jfr 1

# What one JDK proves alone the other one need not.
for engine in $(half_of cpu wall alloc locks late); do
    case $engine in
    cpu) run cpu "event=cpu,interval=${CPU_MS}ms" ;;
    wall) run wall "event=wall,wall=${WALL_MS}ms" ;;
    alloc) run alloc "event=alloc,alloc=$ALLOC_BYTES,live=16384" ;;
    locks) run locks event=lock,lock=10us ;;
    late) run late event=lock,lock=10s,ttsp=10ms ;;
    esac
    "$engine" "$engine"
done
