# `jaywalk probe check` on the example, compiled with the annotations of jaywalk.jar: it is understood, and what it would be put into is the
# same for the shop's folder, its jar and a JVM that runs it. Defaults of the annotations are those that the reader has.
# once: a JVM is only looked at from outside.
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

"$JDK/bin/jar" cf slow.jar -C "$PROBE_CLASSES" SlowCalls.class
"$JDK/bin/jar" cf shop.jar -C "$API_CLASSES" .
jaywalk 0 probe check slow.jar >alone.out
grep -qx 'Probe slow-calls: class SlowCalls of slow.jar, for Java 8 and later' alone.out || fail "$(head -n 1 alone.out)"
grep -qx 'return  returned(@MethodName String, @Argument(0) int, @Duration long)' alone.out || fail "no handler at return: see $OUT/alone.out"
grep -qx 'throw  thrown(@MethodName String, @Argument(0) int, @Duration long, @Thrown Throwable)' alone.out ||
    fail "no handler at throw: see $OUT/alone.out"

# Of the shop all that has those parameters and is private, but what is excluded; at returns and at exceptions.
taken() { # $1: file of JSON
    sed -n 's/.*"class":"\([^"]*\)","method":"\([^"]*\)".*"outcome":"taken".*/\1.\2/p' "$1" | sort | uniq -c | awk '{ print $1, $2 }'
}
for target in shop.jar "$API_CLASSES"; do
    jaywalk 0 probe check --strict --json slow.jar "$target" >shop.json
    taken shop.json >taken.out
    diff taken.out - <<'END' || fail "$target: see $OUT/taken.out"
2 Shop.checkOut
2 Shop.listOrders
2 Shop.search
2 Shop.work
END
done
jaywalk 0 probe check slow.jar shop.jar >shop.out
grep -q 'search(int, Shop\$Meter)  2 places, code ' shop.out || fail "no places: see $OUT/shop.out"
[ ! -s said.err ] || fail "complaints: $(head -n 1 said.err)"

JAVA_FLAGS=(-Xmx128m "${NO_CORE[@]}" -cp "$OUT/shop.jar:$JW_JAR:$CLASSES")
begin_target served Hot 0
jaywalk 0 probe check --strict --json slow.jar "$served" >served.json
grep -q "\"drops_code\":$([ "$MAJOR" -gt 21 ] && echo false || echo true)" served.json || fail "whether its code is dropped: $(grep -o '"drops_code.....' served.json)"
taken served.json | diff taken.out - || fail "process $served and its jar differ"
! grep -q libjaywalk "/proc/$served/maps" || fail "process $served was given the agent"
end_target served running

# Held has no limits of its own.
cat >Defaults.java <<'END'
import io.jaywalk.probe.Probe;

class Defaults {
    static Object of(String name) throws Exception {
        return Probe.class.getMethod(name).getDefaultValue();
    }

    public static void main(String[] args) throws Exception {
        System.out.println("\"limits\":{\"max_ns_per_call\":" + of("maxNanosPerCall") + ",\"max_calls_per_second\":"
            + of("maxCallsPerSecond") + ",\"max_throws\":" + of("maxThrows") + "},");
    }
}
END
if [ -x "$JDK/bin/javac" ]; then
    compile_java -cp "$JW_JAR" Defaults.java || fail "Defaults does not compile"
    defaults=$("$JDK/bin/java" -cp "$JW_JAR:." Defaults)
    jaywalk 0 probe check --json "$PROBE_CLASSES/probes/Held.class" | has_line -xF "$defaults" || fail "other defaults than $defaults"
else
    skip_part "defaults: this JDK has no javac"
fi
