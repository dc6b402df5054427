# What the command asks of the outside goes wrong, one call in each of its runs: COMMAND_FAULTS (40, or 20 in a run of all cases) of all places and errors
# that there are, drawn by FAULTS_SEED (31); attach steps, answers, files that it writes and recordings that it reads (tests/faults).
# It does what it was asked to, or ends with a status of its own and says what failed; it never crashes or hangs, does not take a JVM
# that lives for one that has ended, and the JVM lives on with its own result.
# m50, m63: each allocation of a conversion, and each step of an attach.
# once: what fails is between the command and the system.
SEED=${FAULTS_SEED:-31}
COMMAND_FAULTS=${COMMAND_FAULTS:-$([ -n "$HALF" ] && echo 20 || echo 40)}
# Less than the minute that a command gives a JVM that is there and does nothing.
COMMAND_LIMIT_SECONDS=45
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/../faults/sweep.sh"

COMMAND=${JW_FAULTS_COMMAND:?}
[ -f "$COMMAND" ] || not_run "no $COMMAND; make builds it with test-jvm"
JW_COMMAND=$COMMAND

declare -A words before after
words[start]='start -i 5ms -f FILE.jfr PID' after[start]='stop PID'
words[status]='status PID'
words[stop]='stop PID' before[stop]='start -i 5ms -f FILE.jfr PID' after[stop]='stop PID'
words[dump]='dump -f FILE.html PID' before[dump]='start -i 5ms PID' after[dump]='stop PID'
words[show]='dump -o flat=5 PID' before[show]='start -i 5ms PID' after[show]='stop PID'
words[metrics]='metrics PID'
words[jps]='jps'
words[graph]='convert x.jfr FILE.html'
words[stacks]='convert --by endpoint -t x.jfr FILE.collapsed'
words[text]='convert -o flat=10 -I *deep* x.jfr FILE.txt'
words[endpoints]='endpoints x.jfr'
words[rules]='rules dry-run --taken a.rules work.jar'
read -ra commands <<<"${FAULT_COMMANDS:-start status stop dump show metrics jps graph stacks text endpoints rules}"

# A recording to convert, and a JVM to attach to.
live recorded wall
[ -s recorded/x.jfr ] || fail "no recording: $(head -n 2 recorded/err)"
cp recorded/x.jfr x.jfr
# Classes to try rules on.
echo 'include class name=Faulted' >a.rules
"$JDK/bin/jar" cf work.jar -C "$API_CLASSES" .
mkfifo input
exec 9<>input
# It ends when nobody can write to its input any more, itself included.
"$JDK/bin/java" "${FAULT_FLAGS[@]}" "${LATE_AGENTS[@]}" Faulted wait work <input >target.out 2>target.err 9>&- &
target=$!
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT
until grep -q begun target.out; do sleep 0.1; done

# Without a fault, also when the agent was asked too often just now.
quietly() { # $1: file, $2...: words
    local file=$1
    shift
    [ $# -gt 0 ] || return 0
    until run_command "$file" quiet JW_FAULTS_COUNT=/dev/null -- "$@"; [ "$(<quiet.status)" = 0 ] ||
        ! grep -q 'commands in a second' quiet.err; do
        sleep 0.15
    done
}

run_command() { # $1: stem of a file, $2: name for what it says, variables, --, words
    local file=$1 name=$2 status=0 variables=() runner
    shift 2
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    set -- "${@/#PID/$target}"
    env "${variables[@]}" timeout -k 5 "$COMMAND_LIMIT_SECONDS" "$COMMAND" "${@/#FILE/$OUT/$file}" >"$name.out" 2>"$name.err" </dev/null &
    runner=$!
    # Who stops itself is let go on.
    while [[ "${variables[*]}" == *:STOP* ]] && kill -0 "$runner" 2>/dev/null; do
        sleep 0.3
        pkill -CONT -P "$runner" || true
    done
    wait "$runner" || status=$?
    echo "$status" >"$name.status"
}

try() { # $1: command, $2: stem, $3: name, $4...: variables
    local command=$1 file=$2 name=$3 tries=0
    shift 3
    read -ra list <<<"${before[$command]-}"
    quietly "$file" "${list[@]}"
    set -f
    read -ra list <<<"${words[$command]}"
    run_command "$file" "$name" "$@" -- "${list[@]}"
    set +f
    while grep -q 'commands in a second' "$name.err" && [ "$tries" -lt 20 ]; do
        sleep 0.15
        tries=$((tries + 1))
        set -f
        run_command "$file" "$name" "$@" -- "${list[@]}"
        set +f
    done
    read -ra list <<<"${after[$command]-}"
    quietly "$file" "${list[@]}"
}

results_of() { # $1: command, $2: stem: what a conversion made
    case $1 in
    graph | stacks | text) cat "$2".html "$2".collapsed "$2".txt 2>/dev/null ;;
    endpoints | rules) cat "$3.out" ;;
    esac
}

