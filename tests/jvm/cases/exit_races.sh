# However and whenever a JVM ends, and whatever the agent is doing then: the status, the output and the crash report are those
# of the program, and the recording is whole, or readable to its last complete chunk where nobody is told of the end.
# EXIT_LIVES (20) lives, a mode of ending after the other; SEED repeats their choices. Rows for docs/reliability.md
# end the log.
# m45, m54: each life, with a status, output and files that are judged; those that nobody is told of among them.
# m44: dlclose as often as anybody likes is one of the ends.
# m26: a start, a dump or a stop is under way when the end comes.
# m58: conservation in each file, also of the last chunk.
# m63: commands to a JVM that starts or ends; they say so, and the program never notices.
# shellcheck source=/dev/null
# once: a JVM tells of its end in one way since JDK 8.
. "$(dirname "$LIB")/attach.sh"
lives=${EXIT_LIVES:-20}
at_once=${EXIT_AT_ONCE:-4}
seed=$((SEED + MAJOR))

# mode, options of the JVM. The statuses are those that the JVM gives without the agent.
modes=(return exit halt uncaught hooks hook-stop hook-start crowd term kill out-of-memory out-of-memory-crash crash native-exit
    native-_exit native-quick_exit native-abort destroy launcher-exit unload)
# Where nobody is told of the end.
is_cut() {
    case $1 in
    kill | out-of-memory* | crash | native-_exit | native-abort) return 0 ;;
    esac
    return 1
}
has_report() { [ "$1" = crash ] || [ "$1" = out-of-memory-crash ]; }

root=$(dirname "$(dirname "$(dirname "$LIB")")")
# A JDK may come with a C library of its own.
loader=$(loader_of "$JDK/bin/java")
linked=(-Wl,--dynamic-linker="$loader")
[[ $loader == /lib* ]] || linked+=(-Wl,--disable-new-dtags,-rpath,"$(dirname "$loader")")
"${CC:-gcc}" -std=gnu11 -O2 -Wall -Wextra -Werror -isystem "$JNI_INCLUDE" -isystem "$JNI_INCLUDE/linux" -o launcher \
    "$root/tests/jvm/native/launcher.c" -ldl "${linked[@]}"

# One life, to its end: status in NAME.status, output in NAME.out, NAME.err. Core files are left as the JVM has them, but
# are limited to nothing.
live() { # $1: name, $2: mode, $3: microseconds, $4: aim, $5: library or nothing, $6: option that brings it, or nothing
    local name=$1 mode=$2 program=(ExitLives "$2" "$3" "$4" "$OUT/$1") flags=() status=0
    [ -z "$5" ] || program+=("$5")
    [ -z "$6" ] || flags+=("$6")
    case $mode in
    out-of-memory) flags+=(-Xmx24m -XX:+ExitOnOutOfMemoryError) ;;
    out-of-memory-crash) flags+=(-Xmx24m -XX:+CrashOnOutOfMemoryError) ;;
    *) flags+=(-Xmx64m) ;;
    esac
    flags+=(-XX:ErrorFile="$OUT/$name.hs_err" -XX:+UseSerialGC "-Djava.class.path=$CLASSES:$JW_JAR" -Djava.library.path="$CLASSES"
        "${LATE_AGENTS[@]}")
    [ "$MAJOR" -lt 22 ] || flags+=(--enable-native-access=ALL-UNNAMED)
    ulimit -c 0
    case $mode in
    destroy) set -- ./launcher "$(libjvm)" destroy "${flags[@]}" -- "${program[@]}" ;;
    launcher-exit) set -- ./launcher "$(libjvm)" exit "${flags[@]}" -- "${program[@]/launcher-exit/destroy}" ;;
    *) set -- "$JDK/bin/java" "${flags[@]}" "${program[@]}" ;;
    esac
    timeout -k 0 -s KILL "${EXIT_WATCHDOG_SECONDS:-100}" bash -c 'echo $$ >"$0.pid"; exec "$@"' "$name" "$@" \
        >"$name.out" 2>"${LIFE_ERR:-$name.err}" </dev/null || status=$?
    [ -e "$name.err" ] || : >"$name.err"
    echo "$status" >"$name.status"
}

