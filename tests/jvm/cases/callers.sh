# Places of the JDK where locks are taken, by the method of the program that called, which the program knows: to one where they are few, also by way of other methods
# of the JDK, of method references and of locks in locks; and within the bound that is told where they are many, also where callers take turns of two, four and eight, of
# several threads, and of virtual ones. All that was counted at a place is somebody's. Where a stack overflows inside, the lock is free.
callers() { # $1: name of a run; its callers, one a line: place, caller, acquisitions, error, samples, acquisitions of the place
    "$JW_COMMAND" locks --json "$1.jfr" >"$1.json" || fail "$1: no report"
    sed -n 's/^{"place":"\([^"]*\)".*"acquisitions":\([0-9]*\),"threads".*"callers":\[\(.*\)\]}.*/\1 \2 \3/p' "$1.json" |
        awk '{ rest = substr($0, length($1) + length($2) + 3)
               while (match(rest, /\{"caller":"[^"]*","acquisitions":[0-9]+,"error":[0-9]+,"samples":[0-9]+\}/)) {
                   one = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
                   split(one, part, /":"?|"?,"|}/); gsub(/ /, "_", part[2])
                   print $1, part[2], part[4], part[6], part[8], $2 } }' >"$1.callers"
    [ -s "$1.callers" ] || fail "$1: nothing is told of callers"
}

# The error is what 95 of 100 figures keep within; three times of it is beyond chance.
told() { # $1: name of a run, $2: exactly, or within
    local word place caller expected row acquisitions error samples all
    callers "$1"
    while read -r word place caller expected; do
        [ "$word" = expect ] || continue
        row=$(awk -v place="$place" -v caller="$caller" '$1 == place && $2 == caller { a += $3; e += $4; s += $5; all += $6 } END { print a + 0, e + 0, s + 0, all + 0 }' "$1.callers")
        read -r acquisitions error samples all <<<"$row"
        [ "$samples" -gt 0 ] || fail "$1: $caller is no caller of $place: $(grep -F "$place " "$1.callers")"
        if [ "$2" = exactly ]; then
            [ "$acquisitions" = "$expected" ] && [ "$error" = 0 ] || fail "$1: $caller calls $place $acquisitions +- $error times, not $expected"
        else
            [ "$error" -gt 0 ] && [ $((error * 5)) -le $((all * 2)) ] || fail "$1: $caller of $place: the error is $error of $all, by $samples samples"
            [ $((acquisitions - expected)) -le $((3 * error)) ] && [ $((expected - acquisitions)) -le $((3 * error)) ] ||
                fail "$1: $caller calls $place $acquisitions +- $error times, not $expected, by $samples samples"
        fi
    done <"$1.out"
    grep -q '^ok$' "$1.out" || fail "$1: $(tail -n 1 "$1.out")"
}

profile few locks=census,file=few.jfr CensusCallers few
told few exactly
profile fewchecked locks=census,file=fewchecked.jfr -Xcheck:jni CensusCallers few
told fewchecked exactly
profile many locks=census,file=many.jfr CensusCallers many
told many within
profile several locks=census,file=several.jfr CensusCallers many 4
told several within
if [ "$MAJOR" -ge 21 ]; then
    profile virtual locks=census,file=virtual.jfr CensusCallers virtual
    told virtual within
fi
"$JW_COMMAND" locks many.jfr >many.txt || fail "no report"
grep -q '^ *by calls of [0-9.]* % +- [0-9.]*  CensusCallers.' many.txt && grep -q ' % +- [0-9.]*  CensusCallers.one$' many.txt || fail "the report has no callers: $(grep -A 8 'In classes of the JDK' many.txt)"
# Nobody who is no place of the JDK has callers.
! grep '^{"place"' many.json | grep '"is_platform":false' | has_line '"callers"' || fail "many: callers of a place of the program"

profile deep locks=census,file=deep.jfr CensusCallers deep
[ "$(grep -c '^free$' deep.out)" = 1 ] || fail "deep: a lock is held where no stack was left: $(tail -n 1 deep.out)"

# Another walker takes no such stacks, which is said.
profile other locks=census,cstack=agct,file=other.jfr CensusCallers few
callers other
[ "$(cut -d' ' -f2 other.callers | sort -u)" = '[stack_not_walked]' ] || fail "other: $(head -n 3 other.callers)"
