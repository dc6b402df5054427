# What cases of ttsp have in common: the program that is late (Late), and what is told of it beside the JVM's own log of its safepoints.
# Safepoints have numbers, by which the two are joined one by one. Sourced by a case.

log_of() { # $1: file; the flags of the JVM that write it
    if [ "$MAJOR" -ge 17 ]; then
        echo "-Xlog:safepoint*:file=$1:uptimenanos"
    elif [ "$MAJOR" -ge 9 ]; then
        echo "-Xlog:safepoint:file=$1"
    else
        echo "-Xloggc:$1 -XX:+PrintGCApplicationStoppedTime"
    fi
}

# How long each safepoint was waited for, in ns, a line each: the first line is that of number 1.
reached_of() { # $1: file
    sed -n 's/.*Reaching safepoint: *\([0-9]*\) ns.*/\1/p; s/.*Stopping threads took: *\([0-9.]*\) seconds.*/\1 s/p' "$1" |
        awk '{ printf "%d\n", $2 == "s" ? $1 * 1e9 : $1 }'
}

# Before 10 no such loop is cut into pieces. Who compiles waits: what is not compiled yet asks.
IN_ONE_PIECE=(-Xbatch -XX:LoopStripMiningIter=0 -XX:-UseCountedLoopSafepoints)
[ "$MAJOR" -ge 10 ] || IN_ONE_PIECE=(-Xbatch -XX:-UseCountedLoopSafepoints)

# Before 17 log and counters are of two looks at the clock, between which a busy machine may have its way: there what the log has at 20 ms is
# told for sure. What is told, at 10 ms, is in the log at 5 ms: the figure may hold a short safepoint beside a long one.
SURELY_NS=10000000 ALLOWED_NS=5000000
[ "$MAJOR" -ge 17 ] || SURELY_NS=20000000

line_of() { sed -n "\|// late: $1\$|=" "$(dirname "$LIB")/workloads/Late.java"; } # $1: what is late

# Of the JVM's safepoints of 10 ms or more: all there are, and of these right (the thread ran this method and this line while it was late),
# starved (whoever is told, a thread of the program, the JVM's own or jaywalk's, had no processor for half of the time or more); and `extra`, what
# is told that the log has not. Those that are neither are in NAME.odd.
judge() { # $1: name, $2: what is late
    rm -f "$1.odd"
    awk -v place="$2 $(line_of "$2")" -v surely="$SURELY_NS" -v allowed="$ALLOWED_NS" -v odd="$1.odd" '
        function number(name) { return match($0, "\"" name "\":-?[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0 : 0 }
        function place_of(   text) { # the first frame that is of the program
            if (!match($0, /"class":"Late","method":"[^"]*","descriptor":"[^"]*","lineNumber":-?[0-9]+/))
                return "none"
            text = substr($0, RSTART, RLENGTH)
            sub(/.*"method":"/, "", text)
            sub(/","descriptor.*:/, " ", text)
            return text
        }
        FILENAME ~ /reached$/ { reached[++count] = $1; next }
        {
            n = number("safepointId")
            told[n] = $0
            extra += reached[n] < allowed
            if (/"lateIn":"J/ && place_of() == place)
                verdict[n] = "right"
            else if (/"lateIn":"(VM thread|unwatched)"/ || number("waitTime") * 2 >= number("timeToReach"))
                verdict[n] = "starved"
            else
                verdict[n] = "odd"
        }
        END {
            for (n = 1; n <= count; n++) {
                if (reached[n] < surely)
                    continue
                all++
                right += verdict[n] == "right"
                starved += verdict[n] == "starved"
                if (verdict[n] !~ /right|starved/)
                    print n, reached[n], n in told ? told[n] : "not told" >odd
            }
            print all + 0, right + 0, starved + 0, extra + 0
        }' "$1.reached" "$1.jsonl"
}

# The program, profiled: all, right and starved are of its delays.
late() { # $1: name, $2: what is late, $3: after how many safepoints it ends, $4: further options, then flags of java
    local name=$1 what=$2 end=$3 more=$4
    shift 4
    profile "$name" "event=cpu,ttsp$more,file=$name.jfr" $(log_of "$name.log") \
        "${IN_ONE_PIECE[@]}" -XX:CompileCommand=dontinline,Late.* "$@" Late "$what" "$end"
    "$JW_COMMAND" convert -q -o jsonl -e jaywalk.SafepointDelay "$name.jfr" "$name.jsonl" || fail "$name: no delays"
    reached_of "$name.log" >"$name.reached"
    [ -s "$name.reached" ] || fail "$name: the JVM's log has no safepoint"
    read -r all right starved extra < <(judge "$name" "$what")
    echo "$name: of $all delays in the JVM's log $right are told with method and line, $starved as waiting for a processor"
    [ ! -s "$name.odd" ] || cut -c 1-900 "$name.odd"
    [ "$extra" = 0 ] || fail "$name: $extra delays are told that the JVM's log has not"
}

# One of those that are to add up, by what is late; and the report names it.
declare -A all_of right_of starved_of
is_late() { # $1: collector, $2: what is late, $3: hints of the report; then further arguments of late
    local name=$2-$1 what=$2 hints=$3
    late "$name" "$what" "$4" "$5" "-XX:+Use${1}GC" "${@:6}"
    all_of[$what]=$((${all_of[$what]:-0} + all))
    right_of[$what]=$((${right_of[$what]:-0} + right))
    starved_of[$what]=$((${starved_of[$what]:-0} + starved))
    [ "$right" -ge 1 ] || fail "$name: of $all delays none is told with method and line: a proof of nothing"
    "$JW_COMMAND" safepoints --json "$name.jfr" >"$name.json" || fail "$name: no report"
    grep -qE "\"hint\":\"($hints|no-processor)\"" "$name.json" || fail "$name: no hint of $hints: $(cat "$name.json")"
}

# 19 of 20 of all delays that the JVM's log has, but for those in which the machine kept a thread waiting, which is what is told.
expect_right() { # $1: how many there must be
    local what all=0 right=0 starved=0
    for what in "${!all_of[@]}"; do
        echo "$what: of ${all_of[$what]} delays ${right_of[$what]} are told with method and line, ${starved_of[$what]} as waiting for a processor"
        all=$((all + ${all_of[$what]})) right=$((right + ${right_of[$what]})) starved=$((starved + ${starved_of[$what]}))
    done
    [ "$right" -ge "$1" ] || fail "$right delays are told with method and line: a proof of nothing"
    [ $((right * 100)) -ge $(((all - starved) * 95)) ] ||
        fail "of $all delays $right are told with method and line, $starved as waiting for a processor: $(head -n 3 -- *.odd | cut -c 1-900)"
    [ $((right * 3)) -ge $((all * 2)) ] || fail "of $all delays $right are told with method and line"
}

setting() { # $1: recording, $2: name; what it was last
    "$JW_COMMAND" convert -q -o jsonl -e jdk.ActiveSetting "$1" - | sed -n 's/.*"name":"'"$2"'","value":"\([^"]*\)".*/\1/p' | tail -n 1
}
