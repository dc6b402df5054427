# A recording of many kinds of stacks and events, in several chunks, read whole by every stock reader.
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
