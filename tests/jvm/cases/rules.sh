# `jaywalk rules dry-run` on a JVM that runs: what its class path names and what it has open is what a jar of it says; and the
# sizes of methods that costs are told by are those of this JVM.
. "$(dirname "$LIB")/attach.sh"
cat >app.rules <<'RULES'
exclude class name=Hot method name=main
hot: include class name=Hot
RULES

flags=$("$JDK/bin/java" -XX:+PrintFlagsFinal -version 2>/dev/null)
for flag in MaxInlineSize=35 FreqInlineSize=325; do
    value=$(awk -v name="${flag%=*}" '$2 == name { print $4 }' <<<"$flags")
    [ "$value" = "${flag#*=}" ] || fail "${flag%=*} of this JVM is $value: src/cli/cli_rules_internal.h tells of ${flag#*=}"
done

"$JDK/bin/jar" cf hot.jar -C "$CLASSES" .
"$JW_COMMAND" rules dry-run --json app.rules hot.jar >jar.json || fail "a jar: status $?"
grep -q '"class":"Hot","method":"main",.*"outcome":"excluded"' jar.json || fail "main is not excluded: see $OUT/jar.json"
grep -q '"outcome":"taken","rule":"hot"' jar.json || fail "rule hot takes nothing: see $OUT/jar.json"

# Once by a jar in the class path, once by its folder; nothing comes of it for the process.
begin_target by_jar -cp "$OUT/hot.jar" Hot 0
begin_target by_folder Hot 0
drops=false
[ "$MAJOR" -gt 21 ] || drops=true
grep -q '"drops_code":false' jar.json || fail "a jar drops no code"
for pid in "$by_jar" "$by_folder"; do
    "$JW_COMMAND" rules dry-run --json --taken app.rules "$pid" >"$pid.json" || fail "process $pid: status $?"
    diff <(grep '"outcome":"taken"' jar.json | sed 's/,$//' | sort) <(grep '"outcome":"taken"' "$pid.json" | sed 's/,$//' | sort) ||
        fail "process $pid and its jar differ"
    # What the first attach of a probe does to a JVM that runs, and to no jar.
    grep -q "\"drops_code\":$drops" "$pid.json" || fail "process $pid: whether its code is dropped: $(grep -o '"drops_code.....' "$pid.json")"
    [ ! -e "/tmp/.java_pid$pid" ] || fail "process $pid was asked to attach"
    ! grep -q libjaywalk "/proc/$pid/maps" || fail "process $pid was given the agent"
done
grep -q "\"place" "$by_jar.json" || fail "no places are told"
"$JW_COMMAND" rules dry-run --taken app.rules "$by_jar" >text.out || fail "as text: status $?"
[ "$(grep -c "^ *$MAJOR  is the JDK of the process, which at the first attach" text.out)" = $((MAJOR <= 21)) ] || fail "as text, whether its code is dropped: see $OUT/text.out"
grep -q "^Hot  ($OUT/hot.jar)$" text.out || fail "the jar is not named: $(head -n 1 text.out)"
end_target by_jar running
end_target by_folder running

# Of all that the JDK itself has, nothing is written in a way that it cannot be read.
module=$JDK/jmods/java.base.jmod
[ "$MAJOR" -ge 9 ] || module=$JDK/jre/lib/rt.jar
if [ -f "$module" ]; then
    echo 'all: include class package=java.util.concurrent.** method is=public|private lift platform,enums' >all.rules
    "$JW_COMMAND" rules dry-run --json --taken all.rules "$module" >all.json || fail "java.base: status $?"
    grep -q '"unread":0}' all.json || fail "classes of java.base are not read"
    [ "$(grep -c '"outcome":"taken"' all.json)" -gt 500 ] || fail "only $(grep -c '"outcome":"taken"' all.json) methods of java.util.concurrent are taken"
else
    skip_part "java.base: this JDK has no $module"
fi
