# What can go wrong with the command: each mistake has its message and status, and the JVM runs on as if
# nobody had asked.
. "$(dirname "$LIB")/attach.sh"

count=0
mistake() { # $1: status, $2: what the message must hold, then arguments
    local expected=$1 text=$2
    shift 2
    count=$((count + 1))
    jaywalk "$expected" "$@" >mistake.out
    says "$text"
    [ ! -s mistake.out ] || fail "jaywalk $*: says on stdout: $(head -n 1 mistake.out)"
    [ "$(wc -l <said.err)" -le 3 ] || fail "jaywalk $*: says $(wc -l <said.err) lines"
}

begin_target target Hot 0
t=$target
sleep 1000 &
sleeper=$!

# Which process?
mistake 3 "there is no process" 4194303
mistake 3 "is not a HotSpot JVM" "$sleeper"
mistake 3 "is not a HotSpot JVM" status "$sleeper"
mistake 3 "is not a HotSpot JVM" $$
tid=$(ls "/proc/$t/task" | grep -vx "$t" | head -n 1)
mistake 3 "$tid" "$tid"
mistake 3 "no JVM" 0
mistake 3 "no JVM" status -- -5
mistake 3 "no JVM" 99999999999999999999
mistake 3 "no JVM" "12 "
mistake 3 "no JVM" status no.such.Main
mistake 2 "which process?" start
mistake 2 "which process?" -d 3
mistake 2 "one process is taken" stop "$t" "$t"
mistake 2 "is no command" frobnicate
mistake 2 "did you mean 'status'?" statis "$t"
mistake 2 "the command comes first" --libpath "$JW_LIBRARY" status "$t"
mistake 2 "is too much" jps "$t"
mistake 2 "is too much" list cpu

# Options.
mistake 2 "did you mean '--event'?" --evnt cpu "$t"
mistake 2 "is no option" -Z "$t"
mistake 2 "needs a value" "$t" --file
mistake 2 "empty value" --file= "$t"
mistake 2 "takes no value" --threads=yes "$t"
mistake 2 "--event=moonlight" -e moonlight "$t"
mistake 2 "known to async-profiler" -e wall "$t"
mistake 2 "negative" -i -5ms "$t"
mistake 2 "not a number" -i soon "$t"
mistake 2 "zero" -i 0 "$t"
mistake 2 "--interval=10parsec" -i 10parsec "$t"
mistake 2 "too large" -i 99999999999999999999s "$t"
mistake 2 "is too small" -i 1us "$t"
mistake 2 "--jstackdepth=1.5" -j 1.5 "$t"
mistake 2 "zero" -d 0 "$t"
mistake 2 "--duration" -d 1x "$t"
mistake 2 "named twice" -i 1ms -i 2ms "$t"
mistake 2 "is no format" -o htlm "$t"
mistake 2 "not SVG" -f graph.svg "$t"
mistake 2 "comma" -f a,b.html "$t"
mistake 2 "comma" --title=a,file=/etc/passwd "$t"
mistake 2 "control character" --title=$'a\nb' "$t"
mistake 2 "percent sign" -f 100%.html "$t"
mistake 2 "too long" --title="$(printf 'x%.0s' {1..300})" "$t"

# Outputs. Nothing is created, followed or emptied.
mkdir directory.html
mkfifo fifo.html
echo precious >victim
ln -s victim link.html
echo precious >twice.html
ln twice.html other-name
mistake 1 "nowhere" -d 1 -f nowhere/graph.html "$t"
mistake 1 "/dev/full" -d 1 -f /dev/full "$t"
mistake 1 "/proc" -d 1 -f /proc/graph.html "$t"
mistake 1 "directory.html" start -f directory.html "$t"
mistake 1 "fifo.html" start -f fifo.html "$t"
mistake 1 "link.html" start -f link.html "$t"
mistake 1 "twice.html" start -f twice.html "$t"
[ "$(cat victim twice.html)" = $'precious\nprecious' ] || fail "a file of somebody else was touched"
if [ "$MAJOR" -lt 24 ]; then
    mistake 3 "takes 1024 in one piece" start -f "$(printf '/xxxxxxxxx%.0s' {1..110})/a.html" "$t"
