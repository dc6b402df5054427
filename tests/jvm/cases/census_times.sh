# Times of the census of locks, of platform and of virtual threads, which leave their carriers while they have locks. Where a place is held less than a thousand times a second each hold is timed: their sum, and how many are as long as 1 us, 10 us ...
# 100 ms at least, lie between what the program's own clock says within the locks and around them. Above that the sum is estimated, and as near to the
# truth as it can be.
# The times of the two clocks are of the same holds, whatever else the machine does meanwhile.
field() { # $1: line, $2: field
    sed 's/.*"'"$2"'":\(-\?[0-9]*\).*/\1/' <<<"$1"
}

steps() { # $1: line, $2: field; how many are as long as each step at least
    sed 's/.*"'"$2"'":\[\([0-9,]*\)\].*/\1/' <<<"$1" | awk -F, '{ for (i = NF; i > 1; i--) { sum += $i; out = sum (out == "" ? "" : " ") out } print out }'
}

site() { # $1: method; its only line
    [ "$(grep -cF "\"place\":\"CensusTimes.$1\"" "$run.json")" = 1 ] || fail "$run: $1 is not one place: $(grep -F "CensusTimes.$1" "$run.json")"
    grep -F "\"place\":\"CensusTimes.$1\"" "$run.json"
}

between() { # $1: what, $2: least, $3: number, $4: most
    [ "$2" -le "$3" ] && [ "$3" -le "$4" ] || fail "$1: $3, not from $2 to $4"
}

exact() { # acquisitions a hold, then as the program tells it: method, holds, sums within and around, steps
    local line number i=0 told each=$1
    shift
    line=$(site "$1")
    [ "$(field "$line" acquisitions) $(field "$line" timed_holds) $(field "$line" weight) $(field "$line" hold_error_ns)" = "$(($2 * each)) $2 $2 0" ] ||
        fail "$1: not each of $2 holds was timed: $line"
    between "$1 is held for" "$3" "$(field "$line" hold_ns)" "$4"
    read -ra told < <(steps "$line" hold_steps)
    for number in "${@:5:6}"; do
        between "$1: holds of step $((++i))" "${number%:*}" "${told[i - 1]}" "${number#*:}"
    done
}

# Each hold stands for as many as four times the mean of them: of the truth, by how it is spread, eight deviations of that are never seen. Of holds that nothing disturbs
# that is less than 5 %.
sampled() {
    local line
    line=$(site "$1")
    [ "$(field "$line" acquisitions)" = "$2" ] || fail "$1: not $2 acquisitions: $line"
    [ "$(field "$line" timed_holds)" -lt "$(($2 / 2))" ] && [ "$(field "$line" hold_error_ns)" -gt 0 ] || fail "$1: no sample was taken, or no error is told: $line"
    awk -v holds="$2" -v inner="$3" -v outer="$4" -v deviation="${11}" -v timed="$(field "$line" timed_holds)" -v weight="$(field "$line" weight)" \
        -v told="$(field "$line" hold_ns)" -v error="$(field "$line" hold_error_ns)" 'BEGIN {
            off = 8 * sqrt(4 * weight / timed) * deviation
            if (off < 0.05 * inner)
                off = 0.05 * inner
            told *= holds / weight
            printf "busy: %.0f ms +- %.1f, where %.0f to %.0f ms were, of %d holds %d were timed; %.0f ms are allowed\n", told / 1e6, error / 1e6, inner / 1e6, outer / 1e6, holds, timed, off / 1e6
            exit !(inner - off <= told && told <= outer + off)
        }' || fail "$1: the sum is far from the truth: $line"
}

times() { # $1: name of a run, $2: lines of its holds, then arguments of the program
    local word figures lines=$2
    run=$1
    profile "$run" "locks=census,lock=1us,file=$run.jfr" CensusTimes "${@:3}"
    "$JW_COMMAND" locks --json "$run.jfr" >"$run.json" || fail "no report"
    while read -r word figures; do
        case $word in
        held) exact 1 $figures ;;
        twice) exact 2 $figures ;;
        sampled) sampled $figures ;;
        esac
    done <"$run.out"
    [ "$(grep -c '^held \|^twice \|^sampled ' "$run.out")" = "$lines" ] && grep -qx ok "$run.out" || fail "$run: $(tail -n 1 "$run.out")"
}

times times 6
[ "$MAJOR" -lt 21 ] || times virtual 7 virtual
# The report and the page say it, too.
"$JW_COMMAND" locks --top=0 times.jfr >times.txt || fail "no report"
grep -A 2 'CensusTimes.busy' times.txt | has_line 'held .* in all\( +- [0-9.]* %\|, [0-9.]* m\?s at most\): .*10-100 us [0-9.]* %' || fail "no error and no histogram: $(grep -A 2 CensusTimes.busy times.txt)"
grep -A 2 'CensusTimes.spun' times.txt | has_line 'held [0-9.]* m\?s in all: ' || fail "an error of what is exact: $(grep -A 2 CensusTimes.spun times.txt)"
