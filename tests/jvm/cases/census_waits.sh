# Contended places of the census: how often somebody waited there is what the program knows, to one, and for how long lies between what it knows to be part of the waits
# and what they are a part of, which are some percent apart.
field() { # $1: line, $2: field
    sed 's/.*"'"$2"'":\(-\?[0-9]*\).*/\1/' <<<"$1"
}

steps() { # $1: line, $2: field
    sed 's/.*"'"$2"'":\[\([0-9,]*\)\].*/\1/' <<<"$1"
}

waited() { # as the program tells it: method, waits, sums of what was kept and of what it took
    local line ns=
    line=$(grep -F "\"place\":\"CensusWaits.$1\"" waits.json)
    echo "$1: $(field "$line" waits) waits of $(field "$line" waited_ns) ns, where $2 were of $3 to $4 ns"
    [[ $line == *'"verdict":"contended"'* ]] && [ "$(field "$line" acquisitions) $(field "$line" threads)" = "$2 1" ] || fail "$1: not $2 acquisitions by one thread, which waits: $line"
    ns=$(field "$line" waited_ns)
    # A clock of ticks is as right as its frequency.
    [ "$ns" -ge "$(($3 - $3 / 50))" ] && [ "$ns" -le "$(($4 + $4 / 50))" ] || fail "$1: waited for $ns ns, not from $3 to $4"
    [ "$1" = waitsForLock ] || [ "$(field "$line" waits)" = "$2" ] || fail "$1: not $2 waits: $line"
    # Who parks may be woken in vain, and parks again.
    [ "$(field "$line" waits)" -ge "$2" ] || fail "$1: less than $2 waits: $line"
    [ "$1" = waitsForLock ] || [[ $(steps "$line" wait_steps) == 0,0,0,0,0,* ]] || fail "$1: a wait is shorter than 10 ms: $line"
}

# Who kept it is told beside it: the same thread each time.
owned() { # $1: method, $2: waits
    local line
    line=$(grep -F "\"place\":\"CensusWaits.$1\"" waits.json)
    [[ $line == *'"owners":[{"waits":'$2',"waited_ns":'*',"owner":"main"}]'* ]] || fail "$1: it was main that kept it each time: $line"
}

profile waits locks=census,lock=1us,file=waits.jfr CensusWaits
"$JW_COMMAND" locks --json waits.jfr >waits.json || fail "no report"
while read -r word figures; do
    [ "$word" != waited ] || waited $figures
done <waits.out
[ "$(grep -c '^waited ' waits.out)" = 3 ] && grep -qx ok waits.out || fail "$(tail -n 1 waits.out)"
owned waitsForMonitor 10
owned waitsForMethod 10
grep -F '"place":"CensusWaits.waitsForLock"' waits.json | has_line '"owner":"main"' || fail "waitsForLock: it was main that kept it: $(grep -F CensusWaits.waitsForLock waits.json)"
"$JW_COMMAND" locks waits.jfr | grep -A 6 'CensusWaits.waitsForMonitor' | has_line '^ *behind [0-9.]* m\?s in 10 waits  main$' || fail "the report does not say who kept it"
for method in ownsMonitor ownsLock; do
    [ "$(field "$(grep -F "\"place\":\"CensusWaits.$method\"" waits.json)" waits)" = 0 ] || fail "$method waited, who never has to"
done
