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
end_target hot running
