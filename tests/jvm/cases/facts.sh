# What viewers show around the samples: properties, flags, libraries, threads that come and go, garbage collections.
rounds=5
profile facts "interval=4ms,file=facts.jfr" -Dshop.name=corner Collected $rounds
silent facts
whole facts.jfr
read -r major home <<<"$(one_reader)"

events() { # $1: types; each event in a line
    jfr_tool "$major" "$home" print --events "$1" facts.jfr
    awk '/^jdk\./ { line = $0; next } /^}/ { print line; next } { sub(/^ +/, ""); line = line " " $0 }' tool.out
}

count_of() { # $1: types, $2: pattern
    events "$1" | grep -cE -- "$2" || true
}

expect() { # $1: count, $2: types, $3: pattern
    local found
    found=$(count_of "$2" "$3")
    [ "$found" = "$1" ] || fail "$2: $found events with $3, not $1: $(events "$2" | head -n 8)"
}

expect 1 jdk.InitialSystemProperty 'key = "shop.name" value = "corner"'
expect 1 jdk.UnsignedLongFlag 'name = "MaxHeapSize" value = 536870912 origin = "Command line"'
expect 1 jdk.GCHeapConfiguration 'maxSize = 512.0 MB'
expect 1 jdk.GCConfiguration 'oldCollector = "[A-Z]'
expect 1 jdk.NativeLibrary 'name = ".*/libjvm.so"'
expect 1 jdk.NativeLibrary "name = \"$(readlink -f "$JW_LIBRARY")\""
expect 1 jdk.Shutdown 'reason'
for type in jdk.ResidentSetSize jdk.JavaThreadStatistics jdk.ClassLoadingStatistics; do
    [ "$(count_of $type startTime)" -ge 1 ] || fail "no $type"
done

# Each thread's load is a part of the whole, which is the processors': between them they have no more than the process.
events jdk.ThreadCPULoad >loads.txt
[ "$(grep -c '' loads.txt)" -ge 2 ] || fail "hardly a thread has a load: $(cat loads.txt)"
sed 's/.*user = \([0-9.]*\)%.*system = \([0-9.]*\)%.*/\1 \2/' loads.txt | awk '{ sum += $1 + $2 } END { exit !(sum > 0 && sum <= 101) }' ||
    fail "loads of threads cannot be: $(cat loads.txt)"

for ((i = 0; i < rounds; i++)); do
    expect 1 jdk.ThreadStart " thread = \"comer-$i\""
    expect 1 jdk.ThreadEnd " thread = \"comer-$i\""
done

# Each that was asked for, by its cause; a collector that works beside the program may make several pauses of one.
asked=$(count_of jdk.GarbageCollection 'cause = "System.gc\(\)"')
[ "$asked" -ge $rounds ] || fail "$asked of $rounds collections that were asked for: $(events jdk.GarbageCollection)"
all=$(count_of jdk.GarbageCollection startTime)
expect "$all" jdk.GCPhasePause 'name = "GC Pause"'
# Whoever has generations says of each collection which one it was of; System.gc() is of the old one.
if events jdk.GCConfiguration | grep -q 'youngCollector = "N/A"'; then
    expect 0 jdk.YoungGarbageCollection,jdk.OldGarbageCollection startTime
else
    expect "$all" jdk.YoungGarbageCollection,jdk.OldGarbageCollection startTime
    [ "$(count_of jdk.OldGarbageCollection startTime)" -ge $rounds ] || fail "collections that were asked for are not of the old generation"
fi
expect "$all" jdk.GCHeapSummary 'when = "After GC"'
[ "$(count_of jdk.MetaspaceSummary 'After GC')" -ge 1 ] || fail "no jdk.MetaspaceSummary"
echo "$all collections, $asked of them asked for"

# Who wants none of the properties in a recording gets none; those of the command line stand in that, unless it is not wanted either.
profile without "sysprops=no,file=without.jfr" -Dshop.name=corner Collected 1
profile nothing "noargs,file=nothing.jfr" -Dshop.name=corner Collected 1
properties() { "$JW_COMMAND" convert -q -e jdk.InitialSystemProperty -o csv "$1.jfr" "$1.csv" 2>/dev/null && grep -c '^"jdk' "$1.csv" || true; }
[ "$(properties facts)" -ge 10 ] || fail "properties are not told: $(head -n 2 facts.csv)"
for name in without nothing; do
    [ "$(properties $name)" = 0 ] || [ -z "$(properties $name)" ] || fail "$name: the recording has properties: $(head -n 2 $name.csv)"
    ! grep -aq 'java.vm.specification.name' $name.jfr || fail "$name: the recording has names of properties"
done
grep -aq 'Dshop.name=corner' without.jfr || fail "without: the command line is not told"
! grep -aq corner nothing.jfr || fail "nothing: the command line is told"
