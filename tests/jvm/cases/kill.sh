# SIGKILL at random moments: what is in the file is readable by every stock tool, and reaches up to
# shortly before the end. Every fourth is packed while it is written, and unpacked to be looked at. KILLS (20), at moments within KILL_SPAN_MS (6000) after the file is there, one in each of as many parts of it.
# once: what is in the file does not depend on who runs the program.
kills=${KILLS:-20}
span=${KILL_SPAN_MS:-6000}
at_once=6
RANDOM=$((SEED + MAJOR))

ms_now() { echo "$((${EPOCHREALTIME//[.,]/} / 1000))"; }

files=()
kill_one() { # $1: number, $2: moment in ms after its file is there
    local pid file=kill-$1.jfr wanted now began=0
    [ $(($1 % 4)) != 1 ] || file+=.zst
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" "$(agent_flag "event=cpu,interval=10ms,file=$file")" \
        Hot 0 >"kill-$1.out" 2>"kill-$1.err" </dev/null &
    pid=$!
    until [ -s "$file" ]; do
        kill -0 "$pid" || return 0
        sleep 0.02
    done
    # On a busy machine a session has its file long before it begins.
    wanted=$(($(ms_now) + $2))
    while now=$(ms_now) && [ "$now" -lt "$wanted" ]; do
        [ "$began" != 0 ] || [[ $(<"kill-$1.err") != *'Profiling started'* ]] || began=$now
        sleep "0.$(printf %03d $((wanted - now < 100 ? wanted - now : 100)))"
    done
    echo "kill-$1.jfr $now $began $((now - wanted))" >"kill-$1.line"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

for ((k = 0; k < kills; k++)); do
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
    kill_one "$k" $((span * k / kills + RANDOM % (span / kills + 1))) &
done
wait

for ((k = 0; k < kills; k++)); do
    no_crash
    if [ -s "kill-$k.jfr.zst" ]; then
        "$JW_COMMAND" convert "kill-$k.jfr.zst" "kill-$k.jfr" || fail "kill-$k.jfr.zst cannot be unpacked"
    fi
    # Killed before the agent was there: no file, and nothing to read.
    if [ -s "kill-$k.jfr" ]; then
        files+=("kill-$k.jfr")
        cat "kill-$k.line" >>list
    else
        echo "kill-$k: no file yet"
    fi
done
[ $((2 * ${#files[@]})) -ge "$kills" ] || fail "only ${#files[@]} of $kills JVMs lived to begin a file"
# m54: SIGKILL, and all that was complete is read.
check Whole --killed "$COUNTERS" "${files[@]}"
check_once Killed list
# Whole has read each file, and each chunk of it, by the reader that these tools have.
read_killed() { # $1: major, $2: home
    local file
    for file in "${files[0]}" "${files[${#files[@]} / 2]}" "${files[-1]}"; do
        jfr_tool "$1" "$2" summary "$file"
    done
    jfr_tool "$1" "$2" print "${files[0]}"
    jfr_tool "$1" "$2" print "${files[-1]}"
}
each_reader read_killed
