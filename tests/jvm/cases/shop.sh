# Samples know which request they served: in the demo's shop, with 200 threads, and with 10,000 virtual ones at a time that
# wait for a backend half-way and go on elsewhere, each endpoint has its share of the CPU time, and no sample a foreign span.
# alone: shares of CPU time are held to a percentage point.
shop() { # $1: name, $2: bursts of work of each request, then options of the shop
    local name=$1 bursts=$2
    shift 2
    run_java "$name" 0 "$(agent_flag "event=cpu,interval=500us,file=$name.jfr")" -cp "$CLASSES:$API_CLASSES:$JW_JAR" \
        -Dsun.net.httpserver.maxIdleConnections=20000 Shop "--report=$name.report" --clock=CarrierClock "$@"
    silent "$name"
    check_once Contexts "$name.jfr" "$name.report" 1 "$bursts" 500
}

shop platform 2 --threads=200 --clients=200 --requests=600
whole platform.jfr
if [ "$MAJOR" -ge 21 ] && [ "$MAJOR" -lt 24 ]; then
    skip_part "that samples of virtual threads have a context: this JDK does not tell whose native code is, which the shop's clock is"
elif [ "$MAJOR" -ge 24 ]; then
    # m07: virtual threads are sampled while they run, wait, and go on elsewhere.
    shop virtual 20 --virtual --clients=1000 --requests=1000 --parts=10 --wait=500
fi