for command in "${commands[@]}"; do
    try "$command" "right-$command" "right-$command"
    [ "$(<"right-$command.status")" = 0 ] || fail "$command fails without a fault: $(head -n 1 "right-$command.err")"
    try "$command" "counted-$command" "counted-$command" JW_FAULTS_COUNT="$OUT/$command.count"
    [ -s "$command.count" ] || fail "$command: no call was counted"
    scenarios+=("$command")
done
all_faults >possible
drawn "$COMMAND_FAULTS" "$SEED" possible >chosen
echo "$(wc -l <possible) faults are possible, $(wc -l <chosen) chosen"

judge_command() { # $1: number, $2: command
    local status complete=yes
    status=$(<"run-$1.status")
    if [ "$(tr -d '\0' <told | wc -l)" = 0 ]; then
        echo "not reached"
        return
    fi
    case $2 in
    dump) [ "$(tail -c 8 "run-$1.html" 2>/dev/null | tr -d '\n')" = '</html>' ] || complete=no ;;
    status | show | metrics | jps) [ -s "run-$1.out" ] || complete=no ;;
    start) [ -s "run-$1.jfr" ] || complete=no ;;
    graph | stacks | text | endpoints | rules) [ "$(results_of "$2" "run-$1" "run-$1")" = "$(results_of "$2" "right-$2" "right-$2")" ] || complete=no ;;
    esac
    if [ "$status" = 124 ]; then
        echo HANG
    elif [ "$status" -ge 126 ]; then
        echo "CRASH status $status"
    elif grep -qE 'has ended|ended before|ended first' "run-$1.err"; then
        echo "WRONG the process has not ended:"
    elif [ "$status" != 0 ] && [ ! -s "run-$1.err" ]; then
        echo "SILENT status $status without a word"
    elif [ "$status" != 0 ] && [ "$complete" = yes ] && [[ $2 == graph || $2 == stacks || $2 == text ]]; then
        echo "WRONG status $status, and the file is there"
    elif [ "$status" = 0 ] && [ "$complete" = no ] && [ ! -s "run-$1.err" ]; then
        echo "SILENT status 0, and not all is there"
    elif [ "$complete" = no ] || [ "$status" != 0 ]; then
        echo told
    else
        echo "went on"
    fi
}

number=0
while read -r command rule; do
    number=$((number + 1))
    rm -f told
    begun=$SECONDS
    try "$command" "run-$number" "run-$number" JW_FAULTS_RULES="$rule,seed=$SEED" JW_FAULTS_TOLD=told
    kill -0 "$target" || fail "the JVM is gone after $command $rule"
    verdict=$(judge_command "$number" "$command")
    echo "$number $command $rule $verdict ($((SECONDS - begun)) s) $([[ $verdict == "went on" ]] || head -n 1 "run-$number.err")"
    [[ $verdict == "went on" ]] && rm -f "run-$number".*
done <chosen >verdicts
exec 9>&-
wait "$target" || fail "the target ended with status $?"
grep -q '^sums ' target.out || fail "the program's result is not there"
cmp <(tail -n 1 target.out) recorded/out || fail "the program's result is another"
no_crash
show_verdicts
