# A recording of many kinds of stacks and events, in several chunks, read whole by every stock reader.
profile mixed event=cpu,interval=4ms,chunksize=256k,file=mixed.jfr Stubs 3
silent mixed
whole mixed.jfr
ledger mixed.jfr
for file in mixed.jfr; do
    while read -r major home; do
        jfr_tool "$major" "$home" metadata "$file"
        jfr_tool "$major" "$home" print --json "$file"
        jfr_tool "$major" "$home" print --xml --stack-depth 64 "$file"
    done <<<"$READERS"
done
