# SIGKILL at random moments: what is in the file is readable by every stock tool, and reaches up to
# shortly before the end.
kills=${KILLS:-20}
at_once=4
RANDOM=$((SEED + MAJOR))

files=()
kill_one() { # $1: number, $2: moment in ms after the start
    local pid
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" "$(agent_flag "event=cpu,interval=10ms,file=kill-$1.jfr")" \
        Hot 0 >"kill-$1.out" 2>"kill-$1.err" </dev/null &
    pid=$!
    sleep "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))"
    echo "kill-$1.jfr $(date +%s%3N)" >"kill-$1.line"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
}

for ((i = 0; i < kills; i += at_once)); do
    for ((k = i; k < i + at_once && k < kills; k++)); do
        kill_one "$k" $((200 + RANDOM % 7800)) &
    done
    wait
done

for ((k = 0; k < kills; k++)); do
    no_crash
    # Killed before the agent was there: no file, and nothing to read.
    if [ -s "kill-$k.jfr" ]; then
        files+=("kill-$k.jfr")
        cat "kill-$k.line" >>list
    else
        echo "kill-$k: no file yet"
    fi
done
[ $((2 * ${#files[@]})) -ge "$kills" ] || fail "only ${#files[@]} of $kills JVMs lived to begin a file"
check Whole --killed "$COUNTERS" "${files[@]}"
check_once Killed list
read_killed() { # $1: major, $2: home
    local file
    for file in "${files[@]}"; do
        jfr_tool "$1" "$2" summary "$file"
    done
    jfr_tool "$1" "$2" print "${files[0]}"
    jfr_tool "$1" "$2" print "${files[-1]}"
}
each_reader read_killed
