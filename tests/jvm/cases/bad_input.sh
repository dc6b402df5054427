# Bad input: a clear message, and a JVM that runs as if nothing had been asked of it.
# once: options and files are read before the JVM is asked anything.
run_java plain 3 Endings exit

# The JVM is unharmed and the message, on stderr, names what was wrong.
refused() { # $1: name, $2: options after `start`, $3: what the message must name
    run_java "$1" 3 "$(agent_flag "$2")" Endings exit
    cmp plain.out "$1.out" || fail "$1: stdout is not what it is without the agent"
    grep -E "$complaints" "$1.err" | has_line -E -- "$3" ||
        fail "$1: no message about $3: $(head -n 2 "$1.err" | tr '\n' ' ')"
    [ "$(wc -l <"$1.err")" -le 5 ] || fail "$1: says $(wc -l <"$1.err") lines"
}

refused unknown_option 'event=cpu,frobnicate=7,file=unknown.jfr' frobnicate
check_once Whole "$COUNTERS" unknown.jfr

refused negative_interval 'event=cpu,interval=-5ms,file=negative.jfr' 'interval|-5ms'
refused no_number 'event=cpu,interval=soon,file=soon.jfr' 'interval|soon'
refused unknown_event 'event=moonlight,file=moonlight.jfr' moonlight

refused missing_directory 'event=cpu,file=nowhere/out.jfr' nowhere/out.jfr
refused unwritable 'event=cpu,file=/proc/out.jfr' /proc/out.jfr
refused device 'event=cpu,file=/dev/full' /dev/full
[ -c /dev/full ] || fail "/dev/full is gone"

mkdir directory.jfr
refused directory 'event=cpu,file=directory.jfr' directory.jfr
[ -d directory.jfr ] || fail "the directory is gone"

# s05: links at the output path, from inside of the JVM.
echo precious >target
ln -s target link.jfr
refused link 'event=cpu,file=link.jfr' link.jfr
[ -L link.jfr ] && [ "$(cat target)" = precious ] || fail "the symbolic link or its target was touched"
ln -s nothing dangling.jfr
refused dangling_link 'event=cpu,file=dangling.jfr' dangling.jfr
[ -L dangling.jfr ] && [ ! -e nothing ] || fail "the target of a dangling link was made"

# m53: no room on the disk.
# A disk that is full from the start, and one that fills up: what fitted stays readable.
small_disk() { # $1: name, $2: size; runs the recording there and copies the file out
    mkdir -p "$1"
    unshare --mount bash -c 'mount -t tmpfs -o size="$2" tmpfs "$1" || exit 99
        shift 2; "$@" || echo "$?" >status; cp "$0"/*.jfr . 2>/dev/null; true' "$1" "$1" "$2" \
        "$JDK/bin/java" "${JAVA_FLAGS[@]}" "$(agent_flag "event=cpu,interval=4ms,file=$1/$1.jfr")" \
        "${@:3}" >"$1.out" 2>"$1.err"
}

if unshare --mount true 2>/dev/null; then
    small_disk full 4k Endings exit
    no_crash
    [ "$(cat status)" = 3 ] || fail "full disk: status $(cat status)"
    cmp plain.out full.out || fail "full disk: stdout is not what it is without the agent"
    grep -E "$complaints" full.err | has_line -iE 'space|full' ||
        fail "full disk: no clear message: $(head -n 1 full.err)"

    rm -f status
    small_disk filling 512k DeepStacks filling/filling.jfr 1000 8
    no_crash
    [ ! -e status ] || fail "filling disk: status $(cat status)"
    grep -E "$complaints" filling.err | has_line -iE 'space|full' ||
        fail "filling disk: no clear message: $(head -n 1 filling.err)"
    [ "$(grep -cE "$complaints" filling.err)" -le 2 ] ||
        fail "filling disk: says it $(grep -cE "$complaints" filling.err) times"
    check Whole --killed "$COUNTERS" filling.jfr
else
    skip_part "a full disk: may not mount a small file system here"
fi

# Recordings that are none. Status 1, a message that names the file, nothing left behind.
profile good event=cpu,interval=4ms,file=good.jfr Hot 1
convert_refused() { # $1: file
    local status=0
    "$JW_COMMAND" convert "$1" "$1.html" >convert.out 2>convert.err || status=$?
    [ "$status" = 1 ] || fail "convert $1: status $status, not 1"
    grep -q -- "$1" convert.err || fail "convert $1: no message that names it: $(head -n 1 convert.err)"
    [ ! -e "$1.html" ] || fail "convert $1: leaves an output file"
}
: >empty.jfr
convert_refused empty.jfr
head -c 40 good.jfr >header.jfr
convert_refused header.jfr
head -c $(($(stat -c %s good.jfr) / 2)) good.jfr >cut.jfr
convert_refused cut.jfr
head -c 100000 /dev/urandom >noise.jfr
convert_refused noise.jfr
convert_refused no-such-file.jfr

# Cut in its last chunk, with a whole one before: that one is converted, and the rest is told of.
cat good.jfr cut.jfr >tail-cut.jfr
status=0
"$JW_COMMAND" convert tail-cut.jfr tail-cut.collapsed >convert.out 2>convert.err || status=$?
[ "$status" -le 1 ] || fail "convert tail-cut.jfr: status $status"
[ -s convert.err ] || fail "convert tail-cut.jfr: says nothing of the cut"
grep -q hottest tail-cut.collapsed || fail "convert tail-cut.jfr: the whole chunk is not in the output"
