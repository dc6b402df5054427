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
if events jdk.GCConfiguration | has_line 'youngCollector = "N/A"'; then
    expect 0 jdk.YoungGarbageCollection,jdk.OldGarbageCollection startTime
else
    expect "$all" jdk.YoungGarbageCollection,jdk.OldGarbageCollection startTime
    [ "$(count_of jdk.OldGarbageCollection startTime)" -ge $rounds ] || fail "collections that were asked for are not of the old generation"
fi
expect "$all" jdk.GCHeapSummary 'when = "After GC"'
# Of the heap before, collectors that work beside the program say nothing.
if ! events jdk.GCConfiguration | has_line -E 'oldCollector = "(Z|Shenandoah|ConcurrentMarkSweep)"'; then
    expect "$all" jdk.GCHeapSummary 'when = "Before GC"'
    compare=(Serial Parallel G1)
fi
[ "$(count_of jdk.MetaspaceSummary 'After GC')" -ge 1 ] || fail "no jdk.MetaspaceSummary"
echo "$all collections, $asked of them asked for"

# Before each collection the heap is as large as the JVM's own recorder says, with each collector; of G1 it may lack a region. That one sees less of the JVM's begin
# and end, and of Parallel two collections where all is collected.
used() { # $1: recording; bytes
    "$JW_COMMAND" convert -q -e jdk.GCHeapSummary "$1" heap.csv || fail "$1 has no heap"
    awk -F, 'index($0, "\"Before GC\"") { print $NF + 0 }' heap.csv
}
if [ "$MAJOR" -ge 17 ]; then
    for collector in $(half_of "${compare[@]}"); do
        profile "$collector" "event=cpu,file=$collector.jfr" -XX:+Use${collector}GC -XX:StartFlightRecording:filename=$collector-jvm.jfr,settings=profile Collected $rounds
        room=0
        [ "$collector" != G1 ] || room=$((1 << 20))
        used "$collector-jvm.jfr" >jvm.txt
        used "$collector.jfr" >heaps.txt
        found=$(awk -v room=$room 'NR == FNR { jvm[NR] = $1; count = NR; next } { for (i = 1; i <= count; i++) if (jvm[i] >= $1 && jvm[i] <= $1 + room) { found++; break } } END { print found + 0 }' jvm.txt heaps.txt)
        [ "$found" -ge $((rounds - 1)) ] || fail "$collector: of $rounds collections $found began with a heap as the JVM says: $(paste -s heaps.txt), the JVM: $(paste -s jvm.txt)"
    done
fi

# Classes one by one, by whoever defines them, with their loader; and those that are unloaded.
copies=100
profile classes "event=cpu,classload,file=classes.jfr" Defined $copies
"$JW_COMMAND" convert -q -e jdk.ClassDefine classes.jfr defined.csv || fail "no class is defined"
[ "$(grep -c '"Defined$Copy","{""type"":{.*""name"":""Defined$Loader""' defined.csv)" = $copies ] || fail "$(grep -c 'Defined.Copy"' defined.csv) of $copies classes: $(grep -m 2 'Defined.Copy"' defined.csv)"
grep 'Defined$Copy"' defined.csv | has_line -v 'Defined.main:[0-9]*;Defined$Loader.define:' && fail "it is not told who defines a class: $(grep -m 2 'Defined.Copy"' defined.csv)"
grep -q '"Defined","' defined.csv || fail "the program's own class is not told"
unloaded=0
"$JW_COMMAND" convert -q -e jdk.ClassUnload classes.jfr unloaded.csv 2>/dev/null && unloaded=$(grep -c '"Defined$Copy"' unloaded.csv || true)
if [ "$MAJOR" -ge 17 ]; then
    [ "$unloaded" -ge $((copies / 2)) ] && [ "$unloaded" -le $copies ] || fail "$unloaded of $copies classes were unloaded"
else
    [ "$unloaded" = 0 ] && grep -q 'does not tell safely which classes it unloads' classes.err || fail "it is not said that unloading is not told: $(cat classes.err)"
fi
"$JW_COMMAND" convert -q -e jdk.ClassDefine facts.jfr none.csv 2>/dev/null && [ "$(grep -c '^"jdk' none.csv)" != 0 ] && fail "classes are told where nobody asked for them"

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
