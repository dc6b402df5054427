# What the recording says that a profiler would show which samples at safepoints is what such a one shows: the program asks the
# JVM for the stack of its busy thread, meanwhile. Counted loops ask nothing, and their time goes to what comes behind; with
# strip mining (G1) they ask now and then. jaywalk's own samples are where the time goes.
# once: which samples lie at safepoints is told by tables that all JVMs have.
bias() { # $1: name, then flags of java
    local name=$1
    profile "$name" "event=cpu,interval=4ms,file=$name.jfr" -XX:CompileCommand=dontinline,Bias.* "${@:2}" Bias 7
    silent "$name"
    "$JW_COMMAND" doctor --json "$name.jfr" >"$name.json" 2>doctor.err || fail "$name: doctor: $(tail -n 1 doctor.err)"
    sed 's/},{/\n/g' "$name.json" |
        sed -n 's/.*"method":"Bias\.\([a-zA-Z]*\)","line":\([0-9-]*\),"sampled":\([0-9]*\),"stopped":\([0-9]*\).*/\1 \2 \3 \4/p' >"$name.lines"
    # Of each method: ours, estimated, and seen by the program; shares of each, and how far the last two may lie apart.
    awk -v name="$name" '
        FILENAME ~ /lines$/ { sampled[$1] += $3; stopped[$1] += $4; samples += $3; stops += $4; all[$1] = 1; next }
        $1 == "stopped" { seen[$2] += $4; asked += $4; all[$2] = 1 }
        END {
            if (samples < 300 || asked < 100) { print "PROBLEM: " samples + 0 " samples, " asked + 0 " stacks"; exit }
            for (method in all) {
                e = stopped[method] / stops; s = seen[method] / asked
                p = (stopped[method] + seen[method] + 1) / (stops + asked + 2)
                most = 4.5 * sqrt(p * (1 - p) * (1 / stops + 1 / asked)) + 0.03
                printf "%s %s: sampled %.1f %%, would stop %.1f %%, stopped %.1f %%, apart at most %.1f\n", name, method,
                    100 * sampled[method] / samples, 100 * e, 100 * s, 100 * most
                if (e - s > most || s - e > most) print "PROBLEM: " method " is off by " 100 * (e - s) " points"
            }
        }' "$name.lines" "$name.out" | tee "$name.table"
    ! grep -q '^PROBLEM' "$name.table" || fail "$name: $(grep -m 1 '^PROBLEM' "$name.table")"
    [ "$(count "$name" told)" -gt $((20 * $(count "$name" untold))) ] ||
        fail "$name: of $(count "$name" untold) samples it is not told where they stop, of $(count "$name" told) it is"
    "$JW_COMMAND" doctor "$name.jfr" >page
    grep -qE '^ +[0-9.]+ % +[0-9.]+ %  Bias\.counted$' page || fail "$name: the page has no row of Bias.counted: $(sed -n '/^Safepoints/,/^$/p' page)"
    # How many samples lie at a poll itself is the processor's choice: some (AMD family 26) are interrupted at few places of a loop, never there.
    at_poll=$(sed -n 's/.*"top_at_safepoint":\([0-9]*\),.*/\1/p' "$name.json")
    [ -n "$at_poll" ] && [ "$at_poll" -le "$(count "$name" told)" ] || fail "$name: samples at a poll: '$at_poll' of $(count "$name" told)"
}

count() { sed -n 's/.*"bias":{[^[]*"'"$2"'":\([0-9]*\).*/\1/p' "$1.json"; }
share() { # $1: name, $2: method, $3: sampled or stopped; per cent, rounded down
    sed -n 's/.* '"$2"': sampled \([0-9]*\)[0-9.]* %, would stop \([0-9]*\)[0-9.]* %.*/\1 \2/p' "$1.table" | cut -d ' ' -f "$3"
}

plain() {
    bias plain -XX:+UseSerialGC
    for method in counted both; do
        [ "$(share plain $method 1)" -ge 10 ] || fail "$method has hardly a sample: $(cat plain.table)"
        # What is compiled is; before, it was interpreted and asked.
        [ "$(share plain $method 2)" -lt 5 ] || [ "$method" = both ] || fail "threads would stop in a loop that does not ask: $(cat plain.table)"
    done
}

mined() {
    bias mined -XX:+UseG1GC
    [ "$(share mined counted 2)" -ge 10 ] || fail "no thread would stop in a loop that asks: $(cat mined.table)"
}

if [ "$MAJOR" -lt 17 ]; then
    plain
else
    for loops in $(half_of plain mined); do # of two JDKs the one or the other
        "$loops"
    done
fi
