# A recording of many kinds of stacks and events, in several chunks, read whole by every stock reader.
profile mixed event=cpu,interval=4ms,chunksize=256k,file=mixed.jfr Stubs 3
silent mixed
whole mixed.jfr
ledger mixed.jfr
while read -r major home; do
    jfr_tool "$major" "$home" metadata mixed.jfr
    jfr_tool "$major" "$home" print --json mixed.jfr
    jfr_tool "$major" "$home" print --xml --stack-depth 64 mixed.jfr
done <<<"$READERS"
