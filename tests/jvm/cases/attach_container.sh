# From outside into a container: another PID and mount namespace, a /tmp and a library of its own; and from
# root to the JVM of another user.
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
unshare --mount --pid --fork --mount-proc bash -c "$inside_script" - "$JW_LIBRARY" "$CLASSES" "$OUT" \
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot 0 >inside.out 2>inside.err </dev/null &
outer=$!
trap 'kill -KILL $(jobs -p) ${inside:-} 2>/dev/null || true' EXIT
until grep -q running inside.out; do
    kill -0 "$outer" || fail "the container did not start: $(head -n 1 inside.err)"
    sleep 0.1
done
inside=$(ps -o pid= --ppid "$outer" | tr -d ' ')
jaywalk 0 jps | grep -qx "$inside Hot" || fail "jps does not list $inside"
jaywalk 2 -d 1 --libpath=/tmp/lib/libjaywalk.so -f graph.html "$inside"
says "file system of its own"
jaywalk 1 status --libpath=/tmp/lib/none.so "$inside"
says "put the library there"
jaywalk 0 -d 1 --libpath=/tmp/lib/libjaywalk.so -f /tmp/graph.html "$inside" >out
grep -q hottest "/proc/$inside/root/tmp/graph.html" || fail "no graph in the container: $(cat out)"
[ -z "$(find "/proc/$inside/root/tmp" -name '.jaywalk-*' -o -name '.attach_pid*')" ] ||
    fail "something was left in the container"
[ "$(cat inside.out)" = running ] || fail "stdout is not its own: $(tail -n 1 inside.out)"
kill -KILL "$inside"
wait "$outer" || true

# Another user's JVM: the file is that user's, in a directory of that user.
command -v setpriv >/dev/null || not_run "the part with another user: no tool setpriv"
other=(setpriv --reuid 4321 --regid 4321 --clear-groups)
"${other[@]}" test -r "$CLASSES/Hot.class" -a -x "$JW_COMMAND" 2>/dev/null || {
    skip_part "another user: may not read the files of this test"
    exit 0
}
mkdir theirs
chown 4321:4321 theirs
"${other[@]}" "$JDK/bin/java" "${JAVA_FLAGS[@]}" Hot 0 >theirs.out 2>theirs.err </dev/null &
their=$!
until grep -q running theirs.out; do
    kill -0 "$their" || fail "java did not start: $(head -n 1 theirs.err)"
    sleep 0.1
done
jaywalk 0 -d 1 -f theirs/graph.html "$their" >out
[ "$(stat -c %u theirs/graph.html)" = 4321 ] || fail "the file belongs to $(stat -c %u theirs/graph.html)"
jaywalk 1 -d 1 -f ours.html "$their"
says "Permission denied"
"${other[@]}" "$JW_COMMAND" status "$their" >out || fail "its own user may not attach: status $?"
kill "$their"
no_crash
