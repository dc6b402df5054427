# Allocations: bytes of three classes are what the program counted, alone, beside the other clocks and with a collector that
# moves objects while the program runs; a JVM without the event refuses, and says what to do instead.
if [ "$MAJOR" -lt 11 ]; then
    run_java refused 0 "$(agent_flag event=alloc,file=refused.jfr)" Allocating
    grep -q 'event=alloc: JDK 8 cannot sample allocations.*GC.class_histogram' refused.err ||
        fail "no clear refusal: $(cat refused.err)"
    exit 0
fi

# Within four standard deviations of as many samples as the interval makes of them (by chance one of some thousand runs of this case is
# outside), and 5 % where those are less. The JVM of JDK 11 forgets at the end of each TLAB what was allocated in it since its last sample: up to
# 8 % are wanting there.
compare_bytes() { # $1: name of a run
    "$JW_COMMAND" convert -q -e alloc --total "$1.jfr" "$1.collapsed"
    awk -v name="$1" -v forgotten="$([ "$MAJOR" = 11 ] && echo 0.08 || echo 0)" '
        FNR == NR { truth[$1] = $2; next }
        /Allocating\.(array|large|node);/ { split($0, parts, "Allocating."); split(parts[3] == "" ? parts[2] : parts[3], word, ";"); found[word[1]] += $NF }
        END {
            for (what in truth) {
                samples = truth[what] / 65536
                bound = 4 / sqrt(samples); if (bound < 0.05) bound = 0.05
                off = found[what] / truth[what] - 1
                if (off < 0) bound += forgotten
                printf "%s %s: %.1f %% off, %.1f %% allowed\n", name, what, 100 * off, 100 * bound
                if (off > bound || off < -bound) bad = 1
            }
            exit bad
        }' "$1.out" "$1.collapsed" || fail "$1: bytes are not those that the program allocated"
}

profile alone event=alloc,alloc=64k,file=alone.jfr Allocating
profile beside event=cpu,wall=20ms,alloc=64k,file=beside.jfr Allocating
profile moved event=alloc,alloc=64k,file=moved.jfr "-XX:+Use$([ "$MAJOR" -ge 21 ] && echo Z || echo Serial)GC" -Xmx128m Allocating
for run in alone beside moved; do
    compare_bytes "$run"
done
