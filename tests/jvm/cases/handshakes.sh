# Samples of threads that a handshake was waiting for: a JVM that asks for one every 30 ms and a loop that does not ask whether it is to stop.
# They are in the loop, and no more of them than the JVM's own log has time for; where nobody asks there are hardly any. With two
# collectors, of which one looks at stacks beside the program. The word that polls look at is the one that the JVM tells compilers in Java.
[ "$MAJOR" -ge 17 ] || not_run "-Xlog:handshake of JDK 17 on is what is compared with"

loop() { # $1: name, then flags of java
    local name=$1
    shift
    profile "$name" "event=cpu,interval=5ms,loglevel=debug,file=$name.jfr" "-Xlog:handshake*:file=$name.log" -XX:+UnlockDiagnosticVMOptions \
        -XX:LoopStripMiningIter=0 -XX:-UseCountedLoopSafepoints "$@" Handshaken 2500
    "$JW_COMMAND" convert -q -o jsonl -e jdk.ActiveSetting "$name.jfr" - >"$name.settings"
    grep -q '"name":"pollsamples","value":"on"' "$name.settings" || fail "$name: polls are not told: $(grep pollsamples "$name.settings" | tail -n 1)"
    "$JW_COMMAND" convert -q -o jsonl -e jaywalk.PollSample "$name.jfr" - >"$name.jsonl"
    read -r asked there < <(awk '/"reason":"handshake"/ { asked++; there += /"method":"counted"/ } END { print asked + 0, there + 0 }' "$name.jsonl")
    all=$("$JW_COMMAND" convert -q -e cpu --samples -o collapsed "$name.jfr" - | awk '{ sum += $NF } END { print sum + 0 }')
    echo "$name: of $all samples handshakes were waiting for $asked, $there of them in the loop"
}

for gc in G1 Z; do
    loop "asked-$gc" "-XX:+Use${gc}GC" -XX:+HandshakeALot -XX:GuaranteedSafepointInterval=30
    [ "$asked" -ge 20 ] || fail "asked-$gc: a handshake was waiting for $asked samples only: a proof of nothing"
    [ $((there * 100)) -ge $((asked * 90)) ] || fail "asked-$gc: of $asked samples $there are in the loop that does not ask"
    # Wall-clock time of all handshakes, in samples of 5 ms of CPU time.
    room=$(sed -n 's/.*[Tt]otal completion time: \([0-9]*\) ns.*/\1/p' "asked-$gc.log" | awk '{ sum += $1 } END { print int(sum / 5000000) }')
    echo "the JVM's log has time for $room"
    [ "$room" -gt 0 ] || fail "asked-$gc: the JVM's log has no times: $(head -n 1 "asked-$gc.log")"
    [ $((asked * 4)) -le $((room * 5)) ] || fail "asked-$gc: $asked samples are told, the handshakes had time for $room"
    loop "alone-$gc" "-XX:+Use${gc}GC"
    [ $((asked * 10)) -le "$all" ] || fail "alone-$gc: nobody asks for handshakes, and $asked of $all samples are told to be asked"
done

JVMCI=(-XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI --add-exports jdk.internal.vm.ci/jdk.vm.ci.hotspot=ALL-UNNAMED)
if "$JDK/bin/java" "${JVMCI[@]}" -version >/dev/null 2>&1; then
    word=$("$JDK/bin/java" "${JVMCI[@]}" -cp "$CLASSES" PollWord | sed -n 's/^word //p')
    grep -q "polls look at the word $word of a thread: on" alone-G1.err || fail "the JVM's word is $word, jaywalk says: $(grep 'polls look' alone-G1.err | tail -n 1)"
    echo "polls look at the word $word of a thread, as the JVM tells"
else
    echo "this JVM tells compilers in Java nothing: its word is not compared"
fi
