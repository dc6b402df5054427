# Endpoints of requests without a line of the program's (endpoints=): of the JDK's own server and of servlets behind a filter each request is counted, under the
# name of its route, and each sample of a method that works for one has its endpoint; what runs outside of requests has none, also after a request that an
# exception ended; an asynchronous one is one, whoever goes on with it, and when; so is what a consumer polled. In a program that has long been running, as docs/howto/endpoints-without-code.md says. A program without requests is told so. The servlet API is a few interfaces of its names: what a container has beyond them is not looked at.
. "$(dirname "$LIB")/attach.sh"

requests_of() { # $1: name of a run, $2: endpoint
    grep -F "\"value\",\"$2\"," "$1.csv" | cut -d , -f 4
}

# Samples of a method by the endpoint that they have.
samples_of() { # $1: name of a run, $2: endpoint, or none for all; $3: method
    local only=()
    [ -z "$2" ] || only=("--endpoint=$2")
    "$JW_COMMAND" convert -q -e cpu --samples "${only[@]}" "$1.jfr" - --output=collapsed 2>/dev/null | awk -v method="$3" 'index($0, method) { sum += $NF } END { print sum + 0 }'
}

served() { # $1: name of a run, $2: endpoint, $3: requests, $4: method
    local all its
    [ "$(requests_of "$1" "$2")" = "$3" ] || fail "$1: not $3 requests of $2: $(cat "$1.csv")"
    all=$(samples_of "$1" "" "$4") its=$(samples_of "$1" "$2" "$4")
    echo "$1: of $all samples in $4 $its are of $2"
    [ "$all" -ge 10 ] || fail "$1: $all samples in $4 are a proof of nothing"
    # Between the call and the endpoint's first instruction lie some microseconds, in which it has none yet.
    [ $((its * 100)) -ge $((all * 97)) ] || fail "$1: of $all samples in $4 $its are of $2"
}

# Of the requests to an endpoint that `jaywalk latency` tells of: so many, and none shorter than what is done for it.
lasted() { # $1: name of a run, $2: endpoint, $3: requests, $4: nanoseconds at least
    local calls least
    read -r calls least <<<"$("$JW_COMMAND" latency --json --top=0 "$1.jfr" | grep -F "{\"span\":\"$2\"," | sed 's/.*"calls":\([0-9]*\),.*"min_ns":\([0-9]*\),.*/\1 \2/')"
    echo "$1: $calls requests of $2 lasted $least ns at least"
    [ "$calls" = "$3" ] || fail "$1: latency tells of $calls requests of $2, not $3"
    [ "$least" -ge "$4" ] || fail "$1: a request of $2 lasted $least ns, less than what it did"
}

outside() { # $1: name of a run, $2: method
    "$JW_COMMAND" convert -q -e cpu --samples --endpoint='*' "$1.jfr" - --output=collapsed 2>/dev/null | grep -c "$2" >"$1.outside" || true
    [ "$(cat "$1.outside")" = 0 ] || fail "$1: what runs outside of requests has an endpoint"
}

run() { # $1: name, $2: options, then arguments of java
    local name=$1 options=$2
    shift 2
    profile "$name" "event=cpu,interval=500us,$options,file=$name.jfr" "$@"
    [ "$(tail -n 1 "$name.out")" = ok ] || fail "$name: $(tail -n 1 "$name.out")"
    "$JW_COMMAND" endpoints -o csv "$name.jfr" >"$name.csv" || fail "$name: no report"
}

run jdk endpoints=auto Routed
served jdk 'GET /orders/{id}/items' 60 Routed.inOrders
served jdk 'GET /health' 60 Routed.inHealth
outside jdk Routed.outside
lasted jdk 'GET /orders/{id}/items' 60 3000000
lasted jdk 'GET /health' 60 3000000
"$JW_COMMAND" latency jdk.jfr | has_line '^ *60 .* GET /health$' || fail "jdk: no row of GET /health: $("$JW_COMMAND" latency jdk.jfr)"

