# How a profile is watched and ended: samples on the progress line, and a second Ctrl-C for a JVM that does not
# take commands, which then ends the session by itself as soon as it does.
# once: what JDK 9 and later have of attaching is the same; make test-jdks has it on each.
. "$(dirname "$LIB")/attach.sh"

begin_target target Hot -1
if command -v script >/dev/null; then
    # The agent is asked for its samples after two seconds, and its answer may take its time.
    SHELL=/bin/sh script -qec "exec $JW_COMMAND -d 60 -f pty.html $target" /dev/null </dev/null >pty.out 2>&1 &
    terminal=$!
    until grep -qE "Profiling $target \[#+ *\] [0-9]+ of 60 s, [0-9]+ samples, Ctrl-C ends it" pty.out; do
        kill -0 "$terminal" || fail "no samples on the progress line: $(tr '\r' '\n' <pty.out | tail -n 2)"
        sleep 0.1
    done
    pkill -TERM -P "$terminal"
    wait "$terminal" || fail "on a terminal: status $?: $(tail -n 1 pty.out)"
else
    skip_part "the progress line: no terminal without the tool script"
fi
jaywalk 0 -d 1 -f pipe.html "$target" >out
[ ! -s said.err ] || fail "progress where nobody watches: $(head -n 1 said.err)"

# A tool that connects and says nothing holds the JVM's attach listener up, and all others with it.
command -v perl >/dev/null || not_run "the part with Ctrl-C twice: no perl to hold the attach listener up"
hold() {
    rm -f held
    perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit 1;
        $| = 1; print "held\n"; sleep 600' "/tmp/.java_pid$target" >held 2>&1 &
    holder=$!
    until grep -q held held 2>/dev/null; do kill -0 "$holder" || fail "the listener is not held: $(cat held)"; sleep 0.05; done
}
release() {
    kill "$holder"
    wait "$holder" || true
}
"$JW_COMMAND" -d 600 -f twice.html "$target" >twice.out 2>twice.err &
profiler=$!
until jaywalk 0 status "$target" | has_line "Profiling is running"; do sleep 0.15; done
hold
kill -TERM "$profiler"
until [ "$(sed -n 's/^SigPnd:\t*//p;s/^ShdPnd:\t*//p' "/proc/$profiler/status" | grep -c '[1-9a-f]')" = 0 ]; do sleep 0.1; done
kill -TERM "$profiler"
status=0
wait "$profiler" || status=$?
[ "$status" = 143 ] || fail "twice: status $status: $(cat twice.err)"
grep -q "given up; process $target runs on" twice.err || fail "twice: says $(cat twice.err)"
[ "$(wc -l <twice.err)" = 1 ] || fail "twice: says $(wc -l <twice.err) lines"
status=0
"$JW_COMMAND" start -f never.jfr "$target" >never.out 2>never.err &
starter=$!
until [ -n "$(find "/proc/$starter/fd" -lname 'socket:*' 2>/dev/null)" ]; do sleep 0.05; done
kill -TERM "$starter"
wait "$starter" || status=$?
[ "$status" = 143 ] || fail "a start that is given up: status $status: $(cat never.err)"
grep -q "given up" never.err || fail "a start that is given up says $(cat never.err)"
release

# What was asked for meanwhile: the session is ended, and the one that nobody waits for was not begun.
until jaywalk 0 status "$target" | has_line "^Profiler is not active"; do sleep 0.15; done
grep -q hottest twice.html || fail "twice: the agent wrote no graph"
[ ! -e never.jfr ] || fail "a start that was given up left a file"

# A command that is killed leaves a session with an end.
"$JW_COMMAND" -d 600 -f killed.html "$target" >killed.out 2>killed.err &
profiler=$!
# It is told when the session has begun, and that it runs a moment before.
until jaywalk 0 status "$target" | has_line "^It stops by itself"; do sleep 0.15; done
kill -KILL "$profiler"
wait "$profiler" || true
left=$(jaywalk 0 status "$target" | sed -n 's/^It stops by itself in \([0-9]*\) seconds$/\1/p')
[ -n "$left" ] && [ "$left" -le 690 ] || fail "a command that was killed: $(cat said.out)"
jaywalk 0 stop "$target" >out
end_target target running
