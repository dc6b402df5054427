# A recording of ours and one of the JVM's own, of one run: as events, cut and recovered, split and merged again, each time read by the stock tool.
# once: what a file holds is up to who wrote it, and not to the JVM that is sampled.
run_java both 0 "$(agent_flag event=cpu,interval=1ms,wall=20ms,chunktime=5s,file=own.jfr)" \
    "-XX:StartFlightRecording=filename=jvm.jfr,settings=profile" Hot 1.5

reader=$(one_reader)
home=${reader#* }

# Events of each type, as the stock tool counts them.
counts() { # $1: file
    jfr_tool "${reader% *}" "$home" summary "$1"
    awk 'NF == 3 && $1 ~ /[.]/ && $2 ~ /^[0-9]+$/ && $2 > 0 && $1 !~ /^jdk[.](Metadata|Check[Pp]oint)$/ { print $1, $2 }' tool.out | sort
}

lines() { # $1: file
    "$JW_COMMAND" convert -o jsonl "$1" - 2>lines.err | sed 's/^{"type":"\([^"]*\)".*/\1/' | sort | uniq -c |
        awk '{ print $2, $1 }' | sort
    [ "${PIPESTATUS[0]}" = 0 ] || fail "convert -o jsonl $1: $(tail -n 1 lines.err)"
}

for file in own.jfr jvm.jfr; do
    counts "$file" >"$file.counted"
    [ -s "$file.counted" ] || fail "$file: nothing is counted"
    lines "$file" >"$file.lines"
    cmp -s "$file.counted" "$file.lines" || fail "$file as JSON Lines: $(diff "$file.counted" "$file.lines" | head -n 2 | tr '\n' ' ')"
    rows=$("$JW_COMMAND" convert -q -o csv -e jdk.ActiveSetting "$file" - | wc -l)
    [ "$rows" = $(($(awk '$1 == "jdk.ActiveSetting" { print $2 }' "$file.counted") + 1)) ] || fail "$file as CSV: $rows rows"
    "$JW_COMMAND" summary --strict "$file" >summary.out 2>&1 || fail "summary of $file: $(tail -n 1 summary.out)"
done

# Cut: who wrote it may not have written the types by then, which is told.
for file in own.jfr jvm.jfr; do
    for share in 3 2 1; do
        rm -f mended.jfr
        head -c $(($(stat -c %s "$file") * share / 4)) "$file" >cut.jfr
        if ! "$JW_COMMAND" recover cut.jfr mended.jfr >recover.out 2>&1; then
            grep -qE 'metadata is gone|holds nothing|nothing' recover.out || fail "recover of $file: $(tail -n 1 recover.out)"
            [ "$file$share" != own.jfr3 ] || fail "recover of three quarters of $file: $(tail -n 1 recover.out)"
            continue
        fi
        counts mended.jfr >mended.counted
        # No type has more events than it had.
        awk 'NR == FNR { had[$1] = $2; next } !($1 in had) || had[$1] < $2 { print; exit 1 }' "$file.counted" mended.counted >more.out ||
            fail "recover of $file invented $(cat more.out)"
    done
done

"$JW_COMMAND" split --size 1 own.jfr part-%n.jfr >split.out 2>&1 || fail "split: $(tail -n 1 split.out)"
for part in part-*.jfr; do
    jfr_tool "${reader% *}" "$home" summary "$part"
done
"$JW_COMMAND" merge part-*.jfr merged.jfr >merge.out 2>&1 || fail "merge: $(tail -n 1 merge.out)"
counts merged.jfr >merged.counted
cmp -s own.jfr.counted merged.counted || fail "split and merged: $(diff own.jfr.counted merged.counted | head -n 2 | tr '\n' ' ')"
