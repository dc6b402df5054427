# From outside into a container: another PID and mount namespace, a /tmp and a library of its own; and from
# root to the JVM of another user.
# once: namespaces and users are the kernel's; make test-jdks has it on each.
. "$(dirname "$LIB")/attach.sh"

[ "$(id -u)" = 0 ] || not_run "only root can make namespaces and change users"
unshare --mount --pid --fork true 2>/dev/null || not_run "namespaces are not allowed here"

# Its /tmp is a new one; what the test itself needs of the old one, where it lies there, is shown in it.
# shellcheck disable=SC2016
inside_script='mount -t tmpfs tmpfs /mnt && mkdir /mnt/lib && cp "$1" /mnt/lib/libjaywalk.so
for directory in "$2" "$3"; do
    [ "${directory#/tmp/}" = "$directory" ] && continue
    mkdir -p "/mnt/${directory#/tmp/}" && mount --bind "$directory" "/mnt/${directory#/tmp/}"
done
mount --move /mnt /tmp && cd "$3" && shift 3 && exec "$@"'
child_of() { # the first child of a process
    # A process that has gone since its name was read is no mistake, and awk would take it for one.
    { cat /proc/[0-9]*/status 2>/dev/null || true; } |
        awk -v parent="$1" '/^Pid:/ { pid = $2 } /^PPid:/ && $2 == parent { print pid; exit }'
}
# m63: other namespaces, another root directory.
unshare --mount --pid --fork --mount-proc bash -c "$inside_script" - "$JW_LIBRARY" "$CLASSES" "$OUT" \
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot -1 >inside.out 2>inside.err </dev/null &
outer=$!
trap 'kill -KILL $(jobs -p) ${inside:-} 2>/dev/null || true' EXIT
until grep -q running inside.out; do
    kill -0 "$outer" || fail "the container did not start: $(head -n 1 inside.err)"
    sleep 0.1
done
inside=$(child_of "$outer")
jaywalk 0 jps | has_line -x "$inside Hot" || fail "jps does not list $inside"
# Nothing of what went in and out for it is left behind.
clean_inside() { # $1: process
    [ -z "$(find "/proc/$1/root/tmp" -name '.jaywalk-*' -o -name '.attach_pid*')" ] ||
        fail "left behind: $(find "/proc/$1/root/tmp" -name '.jaywalk-*' -o -name '.attach_pid*')"
}

jaywalk 1 status --libpath=/tmp/lib/none.so "$inside"
says "put the library there"
[ "$(jaywalk 0 status "$inside")" = "Profiler is not active" ] || fail "status: $(cat said.out)"
clean_inside "$inside"
jaywalk 0 status --libpath=/tmp/lib/libjaywalk.so "$inside" >out

# The picture comes here, whole, and is the caller's; all formats, and a recording.
jaywalk 0 -d 1 -f graph.html "$inside" >out
grep -qE "^Profiling stopped after [0-9]+ seconds: [0-9]+ samples in $OUT/graph.html$" out || fail "profile says: $(cat out)"
grep -q hottest graph.html || fail "no graph"
[ "$(stat -c '%a %u' graph.html)" = "600 0" ] || fail "graph.html: $(stat -c '%a %u' graph.html)"
jaywalk 0 -d 1 -f 'p-%p.jfr' "$inside" >out
check Whole "$COUNTERS" "p-$inside.jfr"
jaywalk 0 -d 1 -o collapsed -f stacks "$inside" >out
grep -q hottest stacks || fail "no stacks"
clean_inside "$inside"
[ "$(grep -c 'r-xp.*libjaywalk.so' "/proc/$inside/maps")" -le 2 ] || fail "more copies of the agent than were asked for"

# What stands in the way over here is told before anything happens over there.
mkdir -p directory.html
jaywalk 1 -d 1 -f nowhere/graph.html "$inside"
says "create its directory first"
jaywalk 1 -d 1 -f directory.html "$inside"
says "is a directory"
jaywalk 2 start -f graph.html "$inside"
says "file system of its own"
jaywalk 0 start -f /tmp/inside.html "$inside" >out
jaywalk 1 -d 1 -f second.html "$inside"
says "already started"
[ ! -e second.html ] || fail "a refused session left a file"
jaywalk 0 stop "$inside" >out
grep -q "in /tmp/inside.html" out || fail "stop says: $(cat out)"
[ -s "/proc/$inside/root/tmp/inside.html" ] || fail "start: no file in there"

# A signal ends it, and the picture comes; the command's death ends the session.
"$JW_COMMAND" -d 600 -f term.html "$inside" >term.out 2>term.err &
profiler=$!
until jaywalk 0 status "$inside" | has_line "Profiling is running"; do sleep 0.15; done
kill -TERM "$profiler"
wait "$profiler" || fail "a profile that was ended has status $?: $(cat term.err)"
grep -q "Profiling stopped" term.out || fail "a profile that was ended says $(cat term.out)"
[ -s term.html ] || fail "a profile that was ended left no file"
"$JW_COMMAND" -d 600 -f killed.html "$inside" >killed.out 2>killed.err &
profiler=$!
until jaywalk 0 status "$inside" | has_line "Profiling is running"; do sleep 0.15; done
kill -KILL "$profiler"
wait "$profiler" || true
until jaywalk 0 status "$inside" | has_line "not active"; do sleep 0.15; done
until [ -z "$(find "/proc/$inside/root/tmp" -name '.jaywalk-*')" ]; do sleep 0.1; done
[ ! -e killed.html ] || fail "a killed command left a file"
clean_inside "$inside"
[ "$(cat inside.out)" = running ] || fail "stdout is not its own: $(tail -n 1 inside.out)"
kill -KILL "$inside"
wait "$outer" || true

