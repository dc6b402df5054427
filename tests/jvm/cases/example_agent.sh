# The C API for agents of others, in handlers of theirs: examples/agent, and an agent that asks again for all that it was told.
# Classes come and go, hidden ones too, and code is replaced: no wrong name, no end untold or told twice, no crash.
# once: the C API asks the same tables of a JVM that known and walker_kinds test on each.
seconds=${FOREIGN_SECONDS:-5}
root=$(dirname "$LIB")/../..
flags=(-Xmx256m -XX:ReservedCodeCacheSize=3m -XX:+UseCodeCacheFlushing -XX:+IgnoreUnrecognizedVMOptions
    -XX:CompileThresholdScaling=0.1 -XX:+AllowRedefinitionToAddDeleteMethods)
read -ra headers <<<"$("$root/tools/jdks-list" --headers)"

build_agent() { # $1: name, then sources
    "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -shared -fPIC -pthread "${headers[@]}" -I"$root/include" \
        -o "lib$1.so" "${@:2}" -L"$(dirname "$JW_LIBRARY")" -ljaywalk -Wl,-rpath,"$(dirname "$JW_LIBRARY")"
}
build_agent pocket "$root/examples/agent/pocket.c"
call_line=$(grep -n -m 1 'callee.run();' "$(dirname "$LIB")/workloads/Redefined.java" | cut -d: -f1)
build_agent asker -DREDEFINED_CALL_LINE="$call_line" "$root"/tests/jvm/native/asker/*.c

at_least() { # $1: file of lines `what number`, $2: what, $3: how many there must be for the case to prove something
    local told
    told=$(sed -n "s/^$2 //p" "$1")
    [ "${told:-0}" -ge "$3" ] || fail "$1: $2: ${told:-nothing}, not $3"
}

nothing_wrong() { # $1: report of the other agent
    [ "$(sed -n 's/^wrong //p' "$1")" = 0 ] || fail "$1: $(grep -m 1 '^WRONG' "$1")"
}

# The example: what it writes are names of the workload that belong together, and each end stands there once.
run_java pocket 0 -agentpath:"$OUT/libpocket.so=pocket.txt" "${flags[@]}" Churn "$seconds" add
! grep -q '^pocket: ' pocket.err || fail "the example: $(grep -m 1 '^pocket: ' pocket.err)"
grep '^# [0-9]' pocket.txt
awk -F ';' '
    function number(text) { sub(/^[A-Za-z]+/, "", text); sub(/[^0-9].*/, "", text); return text + 0 }
    /^# [0-9]/ { samples = $0; next }
    /^# / { next }
    {
        sub(/ 1$/, "")
        for (i = 1; i <= NF; i++) {
            frames++
            if ($i ~ /^[?]:/) { nameless++; continue }
            if ($i !~ /^[CHR][0-9]+([\/+.][^:]*)?[.][^.:]+:[0-9]+$/) continue
            line = method = $i
            sub(/.*:/, "", line)
            sub(/:[0-9]+$/, "", method)
            sub(/.*[.]/, "", method)
            family = substr($i, 1, 1)
            of = number($i)
            ours[family]++
            own = family == "C" ? "m" : family == "H" ? "h" : "[ahp]"
            # The compiler describes a few places without a bytecode, and an id may end between the walk and the question.
            lineless += line == 0
            if (method != "run" && method != "<init>" && (method !~ "^" own "[0-9]" || number(method) != of) ||
                line != 0 && ((family != "R" && line != of % 60000 + 1) || (family == "R" && int((line - 1) / 8000) != of))) {
                print "WRONG " $i
                exit 1
            }
        }
    }
    END {
        print samples
        printf "%d frames, %d without name\nC %d\nH %d\nR %d\n", frames, nameless, ours["C"], ours["H"], ours["R"]
        if (nameless * 1000 > frames) { print "WRONG too many frames without a name"; exit 1 }
        if (lineless * 1000 > frames) { print "WRONG too many frames without a line"; exit 1 }
    }' pocket.txt >pocket.said || fail "the example: $(grep -m 1 '^WRONG' pocket.said)"
