# Samples of threads that a handshake was waiting for: a JVM that asks for one every 30 ms and a loop that does not ask whether it is to stop.
# They are in the loop, and no more of them than the JVM's own log has time for; where nobody asks there are hardly any. With two
# collectors, of which one looks at stacks beside the program: samples of that are told apart, by that collector's own log. The word that polls look at is the one that the JVM tells compilers in Java.
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
    [ "$gc" = Z ] || ! grep -q '"reason":"stack watermark"' "asked-$gc.jsonl" || fail "asked-$gc: this collector looks at no stack beside the program"
    loop "alone-$gc" "-XX:+Use${gc}GC"
    [ $((asked * 10)) -le "$all" ] || fail "alone-$gc: nobody asks for handshakes, and $asked of $all samples are told to be asked"
done

# What a collector asks for that looks at stacks beside the program, by its own log, which has each word that a thread sets: whenever a sample is told so,
# the thread's word was such a one in the 2.5 ms before or behind it. The log's two clocks tell how far they are apart; one of them is cut to ms.
# That each is told cannot be asserted: the log does not say when the JVM's own code runs on the thread's behalf.
watermarks() { # $1: recording, $2: log; told so, and of these those that the log has
    "$JW_COMMAND" convert -q -o jsonl -e jaywalk.PollSample "$1" - | grep '"reason":"stack watermark"' |
        sed 's/.*"startTime":"\([-0-9]*\)T\([0-9:.]*\)Z".*"osThreadId":\([0-9]*\).*/\1 \2 \3/' >watermark.samples
    sed -n 's/^\[\([-0-9]*\)T\([0-9:.]*\)+0000\]\[\([0-9]*\)ns\].*Computed \([a-z]*\) for tid \([0-9]*\).*/\1 \2 \3 \4 \5/p' "$2" >watermark.words
    # The middle of the differences, half a ms cut off.
    awk '{ split($2, at, ":"); if (!first) first = $1
        printf "%.6f\n", ($1 == first ? 0 : 86400) + at[1] * 3600 + at[2] * 60 + at[3] - $3 / 1e9 }' watermark.words | sort -n >watermark.clocks
    awk -v clock="$(sed -n "$((($(wc -l <watermark.clocks) + 1) / 2))p" watermark.clocks)" '
        function seconds(at) { split(at, part, ":"); return part[1] * 3600 + part[2] * 60 + part[3] }
        FILENAME == "watermark.words" { if (!day) day = $1; n = ++count[$5]; at[$5, n] = $3 / 1e9 + clock + 0.0005; is[$5, n] = $4 == "watermark"; next }
        {
            told++
            t = ($1 == day ? 0 : 86400) + seconds($2)
            good = 0
            low = 1; high = count[$3] + 1 # the first that is later than 2.5 ms before
            while (low < high) { middle = int((low + high) / 2); if (at[$3, middle] <= t - 0.0025) low = middle + 1; else high = middle }
            for (n = low - 1; n <= count[$3] && (n < low || at[$3, n] <= t + 0.0025); n++)
                good = good || (n > 0 && is[$3, n])
            right += good
        }
        END { print told + 0, right + 0 }' watermark.words watermark.samples
}

if [ "${HALF:-1}" = 1 ]; then
    profile deep-Z "event=cpu,interval=1ms,file=deep-Z.jfr" -XX:+UseZGC "-Xlog:stackbarrier=debug:file=deep-Z.log:utctime,timenanos:filecount=0" Deep 20
    read -r told right < <(watermarks deep-Z.jfr deep-Z.log)
    echo "deep-Z: $told samples of threads whose stack the collector looks at, $right of them when the JVM's log says so"
    [ "$told" -ge 10 ] || fail "deep-Z: $told samples of threads whose stack the collector looks at: a proof of nothing"
    [ $((right * 100)) -ge $((told * 95)) ] || fail "deep-Z: of $told samples of threads whose stack the collector looks at $right are when its log says so"
fi

JVMCI=(-XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI --add-exports jdk.internal.vm.ci/jdk.vm.ci.hotspot=ALL-UNNAMED)
if "$JDK/bin/java" "${JVMCI[@]}" -version >/dev/null 2>&1; then
    word=$("$JDK/bin/java" "${JVMCI[@]}" -cp "$CLASSES" PollWord | sed -n 's/^word //p')
    grep -q "polls look at the word $word of a thread: on" alone-G1.err || fail "the JVM's word is $word, jaywalk says: $(grep 'polls look' alone-G1.err | tail -n 1)"
    echo "polls look at the word $word of a thread, as the JVM tells"
else
    echo "this JVM tells compilers in Java nothing: its word is not compared"
fi