# Commands from outside, until the process is gone; what each was answered goes to NAME.cli.
command_until_end() { # $1: name, $2: microseconds before the first one
    local pid status i=0 words
    until [ -s "$1.pid" ]; do sleep 0.01; done
    pid=$(<"$1.pid")
    sleep "$(printf '%d.%06d' $(($2 / 1000000)) $(($2 % 1000000)))"
    until [ -e "$1.status" ]; do
        case $((i % 4)) in
        0) words=(start -i 1ms -f "$1/cli-$i.jfr") ;;
        1) words=(dump -f "$1/copy-cli-$i.jfr") ;;
        2) words=(status) ;;
        3) words=(stop) ;;
        esac
        status=0
        "$JW_COMMAND" "${words[@]}" "$pid" >"$1.cli.new" 2>&1 || status=$?
        echo "$status ${words[0]}: $(tr '\n' '|' <"$1.cli.new")" >>"$1.cli"
        i=$((i + 1))
    done
}

one_life() { # $1: number
    local name=life-$1 mode=${modes[$1 % ${#modes[@]}]} aims=(none none none start dump stop rotation attach) aim how=flag
    local micros event format options wanted client=
    RANDOM=$((seed + 40 * $1))
    aim=${aims[RANDOM % 8]}
    micros=$((RANDOM % 3000 * 1000 + RANDOM % 1000))
    [ $((RANDOM % 4)) != 0 ] || micros=$((RANDOM % 30000))
    events=(cpu,interval=1ms cpu,interval=10ms cpu,interval=200us wall,interval=5ms cpu,interval=1ms,wall=5ms)
    formats=(life.jfr life.jfr life.jfr life.jfr life.collapsed life.html loop)
    event=${events[RANDOM % 5]}
    format=${formats[RANDOM % 7]}
    [ "$aim" != rotation ] || micros=$(((micros / 1000000 + 1) * 1000000 - 40000 + RANDOM % 60000))
    [ $((RANDOM % 5)) != 0 ] || aim=attach
    [ "$aim" != attach ] || [ $((RANDOM % 2)) = 0 ] || how=attach
    options=event=$event,file=$OUT/$name/$format
    [ "$format" != loop ] || options=event=$event,loop=1s,file=$OUT/$name/life-%n.jfr
    mkdir "$name"
    if [ "$aim" = attach ]; then
        command_until_end "$name" $((RANDOM % 2 * micros / 2)) &
        client=$!
    fi
    if [ $how = flag ]; then
        live "$name" "$mode" "$micros" "${aim/attach/none}" "$JW_LIBRARY" "$(agent_flag "$options")"
    else # nothing asks it before it is there
        live "$name" "$mode" "$((micros + 400000))" none "$JW_LIBRARY" ""
    fi
    [ -z "$client" ] || wait "$client" || true
    echo "$name $mode $aim $how $micros $options" >>"lives"
}

run_all() { # $1: function, then an argument for each
    local function=$1
    shift
    while [ $# -gt 0 ]; do
        while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n || true; done
        "$function" "$1" &
        shift
    done
    wait
}

# Who should read stderr does not: neither the session nor the end waits for him.
full_life() {
    mkfifo full
    exec 9<>full
    dd if=/dev/zero of=full bs=4096 count=1000 oflag=nonblock 2>dd.err || true
    mkdir full-stderr
    LIFE_ERR=/dev/fd/9 live full-stderr exit 500000 none "$JW_LIBRARY" "$(agent_flag "interval=1ms,file=$OUT/full-stderr/life.jfr")"
    exec 9>&-
    echo "full-stderr exit none flag 500000 stderr=full" >>lives
}

plain_life() {
    live "plain-$1" "$1" 0 none "" ""
}

run_all plain_life "${modes[@]}"
# shellcheck disable=SC2046
run_all one_life $(seq 0 $((lives - 1)))
full_life
[ "$(wc -l <lives)" = $((lives + 1)) ] || fail "only $(wc -l <lives) of $((lives + 1)) lives came to their end"

# What the program printed: the JVM's own words about a crash or a lack of memory aside.
own_lines() { # $1: file
    grep -avE '^#|^Terminating due to|^Aborting due to|^[[]|^$|^CompilerOracle|^OpenJDK|^Current thread' "$1" || true
}
is_sequence() { # $1: file, $2: mode; the last line may be cut off
    own_lines "$1" | awk -v mode="$2" '
        { wrong = $0 !~ "^line " NR - 1 " of " mode ": "; if (bad) exit 1; bad = wrong; last = $0 }
        END { if (bad && index("line " NR - 1 " of " mode ": ", last) != 1 && last !~ /^line/) exit 1 }'
}

# The reasons that a command may give, of the agent and of the command.
clear='Profiler already started; stop it first|Profiler is not active|the JVM is ending|stopped before it began'
clear+='|more than 10 commands in a second|commands wait already; try again|the command goes on; status tells how far it is|the session has not begun within'
clear+='|the last session is complete in|the samples of this session are kept as a graph|this session writes a recording'
clear+='|the JVM (of process [0-9]+ )?is still starting( or ending(, and offers no JVMTI 1.2)?)?; nothing was done, try again in a moment'
clear+='|SIGSEGV belongs to another handler now|no samples to write|the last session ended by itself'
clear+="|a handler of the last session has not come back yet; try again later|the agent's last thread has not ended yet; try again"
gone='process [0-9]+ (ended before it answered|ended before the agent was done|has ended meanwhile|does not handle SIGQUIT|did not open its attach socket in time)'
gone+='|there is no process [0-9]+|it has ended|it is ending|cannot be looked at|cannot be read: |is not a HotSpot JVM|a zombie|nobody listens at'
gone+='|has ended and waits'

bad() { # $1: name, $2: what
    echo "$(grep "^$1 " lives): $2" | tee -a wrong
}

report_end='^END\.'
[ "$MAJOR" -ge 9 ] || report_end='^elapsed time: '
let_go='the session did not end in time before the JVM'
complete=()
copies=()
cut=()
judge() { # $1: name, $2: mode, $3: aim
    local name=$1 mode=$2 status plain file program=${2/launcher-exit/destroy}
    status=$(<"$name.status")
    plain=$(<"plain-$mode.status")
    [ "$status" = "$plain" ] || bad "$name" "status $status, $plain without the agent: $(tail -n 2 "$name.err" | tr '\n' ' ')"
    is_sequence "$name.out" "$program" || bad "$name" "stdout is not the program's own"
    is_cut "$mode" || [ "$(own_lines "$name.out" | wc -l)" = "$(<"$name.lines")" ] || [ "$mode" = term ] ||
        bad "$name" "of $(<"$name.lines") lines of stdout $(own_lines "$name.out" | wc -l) are there"
    # Of a start that somebody took back the program's stderr is told, too.
    # The time was not enough on a busy machine: what is there is readable, and the program went its way.
    ! grep -q "$let_go" "$name.err" || echo "$name" >>let-go
    is_cut "$mode" || ! grep -E "$complaints" "$name.err" | has_line -vE "stopped before it began\$|$let_go" || bad "$name" "$(grep -m 1 -E "$complaints" "$name.err")"
    if has_report "$mode"; then
        [ -s "$name.hs_err" ] || bad "$name" "no crash report"
        tail -n 3 "$name.hs_err" | has_line -E "$report_end" || bad "$name" "the crash report is cut off"
        [ "$mode" != crash ] || grep -A 1 -m 1 '^# Problematic frame' "$name.hs_err" | has_line libexitlives ||
            bad "$name" "the crash report blames $(grep -A 1 -m 1 '^# Problematic frame' "$name.hs_err" | tail -n 1)"
        [ "$(sed -n 's/^# \(.*ore dump[a-z ]*\).*/\1/p' "$name.out")" = "$(sed -n 's/^# \(.*ore dump[a-z ]*\).*/\1/p' "plain-$mode.out")" ] ||
            bad "$name" "another word about the core file"
    else
        [ ! -e "$name.hs_err" ] || bad "$name" "the JVM crashed: $(grep -m 1 '^# Problematic frame' -A 1 "$name.hs_err" | tail -n 1)"
    fi
    for file in "$name"/* "$name"/.*; do
        [ ! -f "$file" ] || [ "$(stat -c %a "$file")" = 600 ] || bad "$name" "$file: mode $(stat -c %a "$file")"
        case $file in
        */. | */.. | *'/*' | *'/.*') ;;
        */copy-*.jfr) copies+=("$file") ;;
        # Where nobody reads what is said, nor that the time was not enough.
        */*.jfr) if is_cut "$mode" || [ "$name" = full-stderr ] || grep -qsx "$name" let-go; then cut+=("$file"); else complete+=("$file"); fi ;;
        */*.collapsed) ! grep -aqvE '^.+ [0-9]+$' "$file" || bad "$name" "$file is torn: $(tail -n 1 "$file")" ;;
        # Killed between the two calls that put a file in the place of another.
        */.jaywalk-*.tmp)
            is_cut "$mode" || grep -qsx "$name" let-go || bad "$name" "left behind: $file"
            [ "$(head -c 3 "$file")" != FLR ] || cut+=("$file")
            ;;
        */*.html) tail -n 1 "$file" | has_line '</html>$' || bad "$name" "$file is torn" ;;
        *) bad "$name" "left behind: $file" ;;
        esac
    done
    [ ! -e "$name.said" ] || ! grep -avE "(= 0|($clear).*)\$" "$name.said" | has_line -a . ||
        bad "$name" "answer: $(grep -avE "(= 0|($clear).*)\$" "$name.said" | tail -n 1)"
    [ ! -e "$name.cli" ] || ! grep -avE "^(0 .*|[13] .*($clear|$gone).*)\$" "$name.cli" | has_line -a . ||
        bad "$name" "answer: $(grep -avE "^(0 .*|[13] .*($clear|$gone).*)\$" "$name.cli" | tail -n 1)"
}

while read -r name mode aim _; do
    judge "$name" "$mode" "$aim"
done <lives

touch let-go
echo "let go before the end: $(wc -l <let-go) of $(wc -l <lives)"
[ $((4 * $(wc -l <let-go))) -le "$lives" ] || fail "$(wc -l <let-go) of $lives sessions did not end in time"
[ ! -e wrong ] || fail "$(wc -l <wrong) complaints (SEED=$SEED): $(head -n 1 wrong)"
echo "files: ${#complete[@]} complete, ${#copies[@]} copies, ${#cut[@]} of ends that nobody is told of"
[ ${#complete[@]} = 0 ] || check Whole "$COUNTERS" "${complete[@]}"
[ ${#copies[@]} = 0 ] || check Whole --running "$COUNTERS" "${copies[@]}"
[ ${#cut[@]} = 0 ] || check Whole --either "$COUNTERS" "${cut[@]}"

awk '{ count[$2]++; aims[$2 " " $3]++; how[$2] += $4 == "attach" }
    END { for (mode in count) printf "row | %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", mode, count[mode], aims[mode " none"],
        aims[mode " start"], aims[mode " dump"], aims[mode " stop"], aims[mode " rotation"], aims[mode " attach"], how[mode] }' lives | sort
