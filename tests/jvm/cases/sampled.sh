# Sampled calls (event=CLASS.METHOD): each call, or each n-th, of methods of the program and of the JDK, which were loaded before and after the session began, with
# the stack that begins in the method; in recordings, graphs and beside another clock. What has no code, and what is no method, is told.

sum_of() { # $1: file of collapsed stacks, $2: pattern: the numbers of those that match
    awk -v pattern="$2" '$0 ~ pattern { sum += $NF } END { print sum + 0 }' "$1"
}

no_frames_of_ours() { # $1: file
    ! grep -qE 'Jaywalk|CallEvents' "$1" || fail "$1: frames of the agent are in stacks: $(grep -m 1 -E 'Jaywalk|CallEvents' "$1")"
}

kinds=(platform)
[ "$MAJOR" -lt 21 ] || kinds+=(virtual)
for kind in "${kinds[@]}"; do
    # Each call of a method of the JDK, in a graph that the agent draws itself.
    profile "each-$kind" "event=java/util/BitSet.flip,file=each-$kind.collapsed" Tally "$kind"
    called=$(sed -n 's/^java.util.BitSet.flip //p' "each-$kind.out")
    found=$(sum_of "each-$kind.collapsed" 'Tally[./]calls;java[./]util[./]BitSet[./]flip [0-9]+$')
    [ "$found" = "$called" ] || fail "each-$kind: $found samples of $called calls: $(head -n 3 "each-$kind.collapsed")"
    [ "$(sum_of "each-$kind.collapsed" .)" = "$called" ] || fail "each-$kind: there are samples of something else"
    no_frames_of_ours "each-$kind.collapsed"

    # Each hundredth of a method of the program, beside the wall clock: no more than an interval is lost or gained by those who count by themselves, which
    # are four threads, and eight cells that virtual ones share.
    profile "some-$kind" "event=Tally.deep,interval=100,wall=20ms,file=some-$kind.jfr" Tally "$kind"
    called=$(sed -n 's/^Tally.deep //p' "some-$kind.out")
    "$JW_COMMAND" convert -q --total -o collapsed "some-$kind.jfr" "some-$kind.collapsed" || fail "some-$kind.jfr was not converted"
    found=$(sum_of "some-$kind.collapsed" 'Tally[./]deep [0-9]+$')
    echo "some-$kind: $found of $called calls, by each hundredth"
    [ "$found" -ge $((called - 800)) ] && [ "$found" -le $((called + 800)) ] || fail "some-$kind: samples stand for $found calls of $called"
    [ "$(sum_of "some-$kind.collapsed" .)" = "$found" ] || fail "some-$kind: samples of another clock are among them"
    no_frames_of_ours "some-$kind.collapsed"
    "$JW_COMMAND" convert -q -o collapsed --event=Tally.deep "some-$kind.jfr" "named-$kind.collapsed"
    [ "$(sum_of "named-$kind.collapsed" .)" = "$((found / 100))" ] || fail "some-$kind: by its name the event has $(sum_of "named-$kind.collapsed" .) samples"
done
whole "some-$kind.jfr"
"$JW_COMMAND" convert -q some-platform.jfr some.txt
grep -q '^Profile of Tally.deep\(,\|$\)' some.txt && grep -qE '^Total +[0-9,]+ calls in [0-9,]+ samples$' some.txt || fail "it is not said what was counted: $(head -n 3 some.txt)"

# A call that finds no stack to be told by is counted: those and the samples are all that the program knows of.
profile ends event=Tally.dive,jstackdepth=8,file=ends.jfr Tally platform
called=$(sed -n 's/^Tally.dive //p' ends.out)
found=$("$JW_COMMAND" convert -q -o csv --event=jaywalk.CallSample ends.jfr - | grep -c 'Tally.dive')
READER=$(one_reader)
dropped=$(run_jfr "${READER#* }" print --events jaywalk.Diagnostics ends.jfr | sed -n 's/^ *placesDropped = //p' | tail -n 1)
[ "$((found + dropped))" = "$called" ] || fail "ends: $found samples and $dropped calls without a stack of $called calls"

profile dialect event=Tally.failed,dialect=async-profiler,file=dialect.jfr Tally platform
found=$("$JW_COMMAND" convert -q -o csv --event=jdk.ExecutionSample dialect.jfr - | grep -c 'Tally.failed')
[ "$found" = "$(sed -n 's/^Tally.failed //p' dialect.out)" ] || fail "dialect: $found samples"

profile native event=java.lang.Object.hashCode,file=native.jfr -version
grep -q 'warning: event: no class that was loaded has a method java.lang.Object.hashCode with code of its own' native.err ||
    fail "it is not said that a native method is not sampled: $(cat native.err)"
run_java refused 0 "$(agent_flag 'event=Tally.,file=refused.jfr')" -version
grep -q 'event=Tally.: is unknown' refused.err || fail "no clear refusal: $(cat refused.err)"