fi

# The agent itself.
echo "no library" >text.so
cp "$JW_LIBRARY" open.so
chmod 666 open.so
mistake 1 "No such file" start --libpath=nowhere.so "$t"
mistake 1 "is no file" start --libpath=directory.html "$t"
mistake 1 "is no library" start --libpath=text.so "$t"
mistake 3 "did not load" start --libpath="$CLASSES/libburner.so" "$t"
mistake 1 "may be written by everybody" start --libpath=open.so "$t"

# Out of turn.
mistake 1 "Profiler is not active" stop "$t"
jaywalk 0 start -f running.jfr "$t" >/dev/null
mistake 1 "already started" start -f other.jfr "$t"
mistake 1 "already started" -d 1 -f other.html "$t"
jaywalk 0 stop "$t" >/dev/null
mistake 1 "Profiler is not active" stop "$t"

# The option that is kept for the command writes into nobody else's files.
echo precious >answer
"$JDK/bin/jcmd" "$t" JVMTI.agent_load "$JW_LIBRARY" "\"status,answer=$OUT/answer\"" >jcmd.out 2>&1 || true
grep -q "return code: 100" jcmd.out || fail "answer=: $(tail -n 1 jcmd.out)"
grep -q "for the command jaywalk" target.err || fail "answer=: no message"
[ "$(cat answer)" = precious ] || fail "answer= wrote into a file that was there"
grep -v '^\[jaywalk\] error: answer=' target.err | grep -v "profiling was not started; the JVM runs on" >target.err.rest || true
mv target.err.rest target.err

# The listener's socket: removed, and what others put in its place.
socket=/tmp/.java_pid$t
rm "$socket"
jaywalk 0 status "$t" >/dev/null
mistake_socket() { # $1: expected message
    mistake 3 "$1" status "$t"
    rm -f "$socket"
}
rm "$socket"
echo "no socket" >"$socket"
mistake_socket "is no socket"
ln -s /dev/null "$socket"
mistake_socket "is no socket"
jaywalk 0 status "$t" >/dev/null
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    other=(setpriv --reuid 4321 --regid 4321 --clear-groups)
    status=0
    "${other[@]}" "$JW_COMMAND" status "$t" >other.out 2>other.err || status=$?
    if [ "$status" = 126 ] || [ "$status" = 127 ]; then
        skip_part "another user: may not run the command from here"
    else
        [ "$status" = 3 ] && grep -q "belongs to user" other.err ||
            fail "another user: status $status, $(cat other.err)"
    fi
else
    skip_part "another user: only root can try"
fi

# A JVM that is stopped, and goes on.
kill -STOP "$t"
until grep -q '^State:.T' "/proc/$t/status"; do sleep 0.05; done
mistake 3 "is stopped" status "$t"
kill -CONT "$t"
jaywalk 0 status "$t" >/dev/null
end_target target running

# JVMs that want no attach.
refusing() { # $1: name, $2: option of java, $3: message
    begin_target "$1" "$2" Hot 0
    mistake 3 "$3" -d 1 "${!1}"
    end_target "$1" running
}
refusing disabled -XX:+DisableAttachMechanism "-XX:+DisableAttachMechanism"
if [ "$MAJOR" -ge 9 ]; then
    refusing undynamic -XX:-EnableDynamicAgentLoading "-XX:-EnableDynamicAgentLoading"
fi

# Without signal handlers the JVM listens from its start, and SIGQUIT would be its end.
begin_target reduced -Xrs Hot 0
jaywalk 0 -d 1 -f reduced.html "$reduced" >/dev/null
rm "/tmp/.java_pid$reduced"
mistake 3 "does not handle SIGQUIT" status "$reduced"
end_target reduced running

mistake 2 "which program?" record -f x.jfr
mistake 2 "is not java" record -f x.jfr -- ./script.sh
mistake 1 "/nowhere/java" record -f x.jfr -- /nowhere/java Main
kill -0 "$sleeper" || fail "a process that is no JVM did not survive"
[ "$count" -ge 60 ] || fail "only $count mistakes were tried"
