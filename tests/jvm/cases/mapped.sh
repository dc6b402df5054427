# What the agent says of its memory is what the process maps: its mappings are those without a name that are left out of core dumps, of which a JVM has none
# before the first start. Looked at after a session that leaves rows of libraries, while nothing comes and goes.
# once: the agent's own memory.
. "$(dirname "$LIB")/attach.sh"

mapped() { # mappings, KiB of address space, KiB in memory
    awk '$1 ~ /^[0-9a-f]+-/ { is_named = NF > 5 }
        $1 == "Size:" { size = $2 } $1 == "Rss:" { there = $2 }
        $1 == "VmFlags:" && !is_named && / dd( |$)/ { count++; all += size; touched += there }
        END { print count + 0, all + 0, touched + 0 }' "/proc/$target/smaps"
}
said() { # $1: metric, $2: subsystem, or nothing for all; KiB
    awk -v begin="jaywalk_memory_$1{subsystem=\"${2:-}" 'index($1, begin) == 1 { sum += $2 } END { print int((sum + 1023) / 1024) }' metrics
}

begin_target target Loads 600
[ "$(mapped)" = "0 0 0" ] || not_run "this JVM has such mappings of its own: $(mapped)"
jaywalk 0 start -e cpu -i 1ms --features mixed -f mapped.jfr "$target"
for ((i = 0; i < 300; i++)); do # rows are built by the agent's thread, after the first native frame was seen
    jaywalk 0 metrics "$target" >metrics
    [ "$(said bytes unwinding)" -lt 512 ] || break
    sleep 0.2
done
jaywalk 0 stop "$target"
agent_rests "$target"
jaywalk 0 metrics "$target" >metrics
agent_rests "$target"
read -r count all touched <<<"$(mapped)"
# Reserved for `control`: the library's variables, stacks of threads, which come into core dumps.
reserved=$(($(said reserved_bytes) - $(said reserved_bytes control)))
used=$(said bytes) control=$(said bytes control) rows=$(said bytes unwinding)
echo "$count mappings of $all KiB, $touched in memory; told: $reserved KiB of address space, $used used, of which control $control, rows $rows"

[ "$rows" -ge 512 ] || fail "only $rows KiB of rows"
[ "$rows" -le $(($(said charged_bytes unwinding) + 128)) ] || fail "rows use $rows KiB and are charged for $(said charged_bytes unwinding)"
# Parts of pages count as pages in what is mapped.
difference=$((all - reserved))
[ "${difference#-}" -le $((128 + 4 * count)) ] || fail "$all KiB are mapped, and $reserved are told"
# In memory are also blocks of the agent's heap, which has no such mapping, and pages that were read and never written.
[ "$touched" -le "$used" ] || fail "$touched KiB are in memory, of which $used are told"
[ "$used" -le $((touched + control + 2048)) ] || fail "$used KiB are told to be used, $touched are in memory"
end_target target "$(cat target.out)"
