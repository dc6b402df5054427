# Attach to a program with 10,000 classes: jaywalk's own walker has no method ids made for them, AsyncGetCallTrace has
# one made for each method, two a class. Seen by what the JVM accounts to them in its native memory: an id is a word in a table
# of the class (two words and its length), which is itself a block of malloc, and a word in a table of the loader.
. "$(dirname "$LIB")/attach.sh"
has_agct || not_run "AsyncGetCallTrace gives no ids that can be read from JDK 26 on"
classes=10000

begin_target many -XX:NativeMemoryTracking=summary -Xmx1g ManyClasses "$classes" 3600

# Bytes that the JVM has from malloc for classes and for its own ends: ids are in one or the other, by version.
id_kb() {
    "$JDK/bin/jcmd" "$many" VM.native_memory summary scale=KB |
        awk '/^- +(Class|Internal) / { is_ours = 1; next } /^- / { is_ours = 0 }
            is_ours && /\(malloc=[0-9]+KB/ { sub(/.*\(malloc=/, ""); all += $0 + 0 } END { print all }'
}

session() { # $1: walker
    jaywalk 0 start -i 1ms --cstack "$1" -f "$1.collapsed" "$many" >out
    until [ "$(jaywalk 0 status "$many" | sed -n 's/ samples in .*//p')" -gt 200 ]; do sleep 0.1; done
    jaywalk 0 stop "$many" >out
    grep -q 'ManyClasses.main' "$1.collapsed" || fail "$1: no frame of the program"
}

before=$(id_kb)
session vm
after_vm=$(id_kb)
session agct
after_agct=$(id_kb)
echo "classes and internal: $before KB, after vm $after_vm KB, after agct $after_agct KB"
# 56 bytes a class at the least; what an attach itself has the JVM keep is a fraction of that.
least=$((classes * 56 / 1024))
[ "$((after_agct - after_vm))" -ge "$least" ] || fail "agct: only $((after_agct - after_vm)) KB for method ids"
# m21: an attach has no method ids made.
[ "$((after_vm - before))" -le "$((least / 2))" ] || fail "vm: $((after_vm - before)) KB more, as if for method ids"
end_target many loaded

# Nor are ids needed to know which class is made: each is told by its address, whatever the collector and the layout of
# objects. Where the JVM checks what it is asked (-Xcheck:jni), none is, and that is counted.
flags=(-XX:+UseSerialGC)
[ "$MAJOR" -lt 11 ] || flags+=(-XX:+UseZGC) # JDK 8 has none
[ "$MAJOR" -lt 25 ] || flags+=(-XX:+UseCompactObjectHeaders)
for flag in "${flags[@]}"; do
    profile told event=cpu,interval=4ms,file=told.jfr -Xmx256m "$flag" Churn 1
    ledger told.jfr 1
    ! grep classesUntold check.out || fail "$flag: classes were prepared that nobody told of"
done
profile checked event=cpu,interval=4ms,file=checked.jfr -Xmx256m -Xcheck:jni Churn 1
ledger checked.jfr 1
grep -q classesUntold check.out || fail "-Xcheck:jni: classes are said to be told all the same"
