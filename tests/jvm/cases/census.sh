# The census of locks: how often each place of a program is come to, and by how many threads, is what the program knows, to one; exits by
# exceptions, locks in locks, synchronized methods, threads that wait and virtual threads among them. A stack that overflows inside of
# locks leaves them free. No method becomes one that is not compiled. Detached classes are as they were.
sites() { # $1: name of a run; its sites, one a line
    "$JW_COMMAND" locks --json "$1.jfr" >"$1.json" || fail "$1: no report"
    grep '^{"place":' "$1.json" >"$1.sites"
}

field() { # $1: line, $2: field
    sed 's/.*"'"$2"'":\([0-9]*\).*/\1/' <<<"$1"
}

# Who gives a method up says "not retryable", or that another compiler has to do with it; without that it is only put off, as by classes that
# are loaded meanwhile.
# What the JVM says of its compilations would come into the midst of the program's lines.
TELL_COMPILED=(-XX:+PrintCompilation -XX:+DisplayVMOutputToStderr)
still_compiled() { # $1: name of a run
    ! grep -iE 'not compilable|COMPILE SKIPPED: .*\((not retryable|retry at different tier)\)' "$1.err" || fail "$1: a method is not compiled any more"
}

counted() { # $1: name of a run, $2: what stands before each name (Census.); its lines against the sites of those methods
    local word method acquisitions threads lines sum line
    sites "$1"
    while read -r word method acquisitions threads _; do
        [ "$word" = expect ] || continue
        sum=0
        lines=$(grep -F "\"place\":\"${2-Census.}$method\"" "$1.sites") || fail "$1: $method is no site"
        while read -r line; do
            sum=$((sum + $(field "$line" acquisitions)))
            [ "$(field "$line" threads)" = "$threads" ] || fail "$1: $method has $threads threads: $line"
        done <<<"$lines"
        [ "$sum" = "$acquisitions" ] || fail "$1: $method is come to $acquisitions times: $lines"
    done <"$1.out"
    grep -q '^ok$' "$1.out" || fail "$1: $(tail -n 1 "$1.out")"
    still_compiled "$1"
}

run() { # $1: name, $2: options, $3: mode, then flags of java
    local name=$1 options=$2 mode=$3
    shift 3
    profile "$name" "locks=census,$options,file=$name.jfr" "$@" Census "$mode"
}

run plain lock=1us "" "${TELL_COMPILED[@]}"
counted plain
grep -F '"place":"Census.never"' plain.sites | has_line '"verdict":"never"' || fail "plain: what is never taken is not told"
grep -F '"place":"Census.alone"' plain.sites | has_line '"verdict":"one thread","acquisitions":20000,"threads":1,"thread":"main"' ||
    fail "plain: what one thread takes is not told: $(grep Census.alone plain.sites)"
held=$(grep -F '"place":"Census.held"' plain.sites)
[ "$(field "$held" timed_holds)" = 5 ] && [ "$(field "$held" hold_ns)" -ge 100000000 ] || fail "plain: five holds of 20 ms: $held"
"$JW_COMMAND" locks plain.jfr >plain.txt || fail "no report"
grep -q 'Never come to' plain.txt || fail "the report has no table"
run checked lock=10us "" -Xcheck:jni -Xverify:all
counted checked
if [ "$MAJOR" -ge 21 ]; then
    run virtual lock=1us virtual
    counted virtual
fi

# What the census waits for itself is none of the program's locks. Who owns one of the program's may be counting at that moment.
for name in plain checked virtual; do
    [ -f "$name.jfr" ] || continue
    "$JW_COMMAND" contention --json "$name.jfr" >"$name.waits" || true
    sed -i '/^"owner_stacks":/,/^"deadlocks"/d' "$name.waits"
    ! grep -o '"class":"java.lang.Jaywalk[A-Za-z]*\|"stack":."java.lang.JaywalkLocks.note[A-Za-z]*' "$name.waits" || fail "$name: monitors of the counting are told"
done

virtual=
[ "$MAJOR" -lt 21 ] || virtual=virtual
profile deep locks=census,lock=10us,file=deep.jfr "${TELL_COMPILED[@]}" Census deep $virtual
[ "$(grep -c '^free$' deep.out)" = "$([ -z "$virtual" ] && echo 1 || echo 2)" ] || fail "deep: a lock is held where no stack was left: $(tail -n 1 deep.out)"
still_compiled deep

profile none lock=10us,file=none.jfr Census ""
! "$JW_COMMAND" locks none.jfr 2>none.err || fail "a recording without a census has a report"
grep -q 'locks=census' none.err || fail "it is not said which option is missing: $(cat none.err)"

# Loaders of a program are asked for what counts while no lock is held; what one does not give is not called in its classes.
profile asked locks=census,file=asked.jfr CensusLoaders asked
[ "$(cat asked.out)" = 'asked true refused true held 0 sum 2' ] || fail "asked: $(cat asked.out)"

# Classes are made and unloaded, of more places than there are numbers; and of fewer, which are all told.
for some in many some; do
    profile $some locks=census,file=$some.jfr -XX:+UseSerialGC CensusLoaders $some
    counted $some ""
done
sum=$(grep -c '"place":"Made\.' some.sites)
[ "$sum" = 30000 ] || fail "some: what is unloaded is forgotten too early: $sum places"

# A loader that never answers holds nobody up, and its classes are left alone.
. "$(dirname "$LIB")/attach.sh"
begin_target stuck "${LATE_AGENTS[@]}" CensusLoaders stuck
jaywalk 0 -d 1 --locks=census -f "$OUT/stuck.jfr" "$stuck"
sites stuck
! grep -q 'Guarded.run' stuck.sites || fail "stuck: a class is counted whose loader has not answered"
end_target stuck ready

