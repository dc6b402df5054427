# containers.sh: for cases that run applications in servlet containers, or in frameworks of other servers, as Debian has them (mk/test.mk names the packages). Sourced after attach.sh, never run.
# Such a case sets program (the class whose methods burn time), owners, counted and lasting, as below.

# Servers that start, and serve for some seconds: compiled at once. What optimised code does to places that are written into it is the matter of other cases (routes, traced, probes).
JAVA_FLAGS+=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC)

ROUNDS=8 untimed='' JARS=${JW_SERVER_JARS:-/usr/share/java}

jars_of() { # names of jars: a class path, or nothing where one is missing
    local jar all=
    for jar in "$@"; do
        [ -f "$JARS/$jar.jar" ] || return 0
        all+=$JARS/$jar.jar:
    done
    echo "${all%:}"
}
class_path_of() { # $1: container
    case $1 in
    tomcat9) jars_of tomcat9-{catalina,coyote,util,util-scan,juli,servlet-api,api,annotations-api,jni,jaspic-api,el-api,jsp-api} ;;
    tomcat10) jars_of tomcat10-{embed-core,servlet-api,annotations-api,jaspic-api,el-api,jsp-api} ;;
    jetty9) jars_of jetty9-{server,servlet,http,io,util,security,util-ajax} servlet-api ;;
    esac
}

# The application of tests/jvm/servers.
build_shop() { # $1: container, $2: class path; the program is in $1/
    local main=OnTomcat sources=$1.sources
    [[ $1 = tomcat* ]] || main=OnJetty
    mkdir "$sources" "$1"
    for file in Shop $main; do
        if [ "$1" = tomcat10 ]; then sed 's/javax[.]servlet/jakarta.servlet/' "$(dirname "$LIB")/servers/$file.java"; else cat "$(dirname "$LIB")/servers/$file.java"; fi >"$sources/$file.java"
    done
    compile_java -nowarn -cp "$2" -d "$1" "$sources"/*.java >"$1.javac" 2>&1 || fail "$1: $(head -n 1 "$1.javac")"
    main=shop.$main
    echo "$main"
}

# owners: lines of a method of the application, and the endpoint whose it is; what hangs on that: lines of samples by endpoint and method.
# counted: all endpoints. lasting: a pattern of those that are asynchronous, and do something twice. untimed: of those that other threads end, which may have no time; '*': none has.
own() { # $1: recording, $2: percents: of the samples of each method so many have its endpoint (100), or of all so many; and none has another,
    # but for the path of the same request, where the session began or ended before a pattern of it was known (below 100)
    "$JW_COMMAND" convert -q -e cpu --samples --by=endpoint "$1" - --output=collapsed >by.collapsed
    awk -v file="$1" -v program="$program" -v least="$2" '
        function wrong(text) { print "WRONG: " file ": " text; bad = 1 }
        FILENAME == "owners" {
            methods[++count] = $1; own[count] = path[count] = substr($0, length($1) + 2)
            gsub(/[{][^}]*[}]/, "[a-z]+", path[count])
            gsub(/[*][*]/, ".+", path[count])
            next
        }
        {
            endpoint = substr($0, 1, index($0, ";") - 1)
            stack = $0 ";"
            sub(/ [0-9]+;$/, ";", stack)
            if (index(stack, program ".elsewhere;") && substr(endpoint, 1, 1) != "[") wrong($NF " samples of other threads have an endpoint")
            for (i = 1; i <= count; i++) {
                if (!index(stack, program "." methods[i] ";")) continue
                all[i] += $NF
                if (endpoint == own[i]) its[i] += $NF
                else if (substr(endpoint, 1, 1) != "[" && (least == 100 || endpoint !~ "^" path[i] "$")) wrong($NF " samples in " methods[i] " are of " endpoint)
            }
        }
        END {
            for (i = 1; i <= count; i++) {
                print file ": of " all[i] + 0 " samples in " methods[i] " " its[i] + 0 " are of " own[i]
                if (least == 100 && its[i] != all[i]) wrong("of " all[i] " samples in " methods[i] " " its[i] + 0 " are of " own[i])
                seen += its[i]
                sum += all[i]
            }
            if (seen * 100 < sum * least) wrong("of " sum " samples " seen " have their endpoint")
            if (seen < 50) wrong(seen " samples are a proof of nothing")
            exit bad
        }' owners by.collapsed >own.out || fail "$(grep -m 1 WRONG own.out)"
    cat own.out
}

from_start() { # $1: container, $2: class path, then main class and its arguments; it takes the number of rounds behind these
    local endpoint count
    echo "$owners" >owners
    profile "$1" "event=cpu,interval=1ms,endpoints=auto,file=$1.jfr" -cp "$1:$2" "${@:3}" $ROUNDS
    [ "$(tail -n 1 "$1.out")" = ok ] || fail "$1: $(tail -n 1 "$1.out")"
    "$JW_COMMAND" endpoints -o csv "$1.jfr" >"$1.csv" || fail "$1: no report"
    for endpoint in "${counted[@]}"; do
        count=$(grep -F "\"value\",\"$endpoint\"," "$1.csv" | cut -d , -f 4)
        [ "$count" = $((4 * ROUNDS)) ] || fail "$1: $count requests of $endpoint, not $((4 * ROUNDS)): $(cat "$1.csv")"
    done
    count=$(grep -c '^.*"value","' "$1.csv")
    [ "$count" = ${#counted[@]} ] || fail "$1: $count endpoints, not ${#counted[@]}: $(cat "$1.csv")"
    own "$1.jfr" 100
    if [ "$untimed" = '*' ]; then
        ! "$JW_COMMAND" latency --json --top=0 "$1.jfr" >"$1.json" 2>"$1.times" && grep -q ': no times ' "$1.times" || fail "$1: a request has a time: $(cat "$1.json" "$1.times")"
        return 0
    fi
    # From its begin to the end of what was done when it came back.
    "$JW_COMMAND" latency --json --top=0 "$1.jfr" >"$1.json"
    for endpoint in "${counted[@]}"; do
        [[ $endpoint != $untimed ]] || continue
        count=$(grep -F "{\"span\":\"$endpoint\"," "$1.json" | sed 's/.*"calls":\([0-9]*\),.*"min_ns":\([0-9]*\),.*/\1 \2/')
        echo "$1: latency of $endpoint: $count"
        [ "${count% *}" = $((4 * ROUNDS)) ] || fail "$1: latency tells of ${count% *} requests of $endpoint, not $((4 * ROUNDS))"
        [[ $endpoint != $lasting ]] || [ "${count#* }" -ge 6000000 ] || fail "$1: an asynchronous request lasted ${count#* } ns, less than what was done for it"
    done
}

samples_so_far() {
    jaywalk 0 status "$server" | sed -n 's/ samples in .*//p'
}

in_the_midst() { # $1: packs, then as from_start; it is there afterwards
    local packs=$1 before
    shift
    begin_target server -cp "$1:$2" "${@:3}" 100000
    jaywalk 0 start -e cpu -i 1ms --endpoints="$packs" -f "$1-live.jfr" "$server" >out
    # Until its classes are written, which a busy machine takes its time for, no request has an endpoint.
    before=$(samples_so_far)
    until [ "$(samples_so_far)" -ge $((3 * before + 600)) ]; do sleep 0.15; done
    jaywalk 0 stop "$server" >out
    # Requests that were under way when the session began have none.
    own "$1-live.jfr" 50
}

end_server() { # $1: container
    kill -0 "$server" || fail "$1 is gone"
    kill "$server"
    wait "$server" || true
    no_crash
}
