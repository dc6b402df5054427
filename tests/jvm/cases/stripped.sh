# A JVM without symbols: what is told of safepoints is what its counters and its threads' own words prove, and no more. Delays (ttsp) name the same
# method and line, against the JVM's own log, with no operation; samples have no safepoint beside them, which is said; a thread that was asked to stop is
# told as asked by a safepoint or a handshake, which cannot be told apart, and it is in the loop that is late; and there is no window.
# once: what goes by the JVM's version is asserted with its symbols, by `late`, `handshakes` and `window`
[ "$MAJOR" -ge 17 ] || not_run "the layout of an older JDK is another one, and so is its log"
. "$(dirname "$LIB")/delays.sh"

# The same JDK, all of it links but for what finds its home by its own place; neither symbols nor what leads to those that lie elsewhere. What lies
# beside it does so here, too: one that brings its own C library has that there.
whole=$JDK
mkdir beside
for other in "$(dirname "$(readlink -f "$whole")")"/*; do
    ln -s "$other" beside/
done
rm -f "beside/$(basename "$(readlink -f "$whole")")"
JDK=$OUT/beside/$(basename "$(readlink -f "$whole")")
cp -as "$(readlink -f "$whole")/." "$JDK"
strip_jvm() {
    rm "$JDK/bin/java" "$JDK/lib/server/libjvm.so"
    cp "$(readlink -f "$whole/bin/java")" "$JDK/bin/java"
    objcopy --strip-all -R .gnu_debuglink -R .note.gnu.build-id "$(readlink -f "$whole/lib/server/libjvm.so")" "$JDK/lib/server/libjvm.so"
}
strip_jvm
! readelf -Ws "$(libjvm)" | grep _ZN20SafepointSynchronize6_stateE || fail "this JVM has its symbols still"

is_late G1 counted loop 16 ',interval=5ms,loglevel=debug'
is_late Serial copy copy 8 '' -Xmx1g -XX:+UnlockDiagnosticVMOptions -XX:GuaranteedSafepointInterval=0
expect_right 12
! grep -hv '"operation":""' counted-G1.jsonl copy-Serial.jsonl || fail "an operation has a name"

told=$(setting counted-G1.jfr safepointsamples)
[ "$told" = "off: this JVM was stripped of its symbols" ] || fail "safepointsamples: $told"
[ "$(setting counted-G1.jfr pollsamples)" = on ] || fail "pollsamples: $(setting counted-G1.jfr pollsamples)"
"$JW_COMMAND" convert -q -o jsonl -e jaywalk.SafepointSample counted-G1.jfr safepoint.jsonl || true
[ ! -s safepoint.jsonl ] || fail "samples that a safepoint waited for, of a JVM that does not say so: $(head -n 1 safepoint.jsonl)"
"$JW_COMMAND" convert -q -o jsonl -e jaywalk.PollSample counted-G1.jfr poll.jsonl || fail "no sample of a thread that was asked to stop"
read -r asked undivided there < <(awk '{ asked++; u += /"reason":"safepoint or handshake"/; there += /"class":"Late","method":"counted"/ }
    END { print asked + 0, u + 0, there + 0 }' poll.jsonl)
room=$(awk '{ sum += $1 } END { print int(sum / 5000000) }' counted-G1.reached)
echo "of $asked samples of threads that were asked to stop $undivided are told undivided, $there are in the loop; the waits have time for $room"
[ "$asked" -ge 20 ] || fail "$asked samples are of threads that were asked to stop: a proof of nothing"
[ "$undivided" = "$asked" ] || fail "of $asked samples $undivided are told as asked by a safepoint or a handshake"
[ $((there * 100)) -ge $((asked * 90)) ] || fail "of $asked samples of threads that were asked to stop $there are in the loop"
[ $((asked * 4)) -le $((room * 5)) ] || fail "$asked samples are told as asked to stop, the waits had time for $room"

# All samples stay out of a window that nobody sees open, and that is said.
profile window "event=cpu,begin=ttsp,file=window.jfr" -XX:+UseSerialGC Late none 40
grep -q 'begin: the window stays closed for good: this JVM was stripped of its symbols' window.err || fail "it is not said that no window is seen: $(cat window.err)"
[ "$("$JW_COMMAND" convert -q -e cpu --samples -o collapsed window.jfr - | wc -l)" = 0 ] || fail "samples in a window that nobody saw open"
