# Every command in every order that makes sense, and in some that do not: dumps open, sums never fall, and what is
# refused says why. Several clients at once: control_storm.sh.
# once: the states of the agent know no JVM; how it is attached to is shown by the cases attach_*.
. "$(dirname "$LIB")/attach.sh"

samples() { jaywalk 0 status "$target" | sed -n 's/ samples in .*//p'; }
sampled() { until [ "$(samples)" -gt "$1" ]; do sleep 0.1; done; }
idle() { until jaywalk 0 status "$target" | has_line "^Profiler is not active"; do sleep 0.1; done; }
total() { awk '{ all += $NF } END { print all + 0 }' "$1"; }
events() { # $1: file; samples in it
    "$JDK/bin/jfr" summary "$1" | awk '$1 == "jdk.ExecutionSample" || $1 == "jdk.NativeMethodSample" { n += $2 } END { print n + 0 }'
}
counter() { jaywalk 0 metrics "$target" | sed -n "s/^jaywalk_$1 //p"; }
never_falls() { # $1: earlier stacks, $2: later ones
    awk '{ count = $NF; sub(/ [0-9]+$/, "") } NR == FNR { before[$0] = count; next } { after[$0] = count }
        END { for (stack in before) if (after[stack] + 0 < before[stack]) { print stack, before[stack], after[stack]; exit 1 } }' \
        "$1" "$2" || fail "$2: a stack has fewer samples than in $1"
}

# The whole text of status, as standard input has it: numbers are N, a file has no directory, and of the sum of CPU
# time there is what is always there; what was compared with JVMTI is told when a class was loaded meanwhile.
status_is() { # $1: state
    jaywalk 0 status "$target" | sed -E '/^Compared with JVMTI: [0-9]+ stacks, [0-9]+ equal, 0 different, /d; s| in /.*/| in |; s/[0-9]+([.][0-9]+)?/N/g; s/^(Walker: vm) [(]agct cannot be used: .*/\1/; s/^(CPU time N s: sampled N %)[,;].*/\1/; s/^(Cost: N % of the CPU time of the process): .*/\1/' >status
    diff - status >status.diff || fail "status, $1: $(sed -n '/^[<>]/p' status.diff | tr '\n' ' ')"
}

export JW_TEST_PART='web/../1'
# m61: numbers and names are the same where the program writes 1,5 and has an I that is no capital i.
if [ -d "$JW_LOCALES/tr_TR.UTF-8" ]; then
    LOCPATH=$JW_LOCALES LC_ALL=tr_TR.UTF-8 begin_target target Hot 0
else
    skip_part "in another locale: localedef did not make one"
    begin_target target Hot 0
fi

status_is idle <<<"Profiler is not active"

# A session in memory: graphs of it while it runs, at its end and after it, and more of it later.
jaywalk 1 dump -f nothing.html "$target"
says "no samples to write"
jaywalk 0 start -i 1ms "$target" | has_line "^Profiling started, samples are kept in memory$" || fail "start: $(cat said.out)"
sampled 50
jaywalk 0 dump -o collapsed "$target" >one
status_is "running in memory" <<'EOF'
Profiling is running for N seconds
Sampling CPU time every N us by comparing the clocks of the threads
N samples in memory
Walker: vm
CPU time N s: sampled N %
Cost: N % of the CPU time of the process
Memory: N of N MiB used
Dictionaries: classes N in N of N KiB, symbols N in N of N KiB, methods N in N of N KiB, traces N in N of N KiB
EOF
sampled $(($(total one) + 50))
jaywalk 0 dump -o collapsed "$target" >two
jaywalk 0 dump -f two.html "$target" | has_line -E '^[0-9]+ samples in .*/two.html$' || fail "dump: $(cat said.out)"
jaywalk 0 stop -o collapsed "$target" >three
never_falls one two
never_falls two three
[ "$(total one)" -gt 50 ] && [ "$(total three)" -ge "$(total two)" ] || fail "sums: $(total one) $(total two) $(total three)"
status_is kept <<'EOF'
Profiler is not active
N samples are kept in memory, N KiB: dump,file=NAME writes them, resume goes on, start forgets them
EOF
jaywalk 1 stop "$target"
says "samples are kept"
jaywalk 1 dump -f kept.jfr "$target"
says "start,file=profile.jfr"
jaywalk 0 dump -f kept.html "$target" >out
for page in two.html kept.html; do
    grep -q hottest $page || fail "$page shows no method of the program"
    [ "$(stat -c %a $page)" = 600 ] || fail "$page: mode $(stat -c %a $page)"
done
jaywalk 0 dump -o collapsed "$target" >four
cmp three four || fail "what is kept changed after stop"
jaywalk 0 resume "$target" | has_line "^Profiling resumed" || fail "resume: $(cat said.out)"
sampled $(($(total four) + 20))
jaywalk 0 stop -o flat=3 "$target" >text
grep -q "Hot.hottest" text || fail "the text of stop: $(head -n 3 text)"
jaywalk 0 dump -o collapsed "$target" >five
never_falls four five