mkdir servlets polling # which the compiler of JDK 8 does not make
compile_java -nowarn -d servlets "$(dirname "$LIB")"/servlet/*.java
run servlet endpoints=servlet -Xcheck:jni -cp servlets served.Served
served servlet 'GET /orders/{id}/items' 60 Served.inOrders
served servlet 'POST /failing/{id}' 60 Served.inFailing
[ "$(requests_of servlet 'GET /search')" = 60 ] || fail "servlet: not 60 requests to /search: $(cat servlet.csv)"
[ "$(requests_of servlet 'GET /forward')" = 60 ] || fail "servlet: a request that is handed on is not one: $(cat servlet.csv)"
[ "$(requests_of servlet 'GET /deep')" = 60 ] || fail "servlet: not 60 requests that end for want of stack: $(cat servlet.csv)"
outside servlet Served.outside
lasted servlet 'POST /failing/{id}' 60 3000000
# One that is handed on is the first one's.
half=$(samples_of servlet 'GET /forward' Served.inSearch) all=$(samples_of servlet '' Served.inSearch)
[ $((half * 100)) -ge $((all * 25)) ] && [ $((half * 100)) -le $((all * 75)) ] || fail "servlet: of $all samples in inSearch $half are of /forward"
! grep -q 'WARNING in native method' servlet.out servlet.err || fail "servlet: -Xcheck:jni: $(grep -h -A 4 -m 1 'WARNING in native' servlet.out servlet.err | tr '\n' ' ')"

# Asynchronous requests are one each, and last from their begin to their end, in whatever order their threads leave them and come to them.
mkdir dispatched
compile_java -nowarn -cp servlets -d dispatched "$(dirname "$LIB")"/dispatched/*.java
run dispatched endpoints=servlet -cp dispatched:servlets dispatched.Dispatched
for endpoint in {jetty,servlet}/{after,dispatched,inside,overtaking,next,next/second} jetty/itself; do
    [ "$(requests_of dispatched "GET /$endpoint")" = 6 ] || fail "dispatched: not 6 requests of /$endpoint: $(cat dispatched.csv)"
    lasted dispatched "GET /$endpoint" 6 6000000
done

# A program that says for what its thread works, and takes that back: then it is the request's again.
if [ -f "$JW_JAR" ]; then
    kinds=(platform)
    [ "$MAJOR" -lt 21 ] || kinds+=(virtual)
    may_load=()
    [ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)
    for kind in "${kinds[@]}"; do
        run "scopes-$kind" endpoints=jdk-http "${may_load[@]}" -cp "$JW_JAR:$API_CLASSES" routed.Scopes "$kind"
        served "scopes-$kind" 'GET /scoped/{id}' 40 Scopes.behindScope
        [ "$(samples_of "scopes-$kind" 'GET /scoped/{id}' Scopes.inScope)" = 0 ] || fail "$kind: what the program says does not go before"
    done
fi

# What a consumer of Kafka's polled, until it polls again; Kafka itself is a few classes of its names.
compile_java -nowarn -d polling $(find "$(dirname "$LIB")/kafka" -name '*.java')
kinds=(platform)
[ "$MAJOR" -lt 21 ] || kinds+=(virtual)
for kind in "${kinds[@]}"; do
    arguments=(polling.Polling)
    [ "$kind" = platform ] || arguments+=(virtual)
    run "polled-$kind" endpoints=kafka -Xcheck:jni -cp polling "${arguments[@]}"
    served "polled-$kind" 'process orders' 30 Polling.inOrders
    served "polled-$kind" 'process orders+payments' 30 Polling.inBoth
    served "polled-$kind" 'process many topics' 30 Polling.inMany
    outside "polled-$kind" Polling.outside
    lasted "polled-$kind" 'process orders+payments' 30 3000000
    ! grep -q 'WARNING in native method' "polled-$kind.out" "polled-$kind.err" || fail "polled-$kind: -Xcheck:jni: $(grep -h -A 4 -m 1 'WARNING in native' "polled-$kind.out" "polled-$kind.err" | tr '\n' ' ')"
done

# One that is worked on as the session ends has no end that anybody would see; it is nothing to the next session.
begin_target consumer -cp polling polling.Polling on "$OUT/stay"
jaywalk 0 start -e cpu --endpoints=auto -f consumed.jfr "$consumer" >out
until [ "$(jaywalk 0 status "$consumer" | sed -n 's/ samples in .*//p')" -ge 30 ]; do sleep 0.15; done
touch stay
until grep -q stays consumer.out; do sleep 0.05; done
jaywalk 0 stop "$consumer" >out
jaywalk 0 endpoints -o csv consumed.jfr >consumed.csv
[ "$(requests_of consumed 'process orders')" -ge 1 ] || fail "consumed: no request: $(cat consumed.csv)"
jaywalk 0 start -e cpu -f later.jfr "$consumer" >out
until [ "$(jaywalk 0 status "$consumer" | sed -n 's/ samples in .*//p')" -ge 30 ]; do sleep 0.15; done
jaywalk 0 stop "$consumer" >out
"$JW_COMMAND" convert -q -e cpu -o jsonl later.jfr later.jsonl
grep -q 'Polling' later.jsonl || fail "later: no sample of what is worked on"
! grep -E '"(localRootSpanId|spanId)":"?[1-9]' later.jsonl || fail "later: samples work for a request of the session before"
end_target consumer $'polls\nstays'

# A pack that is not asked for gives nothing, and it is said where nothing was met.
profile none event=cpu,endpoints=servlet,file=none.jfr -version
grep -q 'endpoints: no class that was loaded serves requests' none.err || fail "none: it is not said that nothing was met: $(cat none.err)"
whole jdk.jfr

# The commands of the how-to, twice, on a program whose server has long been loaded.
begin_target server Routed on
for packs in auto jdk-http+servlet; do
    jaywalk 0 start -e cpu --endpoints=$packs -f "live-$packs.jfr" "$server" >out
    # Of the first time that classes are written again.
    dropped=$(grep -c 'this JVM dropped its compiled code' out || true)
    [ "$dropped" = $((MAJOR <= 21 && ${#packs} == 4)) ] || fail "$packs: what becomes of compiled code was told $dropped times: $(cat out)"
    until [ "$(jaywalk 0 status "$server" | sed -n 's/ samples in .*//p')" -ge 30 ]; do sleep 0.15; done
    jaywalk 0 stop "$server" >out
    jaywalk 0 endpoints -o csv "live-$packs.jfr" >live.csv
    for endpoint in 'GET /orders/{id}/items' 'GET /health'; do
        [ "$(requests_of live "$endpoint")" -ge 1 ] || fail "$packs: no request of $endpoint: $(cat live.csv)"
    done
done
jaywalk 2 start --endpoints=camel -f camel.jfr "$server" >out
says "allowed: auto, jdk-http, servlet, spring-mvc, jax-rs, grpc, netty"
end_target server serves
