# Native libraries that four threads load and unload all the time, two of its own each, while each thread is sampled at 100 us in all:
# nothing stands still, no handler goes on and on, and below a function that visits one library there is no frame of
# another. LIBRARY_STORM_SECONDS (1) of it; then each thread stays in a library that is there for as long as its names take. All of it
# once more with native frames by libunwind (cstack=libunwind), which walks nearly all of them.
# once: the loader is the C library's.
libraries=()
for number in 0 1 2 3 4 5 6 7; do
    # Functions of some lengths, so that what lay at an address is not at the same place of the next one.
    echo "
static long calls_$number;
static void __attribute__((constructor)) storm_begin_$number(void)
{
    for (long i = 0; i < 20000; i++)
        __asm__ volatile(\"\" : \"+r\"(calls_$number));
}
static void __attribute__((destructor)) storm_end_$number(void)
{
    for (long i = 0; i < 20000; i++)
        __asm__ volatile(\"\" : \"+r\"(calls_$number));
}
static long __attribute__((noinline)) storm_inner_$number(long rounds)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile(\".skip $((number * 48 + 16)), 0x90\" : \"+r\"(calls_$number));
    return calls_$number;
}
long storm_burn(long rounds);
long storm_burn(long rounds)
{
    return storm_inner_$number(rounds) + 1;
}" >"storm$number.c"
    "${CC:-gcc}" -O2 -shared -fPIC -Wl,--build-id=sha1 -o "libstorm$number.so" "storm$number.c"
    libraries+=("$OUT/libstorm$number.so")
done
stolen_ms() { awk -v tick="$(getconf CLK_TCK)" '/^cpu / { print int($9 * 1000 / tick) }' /proc/stat; }
storm() { # $1: cstack=, $2: seconds
    local name=$1 tag="" before stolen longest below right wrong _
    [ "$1" = vm ] || tag="$1: "
    before=$(stolen_ms)
    profile "$name" "event=cpu,interval=100us,cstack=$1,file=$name.jfr" LibraryStorm "$2" 1000 "${libraries[@]}"
    silent "$name"
    stolen=$(($(stolen_ms) - before))
    sed "s/^/$tag/" "$name.out"

    "$JW_COMMAND" convert -q "$name.jfr" - --output=collapsed >stacks
    awk '
    match($0, /;visits_[0-7]/) {
        number = substr($0, RSTART + RLENGTH - 1, 1)
        stack = substr($0, RSTART + RLENGTH)
        below += $NF
        named = wrong = 0
        while (match(stack, /(storm_[a-z]*_|libstorm)[0-7]/)) {
            if (substr(stack, RSTART + RLENGTH - 1, 1) == number) named = 1; else wrong = 1
            stack = substr(stack, RSTART + RLENGTH)
        }
        if (wrong) { bad += $NF; print "WRONG", $0 }
        else if (named) right += $NF
        else if ($0 ~ /;\[unknown native code\] [0-9]+$/) untold += $NF
    }
    END { printf "below %d, right %d, wrong %d, untold %d\n", below, right, bad, untold }' stacks >sums
    sed "s/^/$tag/" sums
    read -r _ below _ right _ wrong _ <<<"$(tail -n 1 sums | tr -d ,)"
    [ "$wrong" = 0 ] || fail "$wrong samples have the name of a library that they were not in: $(grep -m 1 WRONG sums)"
    [ "$right" -gt 0 ] || fail "of $below samples none has the name of its library"

    # Its own CPU time, which on a virtual machine holds what the host took of the processor meanwhile: here a guard against one
    # that does not end. `make soak` runs this for longer, where nothing else is to be, and holds it to 5 ms.
    jaywalk_json=$("$JW_COMMAND" doctor --json "$name.jfr" || true)
    longest=$(grep -o '"longest_cpu_ns": *[0-9]*' <<<"$jaywalk_json" | grep -o '[0-9]*$' | sort -n | tail -n 1)
    echo "${tag}longest handler $longest ns of CPU time, stolen $stolen ms"
    [ "${longest:-0}" -gt 0 ] || fail "the longest handler is not told"
    [ "$longest" -le $((${LIBRARY_STORM_MOST_NS:-1000000000} + stolen * 1000000)) ] || fail "a handler used $longest ns of CPU time"
    check_once Whole "$COUNTERS" "$name.jfr"
    ledger "$name.jfr"
}

storm vm "${LIBRARY_STORM_SECONDS:-1}"
# Where what is built has none, it says so.
run_java try 0 "$(agent_flag cstack=libunwind,file=try.jfr)" -version
if why=$(grep -m 1 -o 'cstack=libunwind: .*' try.err); then
    skip_part "$why"
else
    storm libunwind "${LIBRARY_STORM_SECONDS:-1}"
    # The first samples come before any library is known.
    walked=$(awk '$2 == "nativeByLibunwind" { print $1 }' check.out)
    others=$(awk '$2 == "nativeNotByLibunwind" { print $1 }' check.out)
    [ "${walked:-0}" -gt $((${others:-0} * 9)) ] || fail "libunwind walked ${walked:-0} native stacks, ${others:-0} it did not"
fi