# Locks of java.util.concurrent: what is taken, and of what kind it is; what is only tried is not; who waited.
kinds() { # $1: name of a run
    local word method acquisitions threads kind
    while read -r word method acquisitions threads kind; do
        [ "$word" = expect ] && [ -n "$kind" ] || continue
        grep -F "\"place\":\"CensusLocks.$method\"" "$1.sites" | has_line -F "\"kind\":\"$kind\"" ||
            fail "$1: $method is no $kind: $(grep -F "\"place\":\"CensusLocks.$method\"" "$1.sites")"
    done <"$1.out"
}
profile locks locks=census,lock=1us,file=locks.jfr "${TELL_COMPILED[@]}" CensusLocks
counted locks CensusLocks.
kinds locks
# A page of it has the census, and one of a recording without it has not; where nothing packs it, there is no page.
if "$JW_COMMAND" convert -q locks.jfr locks.explorer.html 2>page.err; then
    grep -q 'id="c-locks"' locks.explorer.html || fail "locks: the page has no census"
    "$JW_COMMAND" convert -q none.jfr none.explorer.html
    ! grep -q 'id="c-locks"' none.explorer.html || fail "none: the page has a census"
else
    grep -q libdeflate page.err || fail "locks: no page: $(cat page.err)"
fi
line=$(grep -F '"place":"CensusLocks.contended"' locks.sites)
[[ $line == *'"verdict":"contended"'* ]] && [ "$(field "$line" waits)" -ge 1 ] || fail "locks: a wait has no place: $line"
line=$(grep -F '"place":"CensusLocks.open"' locks.sites)
[ "$(field "$line" timed_holds)" = 0 ] || fail "locks: a hold is timed whose end is elsewhere: $line"
[ "$(field "$(grep -F '"place":"CensusLocks.interruptibly"' locks.sites)" timed_holds)" = 100 ] || fail "locks: holds are not timed"
if [ "$MAJOR" -ge 21 ]; then
    profile locksvirtual locks=census,file=locksvirtual.jfr CensusLocks virtual
    counted locksvirtual CensusLocks.
fi
# Which objects' locks are taken, where that is asked for: how often each, by how many threads, and what was only tried is not.
objects() { # $1: name of a run
    local word method objects acquisitions alone busiest threads lines line first
    sites "$1"
    while read -r word method objects acquisitions alone busiest threads; do
        [ "$word" = objects ] || continue
        lines=$(grep -F "\"place\":\"CensusObjects$method\"" "$1.sites") || fail "$1: $method is no site"
        while read -r line; do
            first=${line#*\"busiest\":[}
            [ "$(field "$line" objects) $(field "$line" object_acquisitions) $(field "$line" one_thread) $(field "$line" other_objects)" = "$objects $acquisitions $alone 0" ] ||
                fail "$1: $method has $objects objects, taken $acquisitions times, $alone of them by one thread: $line"
            [ "$busiest" = 0 ] || [[ $first == *"\"times\":$busiest,\"by_threads\":$threads}"* && ${first%%\}*} == *"\"times\":$busiest,"* ]] || fail "$1: the busiest of $method is taken $busiest times by $threads: $line"
            [ "$alone" = 0 ] || [ "$alone" != "$objects" ] || [[ $line == *'"verdict":"one thread each"'* ]] || fail "$1: $method is not told as of one thread each: $line"
        done <<<"$lines"
    done <"$1.out"
    grep -q '^ok$' "$1.out" || fail "$1: $(tail -n 1 "$1.out")"
    ! grep -F '"place":"CensusObjects$Account.ofClass"' "$1.sites" | grep '"taken"' || fail "$1: a class is told as an object"
    still_compiled "$1"
}
profile objects locks=objects,lock=1000s,file=objects.jfr "${TELL_COMPILED[@]}" -Xverify:all CensusObjects
objects objects
if [ "$MAJOR" -ge 21 ]; then
    profile objectsvirtual locks=objects,lock=1000s,file=objectsvirtual.jfr "${TELL_COMPILED[@]}" CensusObjects virtual
    objects objectsvirtual
fi
! grep -q '"taken"' plain.sites || fail "plain: objects are told without being asked for"
profile deepobjects locks=objects,lock=10us,file=deepobjects.jfr "${TELL_COMPILED[@]}" Census deep $virtual
[ "$(grep -c '^free$' deepobjects.out)" = "$([ -z "$virtual" ] && echo 1 || echo 2)" ] || fail "deepobjects: a lock is held where no stack was left: $(tail -n 1 deepobjects.out)"
still_compiled deepobjects
"$JW_COMMAND" locks objects.jfr >objects.txt || fail "no report of objects"
[ "$(grep -c '^  objects .* lost its biased lock' objects.txt)" = "$([ "$MAJOR" -le 11 ] && echo 1 || echo 0)" ] || fail "objects: of biased locks it is said: $(head -n 8 objects.txt)"

# A hold whose end is not told is given up, and so are no others.
profile stays locks=census,file=stays.jfr -cp "$CLASSES:$JW_JAR" CensusLocks stays $virtual
sites stays
for method in openPerhaps ${virtual:+openVirtually}; do
    line=$(grep -F "\"place\":\"CensusLocks.$method\"" stays.sites)
    [ "$(field "$line" timed_holds)" -ge 9 ] || fail "stays: a hold that has no end stays open: $line"
done
