# Objects of one class that are waited for: one number for each, whatever the collector does with it, and never that of another one, in waits for monitors, for locks of
# java.util.concurrent and in Object.wait; of platform and of virtual threads; objects that are gone are let go. Each has a thread of its own that waits for it, and one is waited for sixty times: so the report says.
. "$(dirname "$LIB")/attach.sh"

sync='java.util.concurrent.locks.ReentrantLock$NonfairSync'
metric() { # $1: process, $2: name
    { "$JW_COMMAND" metrics "$1" || true; } | sed -n "s/^jaywalk_$2_total //p" | grep . || echo 0
}
takes() { "$JDK/bin/java" "$@" -version >/dev/null 2>&1; } # $@: flags of the JVM
# Whoever finds a monitor biased to another thread waits for a safepoint first, which is no wait for the monitor: JDK 8 and 11 have that by default.
UNBIASED=(-XX:-UseBiasedLocking)
[ "$MAJOR" -lt 15 ] || UNBIASED=()

accounts() { # $1: name of a run, which is a variable, too; then flags of java, and arguments of the program
    local name=$1 owner=',"owner_count":1,.*"owner":"main"' carrier= count=149 hot=60 cold=1 class='Accounts$Account' type=jdk.JavaMonitorEnter flags=()
    shift
    while [[ ${1:-} = -* ]]; do
        flags+=("$1")
        shift
    done
    [[ " $* " != *" reentrant "* ]] || { class=${sync//.//} && type=jdk.ThreadPark; }
    # A virtual thread that has slept may park twice for one lock.
    [[ " $* " != *"reentrant virtual"* ]] || { count='[1-9][0-9]*' && hot=$count && cold=$count; }
    [[ " $* " != *" virtual "* ]] || carrier='s/.* //'
    [[ " ${flags[*]} " != *" -XX:+UseZGC "* ]] || owner= # nothing tells it of short waits, from JDK 23 on
    rm -f "$name.seen"
    begin_target "$name" "$(agent_flag "lock=1ns,file=$name.jfr")" "${UNBIASED[@]}" "${flags[@]}" Accounts "$name.seen" "$@"
    until [ "$(metric "${!name}" lock_objects_freed)" -ge 50 ]; do
        kill -0 "${!name}" || fail "$name: objects that are gone are still kept: $(cat "$name.err")"
        sleep 0.2
    done
    touch "$name.seen"
    wait "${!name}" || fail "$name: status $?: $(cat "$name.err")"
    no_crash
    ! grep 'not told apart' "$name.err" || fail "$name: $(cat "$name.err")"
    "$JW_COMMAND" convert -q --event=$type "$name.jfr" "$name.enters.jsonl"
    "$JW_COMMAND" convert -q --event=jdk.JavaMonitorWait "$name.jfr" "$name.waits.jsonl"
    # A line for each wait: who, and the number. A virtual thread comes back from Object.wait before it is told whose the carrier is.
    grep -F "\"$class\"" "$name.enters.jsonl" |
        sed -n 's/.*"eventThread":{[^}]*"javaName":"\(hot\|cold-[0-9]*\|gone-[0-9]*\)".*"instance":\([0-9]*\).*/\1 \2/p' >"$name.enters"
    grep -F '"Accounts$Account"' "$name.waits.jsonl" |
        sed -n 's/.*"eventThread":{[^}]*"javaName":"\([^"]*\)".*"instance":\([0-9]*\).*/\1 \2/p' | sed "$carrier" >"$name.waits"
    [ "$(sort -u "$name.enters" | wc -l)" = 90 ] && [ "$(cut -d ' ' -f 2 "$name.enters" | sort -u | grep -cv '^0$')" = 90 ] &&
        grep -qx "$count" <(wc -l <"$name.enters") || fail "$name: not a number for each of 90 objects in 149 waits: $(sort "$name.enters" | uniq -c)"
    [ "$(sort -u "$name.waits" | wc -l)" = 90 ] || fail "$name: not a number for each of 90 objects in Object.wait: $(sort "$name.waits" | uniq -c)"
    [ $type = jdk.ThreadPark ] || diff <(sed "$carrier" "$name.enters" | sort -u) <(sort -u "$name.waits") || fail "$name: Object.wait is for other objects"
    "$JW_COMMAND" contention --json --top=0 "$name.jfr" >"$name.json" || fail "$name: no report"
    sed -n "/^{\"objects\":.*\"class\":\"${class//\//.}\"/,/\]}/p" "$name.json" >"$name.objects"
    grep -q '^{"objects":90,"waits":'"$count"',.*"unnumbered_waits":0,' "$name.objects" && [ "$(grep -c '"waits":'"$hot"',.*"thread_count":1'"$owner" "$name.objects")" -ge 1 ] &&
        [ "$(grep -c '"waits":'"$cold"',.*"thread_count":1'"$owner" "$name.objects")" -ge 89 ] || fail "$name: not the objects that the program knows: $(cat "$name.objects")"
}
accounts monitors
accounts latches reentrant
if [ "$MAJOR" -ge 17 ] && takes -XX:+UseZGC; then
    accounts moved -XX:+UseZGC -Xmx128m
fi
if [ "$MAJOR" -ge 24 ]; then
    accounts parted_latches reentrant virtual
    accounts parted_monitors virtual
fi