# A directory as its root, with what a JVM needs in it; the library is brought.
mkdir -p jail/tmp jail/proc
chmod 1777 jail/tmp
loader=$(dirname "$(loader_of "$JDK/bin/java")")
for directory in /usr /lib /lib64 /etc "$loader" "$JDK" "$CLASSES"; do
    [ -e "$directory" ] || continue
    mkdir -p "jail$directory"
done
# shellcheck disable=SC2016
jail_script='cd "$1" && shift && for directory in /usr /lib /lib64 /etc "$1" "$2" "$3"; do
    [ ! -e "$directory" ] || mountpoint -q "./$directory" || mount --rbind "$directory" "./$directory"
done
mount -t proc proc proc && shift 3 && exec chroot . "$@"'
unshare --mount --pid --fork bash -c "$jail_script" - "$OUT/jail" "$JDK" "$CLASSES" "$loader" \
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot -1 >jail.out 2>jail.err </dev/null &
outer=$!
until grep -q running jail.out; do
    kill -0 "$outer" || fail "the jail did not start: $(head -n 1 jail.err)"
    sleep 0.1
done
inside=$(child_of "$outer")
jaywalk 0 -d 1 -f jail.html "$inside" >out
grep -q hottest jail.html || fail "no graph out of the jail"
jaywalk 0 status "$inside" | has_line "^Profiler is not active$" || fail "status in the jail: $(cat said.out)"
[ "$(grep -c 'r-xp.*libjaywalk.so' "/proc/$inside/maps")" = 1 ] || fail "two copies of the agent in the jail"
clean_inside "$inside"

# A /tmp that leads out of the jail, and one that nothing may be run from.
mv jail/tmp jail/tmp-away
ln -s "$OUT" jail/tmp
jaywalk 3 status "$inside"
[ -z "$(find "$OUT" -maxdepth 1 -name '.jaywalk-*')" ] || fail "a link led out of the jail"
rm jail/tmp
mv jail/tmp-away jail/tmp
kill -KILL "$inside"
wait "$outer" || true

unshare --mount --pid --fork --mount-proc bash -c 'mount -t tmpfs -o noexec tmpfs /mnt && mkdir -p "/mnt/${2#/tmp/}" "/mnt/${3#/tmp/}" &&
    mount --bind "$2" "/mnt/${2#/tmp/}" && mount --bind "$3" "/mnt/${3#/tmp/}" && mount --move /mnt /tmp && cd / && shift 3 && exec "$@"' - \
    "$JW_LIBRARY" "$CLASSES" "$OUT" "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot -1 >noexec.out 2>noexec.err </dev/null &
outer=$!
until grep -q running noexec.out; do
    kill -0 "$outer" || fail "noexec: the container did not start: $(head -n 1 noexec.err)"
    sleep 0.1
done
inside=$(child_of "$outer")
if [ -e "/proc/$inside/root$JW_LIBRARY" ]; then
    jaywalk 0 -d 1 -f noexec.html "$inside" >out
else
    jaywalk 3 -d 1 -f noexec.html "$inside"
    says "noexec"
    clean_inside "$inside"
fi
kill -KILL "$inside"
wait "$outer" || true

# s01: another user's JVM: the file is ours, in a directory that this user cannot write to.
command -v setpriv >/dev/null || not_run "the part with another user: no tool setpriv"
other=(setpriv --reuid 4321 --regid 4321 --clear-groups)
"${other[@]}" test -r "$CLASSES/Hot.class" -a -x "$JW_COMMAND" -a -r "$(libjvm)" 2>/dev/null || {
    skip_part "another user: may not read the files of this test"
    exit 0
}
"${other[@]}" "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot -1 >theirs.out 2>theirs.err </dev/null &
their=$!
until grep -q running theirs.out; do
    kill -0 "$their" || fail "java did not start: $(head -n 1 theirs.err)"
    sleep 0.1
done
jaywalk 0 -d 1 -f ours.html "$their" >out
[ "$(stat -c '%a %u' ours.html)" = "600 0" ] || fail "ours.html: $(stat -c '%a %u' ours.html)"
grep -q hottest ours.html || fail "another user: no graph"
mkdir theirs
chown 4321:4321 theirs
# s05, s08: what that user laid where root is told to write.
echo precious >precious
ln -s ../precious theirs/link.html
ln precious theirs/twice.html
mkfifo theirs/fifo.html
for trap_name in link twice fifo; do
    jaywalk 1 -d 1 -f "theirs/$trap_name.html" "$their"
    says "cannot write"
done
[ "$(cat precious)" = precious ] || fail "root wrote where a link of another user led"
jaywalk 0 start -f theirs/graph.html "$their" >out
jaywalk 0 stop "$their" >out
[ "$(stat -c %u theirs/graph.html)" = 4321 ] || fail "the file belongs to $(stat -c %u theirs/graph.html)"
jaywalk 1 start -f ours.jfr "$their"
says "Permission denied"
# The same user without any privilege.
(cd theirs && "${other[@]}" "$JW_COMMAND" -d 1 -f own.html "$their") >out 2>own.err || fail "its own user: status $?: $(cat own.err)"
[ "$(stat -c '%a %u' theirs/own.html)" = "600 4321" ] || fail "own.html: $(stat -c '%a %u' theirs/own.html)"
"${other[@]}" "$JW_COMMAND" status "$their" >out || fail "its own user may not attach: status $?"
kill "$their"
wait "$their" || true
no_crash
