# `jaywalk probe attach`, `list` and `detach` on a program that runs: the probe is seen to fire, it is taken out, the same name comes again,
# and what cannot be is told before the process is touched.
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
JAVA_FLAGS+=("${LATE_AGENTS[@]}")

calls() { # $1: handler, $2: its place; how often it was called, as the list has it
    jaywalk 0 probe list --json "$hot" | tr '{' '\n' | sed -n "s/.*\"method\":\"$1\",\"place\":\"$2\".*\"calls\":\([0-9]*\),.*/\1/p"
}

begin_target hot Hot 0
"$JDK/bin/jar" cf "hot calls.jar" -C "$PROBE_CLASSES" HotCalls.class
jaywalk 1 probe attach "$hot" "$API_CLASSES"
says 'no class in it carries @Probe'
jaywalk 1 probe attach "$hot" nowhere.jar
says 'nowhere.jar: cannot be opened'
! grep -q libjaywalk "/proc/$hot/maps" || fail "the agent was loaded for a probe that is none"
jaywalk 0 probe list "$hot" >list.out
grep -qx 'No probe is attached.' list.out || fail "before: $(head -n 1 list.out)"

for round in 1 2; do
    jaywalk 0 probe attach "$hot" "hot calls.jar" >attach.out
    grep -q '^attached hot-calls: 2 handlers, ' attach.out || fail "attach: $(head -n 1 attach.out)"
    for handler in 'entered entry' 'returned return'; do
        # shellcheck disable=SC2086
        until [ "$(calls $handler)" -gt 0 ]; do sleep 0.1; done
    done
    jaywalk 0 probe list "$hot" >list.out
    grep -qx 'hot-calls  attached' list.out || fail "list: $(head -n 2 list.out)"
    grep -qxF "  class HotCalls of $OUT/hot calls.jar" list.out || fail "list: $(sed -n 2p list.out)"
    grep -q '^  returned (return) * 2  *2  *[1-9]' list.out || fail "list: no calls of two methods: see $OUT/list.out"
    jaywalk 1 probe attach "$hot" "hot calls.jar" >again.out
    says 'hot-calls'
    jaywalk 0 probe detach "$hot" hot-calls >detach.out
    grep -qx 'detached hot-calls' detach.out || fail "detach: $(head -n 1 detach.out)"
    jaywalk 0 probe list "$hot" >list.out
    grep -qx 'No probe is attached.' list.out || fail "after: $(head -n 1 list.out)"
done
jaywalk 1 probe detach "$hot" hot-calls
says 'hot-calls'

# More handlers than an answer has room for: what is listed is a text of its own.
jaywalk 0 probe attach "$hot" "$PROBE_CLASSES/Crowd.class" >attach.out
jaywalk 0 probe list "$hot" >list.out
[ "$(grep -c '^  h[0-9][0-9] (entry) ' list.out)" = 24 ] || fail "of 24 handlers are listed: $(grep -c '(entry)' list.out)"
jaywalk 0 probe detach "$hot" crowd >detach.out

# Rules of a file in the place of the probe's own; what cannot be is told before the agent is asked.
echo 'warm: include class name=Hot method name=lukewarm' >my.rules
jaywalk 1 probe attach --rules my.rules "$hot" "hot calls.jar"
says 'my.rules: rules, line 1: no handler has a rule warm; it has hot'
echo 'hot: include class name=Hot method name=lukewarm # alone' >my.rules
jaywalk 0 probe attach --rules my.rules "$hot" "hot calls.jar" >attach.out
grep -q '^attached hot-calls: 2 handlers, 2 methods of 1 classes' attach.out || fail "attach: $(head -n 1 attach.out)"
grep -qxF "1 of its rules are those of $OUT/my.rules" attach.out || fail "attach: $(sed -n 2p attach.out)"
jaywalk 0 probe list "$hot" >list.out
grep -qxF "  class HotCalls of $OUT/hot calls.jar, with rules of $OUT/my.rules" list.out || fail "list: $(sed -n 2p list.out)"
grep -q '^  entered (entry) * 1  *1  ' list.out || fail "list: not one method: see $OUT/list.out"
jaywalk 0 probe detach "$hot" hot-calls >detach.out
# The agent finds that, too: the file may have changed meanwhile.
echo 'cold: include class name=Hot' >my.rules
load_agent "$hot" "probe-attach,probe=$PROBE_CLASSES/HotCalls.class,rules=$OUT/my.rules" >load.out
load_agent "$hot" "probe-attach,probe=$PROBE_CLASSES/HotCalls.class,rules=$OUT" >load.out
jaywalk 0 probe list "$hot" >list.out
grep -qx 'No probe is attached.' list.out || fail "with rules that are none: $(head -n 1 list.out)"
grep -q "my.rules: rules, line 1: no handler has a rule cold; it has hot" hot.err || fail "the agent does not say why: $(tail -n 1 hot.err)"
grep -q "rules $OUT: no file that can be read whole" hot.err || fail "the agent does not say why: $(tail -n 1 hot.err)"
: >hot.err
end_target hot running