cat pocket.said
for family in C H R; do
    at_least pocket.said $family $((5 * seconds))
done
twice=$(sed -n 's/^# unloaded \([CH][0-9]*\).*/\1/p' pocket.txt | sort | uniq -d | head -n 1)
[ -z "$twice" ] || fail "the example: $twice was unloaded twice"
[ "$(grep -c '^# unloaded C' pocket.txt)" -ge $((5 * seconds)) ] || fail "the example heard of hardly any class that was unloaded"
[ "$(grep -c '^# redefined R' pocket.txt)" -ge "$seconds" ] || fail "the example heard of hardly any class that was redefined"

# Where there is nothing to be had it says why, and the program runs.
run_java refused 0 -agentpath:"$OUT/libpocket.so=refused.txt" -Xcheck:jni Hot 0.1
grep -q '^pocket: no stacks: .*Xcheck:jni' refused.err || fail "under -Xcheck:jni the example says: $(tail -n 1 refused.err)"

# Into a JVM that is up.
if [ "$MAJOR" -ge 9 ]; then
    . "$(dirname "$LIB")/attach.sh"
    begin_target late -XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading Hot -1
    "$JDK/bin/jcmd" "$late" JVMTI.agent_load "$OUT/libpocket.so" "$OUT/late.txt" >late.said || fail "attach: $(cat late.said)"
    sleep 2
    kill "$late"
    wait "$late" || true
    no_crash
    grep -q ';Hot[.]' late.txt || fail "attached, the example wrote: $(head -n 2 late.txt) $(cat late.said)"
fi

# The other agent asks, and so do sessions of jaywalk.
run_java asker 0 -agentpath:"$OUT/libasker.so=$OUT/asker.txt" "${flags[@]}" Foreign "$OUT/libasker.so" "$seconds" add \
    event=cpu,interval=2ms,file=one.jfr event=cpu,interval=1ms,wall=2ms,file=two.jfr event=cpu,file=three.collapsed
cat asker.out asker.txt
nothing_wrong asker.txt
for file in one.jfr two.jfr; do
    # Whatever a busy machine leaves of them: how many there must be the other agent says.
    check_once ChurnNames $file "$(dirname "$LIB")/workloads/Redefined.java" vm 1
done
grep -q 'Redefined[.]' three.collapsed || fail "the last session saw nothing"
at_least asker.txt samples $((100 * seconds))
for kind in short-lived hidden redefined; do
    at_least asker.txt "$kind frames" $((5 * seconds))
done
at_least asker.txt 'gone again' $((10 * seconds))
at_least asker.txt converted $((50 * seconds))
at_least asker.txt 'bodies of one number' "$seconds"
at_least asker.txt unloads $((20 * seconds))
at_least asker.txt redefinitions "$seconds"
at_least asker.txt 'methods ended' $((20 * seconds))
at_least asker.txt 'transient calls' $((5 * seconds))
at_least asker.txt 'compared frames' 70
samples=$(sed -n 's/^samples //p' asker.txt)
broken=$(sed -n 's/^broken //p' asker.txt)
[ $((broken * 100)) -le "$samples" ] || fail "$broken walks of $samples failed"

# Code comes to lie where other code of the same method lay, and only its lines are others.
run_java replaced 0 -agentpath:"$OUT/libasker.so=$OUT/replaced.txt" -Xmx64m -XX:+UseSerialGC Replaced "$seconds"
cat replaced.out replaced.txt
nothing_wrong replaced.txt
at_least replaced.out redefined $((10 * seconds))
at_least replaced.txt 'redefined frames' $((20 * seconds))
at_least replaced.txt 'bodies of one number' $((10 * seconds))
