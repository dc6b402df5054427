# A recording of many kinds of stacks and events, in several chunks, read whole by every stock reader.
# once: both readers read it, whoever wrote it.
profile mixed event=cpu,interval=4ms,chunksize=256k,file=mixed.jfr Stubs 3
silent mixed
whole mixed.jfr
ledger mixed.jfr
read_more() { # $1: major, $2: home
    jfr_tool "$1" "$2" metadata mixed.jfr
    jfr_tool "$1" "$2" print --json mixed.jfr
    jfr_tool "$1" "$2" print --xml --stack-depth 64 mixed.jfr
}
each_reader read_more

# m15: the JVM's own recorder, which suspends threads to look at them, samples beside: neither waits for the other.
profile beside event=cpu,interval=4ms,file=beside.jfr -XX:StartFlightRecording=filename="$OUT/own.jfr",settings=profile Stubs 0.5
ledger beside.jfr 1
jfr_tool "$MAJOR" "$JDK" summary own.jfr
awk '$1 == "jdk.ExecutionSample" && $2 > 0 { is_there = 1 } END { exit !is_there }' tool.out ||
    fail "the JVM's own recorder has no sample"
