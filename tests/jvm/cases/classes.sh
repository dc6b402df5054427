# Class files that room classfile has taken apart and put together: the same bytes where nothing was put in; with calls at
# entries, returns, exceptions and locks in one half of them, and with handlers at places within methods, given all there is, in the other half (which
# half, goes by the JDK), a JVM verifies each of them, runs on them, and no lock is lost.
# CLASSES_OF=* and CLASSES_AT=place,... take all modules and other places (tests/soak/run does); the jars of CLASSES_JARS, too.
classfile=$(dirname "$CLASSES")/classfile
rewriter=$(dirname "$LIB")/../../build/plain/tests/classfile/rewriter
[ -x "$rewriter" ] || fail "$rewriter is not there: make build/plain/tests/classfile/rewriter"
read -ra jars <<<"${CLASSES_JARS:-}"
places=${CLASSES_AT:-entry,return,throw,monitorenter,monitorexit,probes$((MAJOR / 8 % 2))}
from=("jrt:${CLASSES_OF:-java.base/java}")
[ "$MAJOR" -ge 9 ] || from=("$JDK/jre/lib/rt.jar!${CLASSES_OF:-java/}")
[ ${#jars[@]} = 0 ] || from=("${jars[@]}")

"$JDK/bin/java" -cp "$classfile/verify.jar" jaywalk.hooks.Pack read.pack "${from[@]}"
"$rewriter" read.pack written.pack "$places" | tee rewriter.out

value() { awk -v name="$1" '$1 == name { print $2 }' "$2"; }
[ "$(value different rewriter.out)" = 0 ] || fail "classes were written differently: see $OUT/log"
[ "$(value unread rewriter.out)" = 0 ] || fail "classes were not read: see $OUT/log"
# Of the JDK's own methods none is refused as unsound.
! grep -E '^(bad-|no-memory|pool-full)' rewriter.out || fail "methods were refused as unsound: see $OUT/log"

# m25: a JVM verifies each class that has calls in it, and runs on them.
# What the JVM prints of compilations may not land in the middle of the program's lines.
run_java verified 0 -Xmx1g -XX:+PrintCompilation -XX:+DisplayVMOutputToStderr -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote \
    -Xbootclasspath/a:"$classfile/hooks.jar" -javaagent:"$classfile/verify.jar=read.pack:written.pack" \
    -cp "$classfile/verify.jar" jaywalk.hooks.Verify "${jars[@]}"
cat verified.out
# A method whose locks do not pair is given up by the compilers, for ever.
grep -q 'java\.lang\.String::' verified.err || fail "the JVM told of no compilation: see $OUT/verified.err"
! grep -m 3 -E 'COMPILE SKIPPED: (cannot parse|unbalanced|.*monitor)' verified.err || fail "compilers give up methods: see $OUT/verified.err"
[ "$(value refused_by_jvm verified.out)" = 0 ] || fail "the JVM refused: $(grep -m 1 '^refused ' verified.out)"
linked=$(value linked verified.out)
[ "$linked" -gt $(($(value classes rewriter.out) / 2)) ] || fail "only $linked classes were linked"
[ "$(value replaced verified.out)" -gt $((linked / 2)) ] || fail "only $(value replaced verified.out) classes were replaced"
if [ -z "${CLASSES_AT:-}" ] && [ ${#jars[@]} = 0 ]; then
    entries=$(value entries verified.out) returns=$(value returns verified.out) exceptions=$(value exceptions verified.out)
    [ "$exceptions" -gt 100 ] || fail "$exceptions exceptions were seen"
    # What is entered is left, by one way or the other, but for what runs at the ends of the measurement.
    apart=$((entries - returns - exceptions))
    [ "${apart#-}" -le $((entries / 1000 + 100)) ] || fail "$entries entries, $returns returns, $exceptions exceptions"
    locks=$(value locks verified.out) unlocks=$(value unlocks verified.out)
    [ "$locks" -gt 1000 ] || fail "$locks locks were seen"
    apart=$((locks - unlocks))
    [ "${apart#-}" -le $((locks / 1000 + 10)) ] || fail "$locks locks, $unlocks unlocks"
    [ "$(value places_line rewriter.out)" -gt 10 ] || fail "the line is in no class"
    entered=$(value entered verified.out) exited=$(value exited verified.out)
    apart=$((entered - exited))
    [ "${apart#-}" -le $((entered / 1000 + 10)) ] || fail "$entered monitors entered, $exited given back"
    [ "$(value made verified.out)" -gt 0 ] || fail "no array was seen"
    for name in asked answered read written; do
        [ "$(value $name verified.out)" -gt 1000 ] || fail "of $name only $(value $name verified.out) were seen"
    done
fi
