# While a program runs, its stacks are walked by our own walker and asked of JVMTI, at classes being loaded, one a second and a
# few at once: both say the same, of every kind of code and thread. `status`, recording and doctor tell; walks that read
# garbage are noticed.
. "$(dirname "$LIB")/attach.sh"

# Figures of the last page of metrics.
metric() { sed -n "s/^jaywalk_$1_total //p" metrics; }

agrees() { # $1: name, then flags of java
    local name=$1 looked=0
    begin_target target "$(agent_flag "event=cpu,interval=10ms,file=$name.jfr")" "${@:2}" Loads 60
    while [ "$looked" -lt 14 ]; do
        sleep 0.3
        jaywalk 0 metrics "$target" >metrics
        looked=$(metric stacks_compared)
    done
    jaywalk 0 status "$target" >status
    jaywalk 0 doctor "$target" >process
    jaywalk 0 stop "$target"
    kill "$target"
    wait "$target" || true
    no_crash
    echo "$name: $(grep '^Compared with JVMTI: ' status)"
    [ "$(metric stacks_different)" = 0 ] || fail "$name: $(grep '^Compared with JVMTI: ' status)"
    # One look in twenty may find no way through a stub, as one walk in two hundred may.
    [ "$(metric stacks_unwalked)" -le 1 ] || fail "$name: $(grep '^Compared with JVMTI: ' status)"
    [ "$(metric frames_equal)" -ge 100 ] || fail "$name: hardly a frame was compared: $(cat status)"
    grep -qE '^  while it ran +[0-9]+ stacks of the program were compared' process ||
        fail "$name: the doctor's page of the process does not tell: $(cat process)"
    jaywalk 0 doctor --json "$name.jfr" >json
    grep -qE '"agreement":\{"compared":(1[4-9]|[2-9][0-9]),"equal":[0-9]+,"different":0,"unwalked":[01],"frames_equal":[0-9]{3,},"first_difference":null\}' json ||
        fail "$name: the recording tells otherwise: $(grep -oE '"agreement":[^}]*' json)"
    silent target
}

# Of two JDKs the one does the first and the last, the other the second.
for flags in $(half_of -XX:+UseG1GC -Xint -XX:TieredStopAtLevel=1); do
    agrees "agrees$flags" "$flags"
done

# Loads of these walks fail or give garbage: what is looked at cannot be walked, or is another stack, and is said to be.
JW_LIBRARY=${JW_FAULTS_LIBRARY:?}
[ -f "$JW_LIBRARY" ] || not_run "no $JW_LIBRARY; make builds it with test-jvm"
export JW_WRONG=$OUT/digits JW_WRONG_SPEED=1 JW_WRONG_REPEAT=20 JW_WRONG_SEED=$SEED
printf 000000 >"$JW_WRONG"
begin_target target "-agentpath:$JW_LIBRARY=start,event=cpu,interval=10ms,cstack=vm,file=$OUT/wrong.jfr" Loads 60
until jaywalk 0 status "$target" | has_line -E '^Walker: vm( |$)'; do sleep 0.15; done
printf 000009 | dd of="$JW_WRONG" conv=notrunc status=none
jaywalk 0 metrics "$target" >metrics
before=$(metric stacks_compared)
bad=0
while [ "$bad" -lt 3 ]; do
    sleep 0.3
    jaywalk 0 metrics "$target" >metrics
    bad=$(($(metric stacks_unwalked) + $(metric stacks_different)))
    [ "$(($(metric stacks_compared) - before))" -lt 30 ] || fail "walks that read garbage agree with JVMTI: $(grep jaywalk_stacks_ metrics | tr '\n' ' ')"
done
kill "$target"
wait "$target" || true
no_crash
