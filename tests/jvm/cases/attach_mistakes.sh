# What can go wrong with the command: each mistake has its message and status, and the JVM runs on as if
# nobody had asked.
# once: what JDK 9 and later have of attaching is the same; make test-jdks has it on each.
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
mistake 3 "is called" status "$(printf 'x%.0s' {1..5000})"
mistake 3 "no JVM" status "$t junk"
mistake 3 "no JVM" status "+$t"
mistake 2 "which process?" start
mistake 2 "which process?" -d 3
mistake 2 "one process is taken" stop "$t" "$t"
mistake 2 "is no command" frobnicate
mistake 2 "did you mean 'status'?" statis "$t"
mistake 2 "the command comes first" --libpath "$JW_LIBRARY" status "$t"
mistake 2 "is too much" jps "$t"
mistake 3 "is called" list cpu

# Options.
mistake 2 "did you mean '--event'?" --evnt cpu "$t"
mistake 2 "is no option" -Z "$t"
mistake 2 "needs a value" "$t" --file
mistake 2 "empty value" --file= "$t"
mistake 2 "takes no value" --threads=yes "$t"
mistake 1 "event=moonlight: no such event" -e moonlight "$t" # it could be a function of that process
mistake 2 "known to async-profiler" -e nativemem "$t"
mistake 2 "negative" -i -5ms "$t"
mistake 2 "not a number" -i soon "$t"
mistake 2 "zero" -i 0 "$t"
mistake 2 "--interval=10parsec" -i 10parsec "$t"
mistake 2 "too large" -i 99999999999999999999s "$t"
mistake 2 "is too small" -i 1us "$t"
mistake 2 "--jstackdepth=1.5" -j 1.5 "$t"
mistake 2 "zero" -d 0 "$t"
mistake 2 "--duration" -d 1x "$t"
mistake 2 "--duration" -d '30 s' "$t"
mistake 2 "--duration" -d -5 "$t"
mistake 2 "too large" -d 31d "$t"
mistake 2 "--interval=1ms1" -i 1ms1 "$t"
mistake 2 "--memlimit" --memlimit=lots "$t"
mistake 2 "named twice" -i 1ms -i 2ms "$t"
mistake 2 "one process is taken" -d 1 "$t" trailing
mistake 2 "is no format" -o htlm "$t"
mistake 2 "not SVG" -f graph.svg "$t"
mistake 2 "comma" -f a,b.html "$t"
# s10: a value that would add options.
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
load_agent "$t" "status,answer=$OUT/answer" >jcmd.out
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
# s02: what the JVM did not make.
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
        # s01: the JVM of another user.
        [ "$status" = 3 ] && grep -q "belongs to user" other.err ||
            fail "another user: status $status, $(cat other.err)"
    fi
else
    skip_part "another user: only root can try"
fi

# m63: stopped, dead, a zombie, a socket of nobody: told in time, each with its reason.
# A JVM that is stopped, and goes on.
kill -STOP "$t"
until grep -q '^State:.T' "/proc/$t/status"; do sleep 0.05; done
mistake 3 "is stopped" status "$t"
kill -CONT "$t"
jaywalk 0 status "$t" >/dev/null

# What others put where the JVM's socket belongs, and listen at.
listen_at() { # $1: path, then words that run a command as somebody; the listener is in $listener
    local path=$1
    shift
    rm -f listening # an earlier one's word must not be taken for this one's
    "$@" perl -MIO::Socket::UNIX -e 'umask 077; $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or exit 1;
        $| = 1; print "listening\n"; sleep 1000' "$path" >listening 2>&1 &
    listener=$!
    until grep -q listening listening 2>/dev/null; do
        kill -0 "$listener" || fail "no socket at $path: $(cat listening)"
        sleep 0.05
    done
}
if command -v perl >/dev/null; then
    rm "$socket"
    listen_at "$socket" env
    mistake_socket "is held by process $listener"
    kill "$listener"
    listen_at "$socket" env
    kill "$listener"
    wait "$listener" || true
    mistake_socket "nobody listens at"
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        listen_at "$socket" "${other[@]}"
        mistake_socket "belongs to another user"
        kill "$listener"
    fi
    jaywalk 0 status "$t" >/dev/null
else
    skip_part "sockets of others: no perl to listen at them"
fi
end_target target running

# A process that has ended, and one that ends while it is asked.
bash -c '"$@" >zombie.out 2>&1 & echo $!; exec sleep 1000' - "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot 0 >zombie.pid &
until grep -q running zombie.out 2>/dev/null && [ -s zombie.pid ]; do sleep 0.1; done
zombie=$(cat zombie.pid)
kill -KILL "$zombie"
until grep -q '^State:.Z' "/proc/$zombie/status"; do sleep 0.05; done
mistake 3 "a zombie" status "$zombie"

begin_target short Hot 0
kill -STOP "$short"
until grep -q '^State:.T' "/proc/$short/status"; do sleep 0.05; done
"$JW_COMMAND" status "$short" >short.said 2>&1 &
asking=$!
until [ -n "$(find "/proc/$asking/fd" -lname '*pidfd*' 2>/dev/null)" ]; do
    kill -0 "$asking" || fail "status of a stopped process: $(cat short.said)"
    sleep 0.02
done
kill -KILL "$short"
status=0
wait "$asking" || status=$?
[ "$status" = 3 ] && grep -q "process $short" short.said || fail "ends meanwhile: status $status, $(cat short.said)"
wait "$short" || true

# Two of one name; and names that a terminal would obey.
named() { # $1: name of the program, as it calls itself; its number in $named
    rm -f named.out
    (exec -a "$1" "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot 0) >named.out 2>named.err </dev/null &
    named=$!
    until grep -qs running named.out; do kill -0 "$named" || fail "$1 did not start: $(head -n 1 named.err)"; sleep 0.1; done
}
named "twin-$$"
first=$named
named "twin-$$"
mistake 3 "means 2 JVMs: " status "twin-$$"
mistake 3 "name one by its number" -d 1 "twin-$$"
kill "$first" "$named"
wait "$first" "$named" || true
named $'\e]0;owned\a\e[31m'"evil-$$"
jaywalk 0 jps >jps.out
grep -qF "$named \x1b]0;owned\x07\x1b[31mevil-$$" jps.out || fail "jps shows: $(grep "evil-$$" jps.out | cat -v)"
! grep -q $'\e' jps.out || fail "jps lets a name speak to the terminal"
kill "$named"
wait "$named" || true

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
# m65: no signal went to what is no JVM.
kill -0 "$sleeper" || fail "a process that is no JVM did not survive"
[ "$count" -ge 75 ] || fail "only $count mistakes were tried"