# A recording: copies of it while it runs, and what cannot be made of it.
jaywalk 0 start -i 1ms --timeout 1h -f whole.jfr "$target" >out
sampled 50
jaywalk 0 dump -f copy-1.jfr "$target" >out
status_is "running into a file" <<'EOF'
Profiling is running for N seconds
Sampling CPU time every N us by comparing the clocks of the threads
N samples in whole.jfr
Walker: vm
CPU time N s: sampled N %
Cost: N % of the CPU time of the process
Memory: N of N MiB used
Dictionaries: classes N in N of N KiB, symbols N in N of N KiB, methods N in N of N KiB, traces N in N of N KiB
It stops by itself in N seconds
EOF
sampled $(($(samples) + 50))
jaywalk 0 dump -f copy-2.jfr "$target" >out
jaywalk 1 dump -f copy.html "$target"
says "jaywalk convert"
ln -s whole.jfr link.jfr
jaywalk 1 dump -f link.jfr "$target"
says "symbolic link"
jaywalk 0 stop "$target" >out
[ "$(events copy-1.jfr)" -ge 50 ] && [ "$(events copy-1.jfr)" -le "$(events copy-2.jfr)" ] &&
    [ "$(events copy-2.jfr)" -le "$(events whole.jfr)" ] ||
    fail "samples: $(events copy-1.jfr) $(events copy-2.jfr) $(events whole.jfr)"
check_once Whole --running "$COUNTERS" copy-1.jfr copy-2.jfr
check_once Whole "$COUNTERS" whole.jfr
ledger whole.jfr
jaywalk 1 dump -f late.html "$target"
says "is complete in"
jaywalk 1 resume "$target"
says "name a file"
jaywalk 0 resume -f again.jfr "$target" >out
jaywalk 0 stop -f copy-3.jfr "$target" >out
check_once Whole "$COUNTERS" again.jfr copy-3.jfr

# The end writes what the start said and what it says itself.
jaywalk 0 start -f first.html "$target" >out
sampled 10
jaywalk 0 stop -f second.collapsed "$target" >out
[ -s first.html ] && [ -s second.collapsed ] || fail "stop wrote $(ls ./*.html ./*.collapsed)"

# By themselves: each turn has its file, no sample is in two of them or in none, and a variable names no directory.
before=$(counter samples_total)
jaywalk 0 start -i 1ms --loop 1s -f "turn-%n-%{JW_TEST_PART}.jfr" "$target" >out
until [ -e turn-2-web_.__1.jfr ]; do sleep 0.1; done
jaywalk 0 stop "$target" >out
sum=0
for file in turn-*.jfr; do sum=$((sum + $(events "$file"))); done
[ "$sum" = $(($(counter samples_total) - before)) ] ||
    fail "the turns hold $sum samples of $(($(counter samples_total) - before))"
check_once Whole "$COUNTERS" turn-0-web_.__1.jfr turn-1-web_.__1.jfr
jaywalk 0 start --timeout 1s -f short.jfr "$target" >out
idle
check_once Whole "$COUNTERS" short.jfr
mkdir gone
jaywalk 0 start --loop 1s --log "$OUT/gone.log" -f gone/%n.jfr "$target" >out
mv gone away # at once: between the two steps of rm a turn could begin there
rm -r away
idle
jaywalk 0 status "$target" >out
says "ended by itself: cannot"
grep -q "cannot open the directory" gone.log || fail "the log does not say why: $(cat gone.log)"

# Asking changes nothing and needs no session.
jaywalk 0 list "$target" | has_line -x "  cpu" || fail "list: $(cat said.out)"
jaywalk 0 metrics "$target" >metrics
awk '/^# HELP / { help[$3] = 1; next } /^# TYPE / { type[$3] = $4; next }
    { name = $1; sub(/[{].*/, "", name)
      stem = name; sub(/_(bucket|sum|count)$/, "", stem)
      if (type[stem] == "histogram") { if (/^[a-z_]+[{][^{}]*[}] [0-9.]+$/) next; print; exit 1 }
      if (!help[name] || !type[name] || !/^[a-z_]+([{][^{}]*[}])? [0-9.]+$/ || (type[name] == "counter") != (name ~ /_total$/)) {
          print; exit 1 } }' metrics || fail "metrics: a line is not in the form of Prometheus"
while IFS= read -r field; do
    name=$(sed 's/[A-Z]/_\L&/g' <<<"$field")
    grep -q "^jaywalk_${name}_total " metrics || fail "metrics: no $field"
done < <(sed -nE 's/^JW_(COUNTER|LOSS)\([A-Z_]+, ([A-Za-z]+),.*/\2/p' "$COUNTERS")

for figure in keys key_bytes arena_bytes arena_pages arena_capacity_bytes waste_bytes refused keys_total key_bytes_total \
    waste_bytes_total refused_total generations_total; do
    for name in classes symbols methods endpoints context_values contexts traces; do
        grep -q "^jaywalk_dictionary_$figure{name=\"$name\"} " metrics || fail "metrics: no $figure of $name"
    done
done
for name in classes symbols methods traces; do
    grep -qE "^jaywalk_dictionary_keys_total[{]name=\"$name\"[}] [1-9]" metrics || fail "metrics: no key of $name was ever added"
done

# Another copy of the library is told off while this one samples, and seen at any time.
cp "$JW_LIBRARY" copy.so
jaywalk 0 start -f mine.jfr "$target" >out
jaywalk 1 start --libpath="$OUT/copy.so" -f theirs.jfr "$target"
says "another copy of jaywalk samples this JVM already"
jaywalk 0 status "$target" >out
says "copy of jaywalk in this process, at rest"
jaywalk 0 stop "$target" >out
[ ! -e theirs.jfr ] || fail "a refused copy left a file"

end_target target $'running'
