# Walks that read garbage, or memory that cannot be read: nothing crashes or hangs, the program's result is its own, the
# law of signals holds, and every reader reads the file. WRONG_WALKS (500000, a million on two JDKs) walks of Java
# frames by our own walker, and as many again of native frames; then AsyncGetCallTrace, where it is asked for.
# once: what cannot be read is made by the test.
JW_LIBRARY=${JW_FAULTS_LIBRARY:?}
[ -f "$JW_LIBRARY" ] || not_run "no $JW_LIBRARY; make builds it with test-jvm"
export JW_WRONG_REPEAT=3000 JW_WRONG_SPEED=1000
wanted=${WRONG_WALKS:-500000}
rounds=${WRONG_ROUNDS:-30}

run_java right 0 Sums "$rounds"
told() { sed -n "s/^$1 //p" "$JW_WRONG.told"; }
most() { [ "$2" -le "$1" ] && echo "$1" || echo "$2"; }

# m08: walks over garbage, of which loads fault or lie, harm nobody.
# Rounds differ in seed, collector, and in what else is wrong: nothing, what else a sample reads, the breakers at work too.
ways=(99001 99301 99990)
collectors=(-XX:+UseG1GC -XX:+UseSerialGC -XX:+UseParallelGC)
[ "$MAJOR" -lt 11 ] || collectors+=(-XX:+UseZGC) # JDK 8 has none
walks=0 native=0 loads=0 longest=0
for ((i = 0; walks < wanted || native < wanted || i < ${#ways[@]}; i++)); do
    export JW_WRONG=$OUT/digits-$i JW_WRONG_SEED=$((SEED + 1000 * i))
    printf %s "${ways[i % ${#ways[@]}]}" >"$JW_WRONG"
    profile "wrong-$i" "event=cpu,interval=4ms,wall=20ms,cstack=vm,file=wrong-$i.jfr" -Xmx128m \
        "${collectors[i % ${#collectors[@]}]}" Sums "$rounds"
    cmp right.out "wrong-$i.out" || fail "the program's result is another with wrong loads, seed $JW_WRONG_SEED"
    cat "$JW_WRONG.told"
    walks=$((walks + $(told java_wrong))) native=$((native + $(told native_wrong)))
    loads=$((loads + $(told wrong_loads))) longest=$(most "$longest" "$(told java_most_loads)")
    ledger "wrong-$i.jfr" 1
    [ "$i" -lt 3 ] || rm "wrong-$i.jfr"
done
for ((i = 0; i < 3; i++)); do
    "$JW_COMMAND" convert "wrong-$i.jfr" "wrong-$i.html" >convert.out 2>&1 ||
        fail "convert wrong-$i.jfr: $(head -n 1 convert.out)"
done
given_up='takes the place'
has_agct || given_up='frames: none from now on' # native ones: there is no other walker of Java frames
grep -q "$given_up" wrong-2.err || fail "no walker was given up: $(head -n 3 wrong-2.err | tr '\n' ' ')"

# m01: a fault inside AsyncGetCallTrace ends that walk and nothing else.
# AsyncGetCallTrace that faults where it may.
others=()
if has_agct; then
    others=(agct.jfr)
    export JW_WRONG=$OUT/digits-agct
    printf 50050 >"$JW_WRONG"
    profile agct "event=cpu,interval=4ms,cstack=agct,file=agct.jfr" -Xmx128m Sums "$rounds"
    cmp right.out agct.out || fail "the program's result is another with wrong loads with cstack=agct"
    cat "$JW_WRONG.told"
    ledger agct.jfr 1
fi
whole wrong-0.jfr wrong-1.jfr wrong-2.jfr "${others[@]}"

echo "walks $walks, native $native, wrong loads $loads, the longest walk $longest loads"
# A walk of 2,048 frames has some sixty loads a frame, and a few guesses.
[ "$longest" -lt 200000 ] || fail "a walk of $longest loads"
