# Many chunks written under load, in quick succession (little memory fills soon): each is right alone
# (disassembled by the stock tool) and all together.
# once: what a file looks like is up to the agent alone.
chunks=${CHUNKS:-12}

profile deep "event=cpu,interval=1ms,memlimit=120m,chunksize=256k,file=deep.jfr" DeepStacks deep.jfr "$chunks" 150
[ "$(sed -n 's/^chunks //p' deep.out)" -ge "$chunks" ] || fail "only $(tail -n 1 deep.out) in 150 s of CPU time"
whole deep.jfr
ledger deep.jfr 1

mkdir parts
# m56: each chunk alone has its types and constants. JDK 8 has no such tool in every build, and that of JDK 11 leaves the first two together.
reader=$(one_reader)
"${reader#* }/bin/jfr" disassemble --max-chunks 1 --output parts deep.jfr >disassemble.out ||
    fail "jfr disassemble: $(tail -n 1 disassemble.out)"
parts=(parts/*.jfr)
[ ${#parts[@]} -ge "$chunks" ] || fail "jfr disassemble made ${#parts[@]} files"
# Not the last chunk, so not the final flag: to the checker these look like recordings of killed JVMs.
check_once Whole --killed "$COUNTERS" "${parts[@]:0:${#parts[@]}-1}"
for part in "${parts[0]}" "${parts[${#parts[@]}/2]}" "${parts[-1]}"; do
    jfr_tool "$MAJOR" "$JDK" summary "$part"
done
