# The command on a JVM that runs: profile for a while, start and stop, by number and by name, Ctrl-C; the
# program notices nothing but the agent that the JVM itself tells of.
# once: what JDK 9 and later have of attaching is the same; make test-jdks has it on each.
. "$(dirname "$LIB")/attach.sh"

# An agent that starts afresh in a process may fail to show what it should: the program runs, so does this.
begin_target target Hot -1
[ "$(jaywalk 0 status "$target")" = "Profiler is not active" ] || fail "status before: $(cat out)"
version=$(jaywalk 0 version "$target")
[ "jaywalk $version" = "$(jaywalk 0 version)" ] || fail "version: $version"

# The file lies where the command was called, not where the JVM runs.
mkdir called
(cd called && jaywalk 0 -d 3 -e cpu -i 5ms -f graph.html "$target" >out)
grep -qE '^Profiling stopped after ([3-9]|[1-9][0-9]+) seconds: [0-9]+ samples in .*/called/graph.html$' called/out ||
    fail "profile says $(cat called/out)"
[ "$(stat -c %a called/graph.html)" = 600 ] || fail "file mode $(stat -c %a called/graph.html)"
grep -q hottest called/graph.html || fail "graph.html shows no method of the program"

jaywalk 0 -d 4 -t -o collapsed -f stacks "$target" >out
hot=$(awk '{ n = $NF; all += n } /;Hot.hottest/ { hot += n } END { printf "%d", all ? 100 * hot / all : 0 }' stacks)
[ "$hot" -ge 50 ] || fail "the hottest method has $hot % of the samples, not four fifths"

# start, status, stop; what is out of turn is refused.
jaywalk 0 start -f first.jfr "$target" >out
grep -q "^Profiling started" out || fail "start says $(cat out)"
jaywalk 1 start -f second.jfr "$target"
says "already started"
[ ! -e second.jfr ] || fail "a refused start left a file"
until [ "$(jaywalk 0 status "$target" | sed -n 's/ samples in .*//p')" -gt 20 ]; do sleep 0.2; done
jaywalk 0 status "$target" | has_line -E '^Profiling is running for [0-9]+ seconds$' || fail "status says $(cat out)"
jaywalk 0 stop "$target" >out
grep -qE '^Profiling stopped after [0-9]+ seconds' out || fail "stop says $(cat out)"
jaywalk 1 stop "$target"
says "Profiler is not active"
ledger first.jfr

# Again and again: no thread, timer or descriptor stays behind.
# Files of libraries, and the memory of the vDSO, stay open for their names once a sample fell there.
descriptors() { { find "/proc/$target/fd" -mindepth 1 ! -lname '*.so*' ! -lname '*/mem' || true; } | wc -l; }
agent_rests "$target"
before=$(descriptors)
for i in 1 2 3 4 5 6 7 8 9 10; do
    jaywalk 0 start -i 1ms -f "again-$i.jfr" "$target" >out
    jaywalk 0 stop "$target" >out
done
agent_rests "$target"
[ ! -e "/proc/$target/timers" ] || [ "$(grep -c '^ID:' "/proc/$target/timers")" = 0 ] ||
    fail "$(grep -c '^ID:' "/proc/$target/timers") timers after stop"
[ "$(descriptors)" -le "$before" ] || fail "$before descriptors before, $(descriptors) after ten sessions"
check Whole "$COUNTERS" again-1.jfr again-10.jfr

# A signal ends the session and what was sampled is written.
"$JW_COMMAND" -d 600 -f term.html "$target" >term.out 2>term.err &
profiler=$!
until jaywalk 0 status "$target" | has_line "Profiling is running"; do sleep 0.1; done
kill -TERM "$profiler"
wait "$profiler" || fail "a profile that was ended has status $?: $(cat term.err)"
grep -q "Profiling stopped" term.out || fail "a profile that was ended says $(cat term.out)"
[ -s term.html ] || fail "a profile that was ended left no file"

# The same on a terminal: progress, and Ctrl-C.
if command -v script >/dev/null; then
    mkfifo keys
    set -m # else the shell has jobs in the background ignore Ctrl-C
    # exec: a /bin/sh that stayed between script and the command would end by the same Ctrl-C, with status 130.
    SHELL=/bin/sh script -qec "exec $JW_COMMAND -d 600 -f pty.html $target" /dev/null <keys >pty.out 2>&1 &
    profiler=$!
    set +m
    exec 9>keys
    until grep -q "of 600 s" pty.out; do sleep 0.1; done
    printf '\003' >&9
    wait "$profiler" || fail "on a terminal: status $?: $(tail -n 1 pty.out)"
    exec 9>&-
    grep -q "Profiling $target \[" pty.out || fail "no progress on a terminal"
    grep -q "Profiling stopped" pty.out || fail "on a terminal: no last word"
    [ -s pty.html ] || fail "on a terminal: no file"
else
    skip_part "progress and Ctrl-C: no terminal without the tool script"
fi

jaywalk 0 jps | has_line -x "$target Hot" || fail "jps does not list $target Hot"
end_target target $'running'

# By the name of a jar, which nobody else has.
if [ -x "$JDK/bin/jar" ]; then
    name=hot-$$-$MAJOR
    printf 'Main-Class: Hot\n' >manifest
    "$JDK/bin/jar" cfm "$name.jar" manifest -C "$CLASSES" .
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" -jar "$name.jar" -1 >jar.out 2>jar.err </dev/null &
    target=$!
    until grep -q running jar.out; do sleep 0.1; done
    jaywalk 0 status "$name" >out
    jaywalk 0 -d 1 -f named.html "$name.jar" >out
    [ -s named.html ] || fail "by name: no file"
    kill "$target"
    wait "$target" || true
else
    skip_part "by name of a jar: this JDK has no jar"
fi

# A JVM that ends while it is profiled: the file is written all the same.
# m35: also by a library whose file is gone by then.
begin_target target Hot 8
cp "$JW_LIBRARY" gone.so
until jaywalk 0 status --libpath="$OUT/gone.so" "$target" | has_line "Profiling is running"; do sleep 0.1; done && rm gone.so &
jaywalk 0 -d 600 --libpath="$OUT/gone.so" -f until-end.html "$target" >out
[ ! -e gone.so ] || fail "the library's file was still there"
says "ended first"
says "/until-end.html"
wait "$target" || fail "java ended with status $?"
[ -s until-end.html ] || fail "a JVM that ended left no file"

# From first to last, under the command: output and status are the program's own.
run_java plain 3 Endings exit
status=0
"$JW_COMMAND" record -q -f recorded.jfr -- "$JDK/bin/java" "${JAVA_FLAGS[@]}" Endings exit >record.out 2>record.err || status=$?
[ "$status" = 3 ] || fail "record: status $status, not 3: $(cat record.err)"
cmp plain.out record.out || fail "record: stdout is not what it is without"
check Whole "$COUNTERS" recorded.jfr
no_crash
