# Native libraries that come and go at one address: below a function that calls only the one no frame has a name of the other (issue
# of every profiler that asks the maps later). Some are named, and what is not is counted.
# once: the loader is the C library's.
for name in first second; do
    echo "long burn_$name(long rounds);
long burn_$name(long rounds)
{
    long sum = 0;
    for (long i = 0; i < rounds; i++)
        __asm__ volatile(\"\" : \"+r\"(sum));
    return sum;
}" >"$name.c"
    "${CC:-gcc}" -O2 -shared -fPIC -Wl,--build-id=sha1 -o "lib$name.so" "$name.c"
done
profile plugins event=cpu,interval=1ms,file=plugins.jfr Plugins 3 "$OUT/libfirst.so" "$OUT/libsecond.so"
silent plugins
"$JW_COMMAND" convert -q plugins.jfr - --output=collapsed >stacks
sum() { # $1: a pattern of stacks
    awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { print sum + 0 }' stacks
}
right=$(($(sum 'calls_first;burn_first ') + $(sum 'calls_second;burn_second ')))
wrong=$(($(sum 'calls_first;.*second') + $(sum 'calls_second;.*first')))
untold=$(sum 'calls_(first|second);.unknown native code. ')
echo "right $right, wrong $wrong, untold $untold, elsewhere $(($(sum .) - right - wrong - untold))"
[ "$wrong" = 0 ] || fail "$wrong samples have the name of a library that they were not in"
[ "$right" -gt 0 ] || fail "no sample in a library that was loaded for long has its name"
check_once Whole "$COUNTERS" plugins.jfr
ledger plugins.jfr
