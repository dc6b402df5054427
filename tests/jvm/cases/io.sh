# Files and sockets (io=): each read and write is told once, by whatever method of the JDK, with path or address, as many bytes as the program says and the stack of who asked, by platform and
# virtual threads, what fails and what is the end, too; the classes are written back.
. "$(dirname "$LIB")/attach.sh"

mkdir files

# The columns of a type, as "NAME BYTES" lines.
events_of() { # $1: recording, $2: type
    rm -f events.csv
    "$JW_COMMAND" convert -q --event="$2" "$1" events.csv 2>/dev/null || true
    [ -e events.csv ] || return 0
    awk -F, -v bytes="$(sed 's/.*File\|.*Socket//' <<<"$2")" '
        function plain(text) { gsub(/["\r]/, "", text); return text } # rows end in CRLF
        NR == 1 { for (i = 1; i <= NF; i++) at[plain($i)] = i; next }
        {
            name = "path" in at ? plain($at["path"]) : plain($at["address"])
            sub(/.*files\//, "", name)
            sub(/^none[0-9]+$/, "none", name)
            print name, bytes == "Read" ? plain($at["bytesRead"]) : bytes == "Write" ? plain($at["bytesWritten"]) : 0
        }' events.csv
}

told() { # $1: name
    local type name count bytes found sum lines=0
    while read -r type name count bytes; do
        read -r found sum <<<"$(events_of "$1.jfr" "$type" | awk -v name="$name" '$1 == name { count++; sum += $2 } END { print count + 0, sum + 0 }')"
        echo "$1: $type $name: $found of $count, $sum of $bytes bytes"
        [ "$found $sum" = "$count $bytes" ] || fail "$1: $type $name: $found with $sum bytes, not $count with $bytes: $(head -n 3 events.csv)"
        lines=$((lines + 1))
    done <"$1.out"
    [ "$lines" -ge 12 ] || fail "$1: the program has not told all: $(cat "$1.out")"
}

kinds=(platform)
[ "$MAJOR" -lt 21 ] || kinds+=(virtual)
for kind in "${kinds[@]}"; do
    profile "$kind" "event=cpu,io=1ns,file=$kind.jfr" Io "$kind" files
    told "$kind"
    # Nothing of the agent is in a stack, and the method of the JDK is on top.
    "$JW_COMMAND" convert -q --event=jdk.FileRead -o collapsed "$kind.jfr" "$kind.collapsed" || fail "$kind: no stacks of files that are read"
    grep -qE 'Io[./]readStream;java[./]io[./]FileInputStream[./]read ' "$kind.collapsed" || fail "$kind: it is not told who reads: $(head -n 3 "$kind.collapsed")"
    ! grep -qE 'Jaywalk|IoEvents' "$kind.collapsed" || fail "$kind: the agent's own frames are in stacks"
done
whole "$kind.jfr"
reader=$(one_reader)
for type in FileRead FileWrite FileForce SocketRead SocketWrite; do
    run_jfr "${reader#* }" print --events "jdk.$type" platform.jfr >"$type.txt"
    [ "$(grep -c "^jdk.$type {" "$type.txt")" -ge 10 ] || fail "jfr does not read jdk.$type"
done
[ "$(grep -c 'host = "here"' SocketWrite.txt)" -ge 20 ] || fail "the name of a host is not told: $(grep -m 3 host SocketWrite.txt)"
[ "$(grep -c 'endOfFile = true' FileRead.txt)" -ge 20 ] || fail "the end of a file is not told"
[ "$(grep -c 'endOfStream = true' SocketRead.txt)" -ge 20 ] || fail "the end of a stream is not told"
grep -q 'metaData = true' FileForce.txt || fail "it is not told what went to the device"

# What takes less is not told: of all only the waits of 30 ms for what never came.
profile long "event=cpu,io=25ms,file=long.jfr" Io platform files
found=$(events_of long.jfr jdk.SocketRead | grep -c '^127.0.0.1 0$' || true)
[ "$found" -ge 10 ] || fail "long: $found of 10 waits"

# In a program that runs, twice; the classes are what they were.
log=()
[ "$MAJOR" -lt 11 ] || log=("-Xlog:redefine+class+load=info:file=redefined.log")
begin_target server "${log[@]}" Io serve files
for turn in 1 2; do
    jaywalk 0 start -e cpu --io=1ns -f "live-$turn.jfr" "$server" >out
    until
        jaywalk 0 dump -f "$OUT/told.jfr" "$server" >out
        [ -n "$(events_of told.jfr jdk.FileRead | grep '^in 100$')" ]
    do sleep 0.2; done
    jaywalk 0 stop "$server" >out
done
end_target server serves
if [ "$MAJOR" -ge 11 ]; then
    [ "$(grep -c 'redefined name=java.io.FileInputStream,' redefined.log)" = 4 ] || fail "a class was not written back: $(grep -c FileInputStream redefined.log)"
fi
