# cell.sh: one run of the chaos program under the agent, watched from outside. Sourced by tests/jvm/cases/chaos.sh after lib.sh.
#
#   chaos_cell NAME SECONDS [arguments of Chaos]
#
# in a directory of that name: the program with collector $GC, flags $FLAGS, seed $SEED, interval $INTERVAL, depth of stacks $DEPTH and options $BESIDE,
# a mild client that asks for its state and copies its recording, a limit of time. What must not be is told a line each in NAME/findings, its
# first word one of crash, hang, violation, unreadable, control, status, complaint; empty: nothing. NAME/figures has what
# was counted.
# CHAOS_EVENT (cpu): what samples CPU time. CHAOS_JAVA_FLAGS, CHAOS_ENV: further flags of java, and words before it; CHAOS_LIMIT_SECONDS: the limit; CHAOS_SPOIL: a
# function that is called with the recording before it is read; CHAOS_UNREAD=1: it is not read; CHAOS_PATIENCE_SECONDS (60): what makes no
# progress, or gives no answer, for so long hangs.

CHAOS_DIR=$(dirname "$LIB")/../chaos
CHAOS_CLASSES=$(dirname "$CLASSES")/chaos
patience=${CHAOS_PATIENCE_SECONDS:-60}

finding() { # $1: kind, then text
    echo "$*" | tee -a "$dir/findings"
}

flags_of() { # $1: name of a set of flags
    case $1 in
    plain) ;;
    tinycc)
        echo -XX:ReservedCodeCacheSize=4m -XX:+UseCodeCacheFlushing
        [ "$MAJOR" -lt 9 ] || echo -XX:CompileThresholdScaling=0.1
        ;;
    jfr) echo "-XX:StartFlightRecording=filename=$dir/jvm.jfr,settings=profile,disk=true" ;;
    xcheck) echo -Xcheck:jni ;;
    # Optimisations in another order each time, safepoints and handshakes all the time; what a JDK has not of it, it passes over.
    deopt)
        echo -XX:+UnlockDiagnosticVMOptions -XX:+IgnoreUnrecognizedVMOptions "-Xbootclasspath/a:$dir/boot" -XX:+WhiteBoxAPI \
            -XX:+StressLCM -XX:+StressGCM -XX:+StressIGVN -XX:+StressCCP -XX:+SafepointALot -XX:+HandshakeALot \
            -XX:GuaranteedSafepointInterval=10
        ;;
    *) fail "no flags $1: plain, tinycc, jfr, xcheck, deopt" ;;
    esac
}

# Everything that outsiders can see of a process that hangs; then its end.
dump_state() { # $1: process
    local task file
    {
        echo "== jcmd"
        timeout "${CHAOS_JCMD_SECONDS:-15}" "$JDK/bin/jcmd" "$1" Thread.print || echo "jcmd: status $?"
        for task in /proc/"$1"/task/*; do
            echo "== ${task##*/} $(cat "$task/comm")"
            for file in stat wchan syscall status stack; do
                echo "-- $file: $(cat "$task/$file" 2>&1)"
            done
        done
        echo "== gdb"
        ! command -v gdb >/dev/null || timeout 60 gdb -batch -p "$1" -ex 'thread apply all bt 40' </dev/null
    } >"$dir/state" 2>&1
    kill -CONT "$1" 2>/dev/null
    kill -ABRT "$1" 2>/dev/null
    local i
    for ((i = 0; i < 100; i++)); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$1" 2>/dev/null
}

has_said() { # $1: pattern
    grep -qaE "$1" "$dir/out" 2>/dev/null
}

# The client: a command every few seconds, and a copy of the recording at times, which must be readable.
ask() { # $1: process
    local number=0 status what
    # Before that the JVM may not take commands yet: on a busy machine it begins for seconds.
    while kill -0 "$1" 2>/dev/null && ! has_said '^CHAOS begins'; do
        sleep 0.2
    done
    while kill -0 "$1" 2>/dev/null && ! has_said '^(CHAOS ended|HANG)'; do
        sleep "$((1 + (SEED + number) % 3))"
        number=$((number + 1))
        status=0
        if [ $((number % ask_every)) = 0 ]; then
            what=dump
            timeout "$patience" "$JW_COMMAND" dump -f "$dir/copy.jfr" "$1" >"$dir/ask.out" 2>&1 || status=$?
        else
            what=status
            timeout "$patience" "$JW_COMMAND" status "$1" >"$dir/ask.out" 2>&1 || status=$?
        fi
        has_said '^(CHAOS ended|HANG)' && break
        kill -0 "$1" 2>/dev/null || break
        [ "$status" = 0 ] || finding control "$what ended with status $status: $(tail -n 1 "$dir/ask.out")"
        [ "$status" != 0 ] || [ "$what" = status ] || check_copy
    done
    echo "asked $number" >>"$dir/figures"
}

check_copy() {
    [ -s "$dir/copy.jfr" ] || finding unreadable "the copy is missing: $(tail -n 1 "$dir/ask.out")"
    run_jfr "$JDK" summary "$dir/copy.jfr" >"$dir/copy.out" 2>&1 ||
        finding unreadable "copy.jfr: $(head -n 1 "$dir/copy.out")"
    [ -f "$dir/early.jfr" ] || mv "$dir/copy.jfr" "$dir/early.jfr"
}

chaos_cell() {
    local name=$1 seconds=$2 pid status=0 waited=0 limit flags ask_every dir=$OUT/$1
    shift 2
    mkdir -p "$dir/scratch"
    : >"$dir/findings"
    : >"$dir/figures"
    limit=${CHAOS_LIMIT_SECONDS:-$((seconds * 3 / 2 + 240))}
    ask_every=$((4 + seconds / 40))
    if [ "$FLAGS" = deopt ]; then
        "$JDK/bin/javac" -d "$dir/boot" "$CHAOS_DIR/whitebox/jdk/test/whitebox/WhiteBox.java" || fail "WhiteBox.java is not compiled"
    fi
    read -ra flags <<<"$(flags_of "$FLAGS")"
    # JDK 8 and 11 let children have what their selectors wait with; JDK 8 calls without a look for exceptions.
    local environment=(CHAOS_FLAGS="$FLAGS") own='^$'
    [ "$MAJOR" -ge 17 ] || environment+=(CHAOS_SELECTORS=1)
    [ "$MAJOR" -ge 9 ] || own='exceptions when required to from CallStaticObjectMethod'
    # What the JVM says (of handlers, of a full code cache) goes to stderr: on stdout it would tear the lines of the program.
    flags=("${JAVA_FLAGS[@]}" -XX:ErrorFile="$dir/hs_err_%p.log" "${NO_CORE[@]/-Create/+Create}" -XX:+UnlockExperimentalVMOptions
        -XX:+DisplayVMOutputToStderr
        "-XX:+Use${GC}GC" "${flags[@]}" -javaagent:"$CHAOS_CLASSES/agent.jar" -cp "$CHAOS_CLASSES"
        -Djava.library.path="$CHAOS_CLASSES" -Dchaos.looked.at.seconds=90 "-Dchaos.watchdog.seconds=$patience" ${CHAOS_JAVA_FLAGS:-})
    local agent="event=${CHAOS_EVENT:-cpu},interval=$INTERVAL,wall=1ms${BESIDE:+,$BESIDE},chunktime=3s,jstackdepth=$DEPTH,quiet,file=$dir/chaos.jfr"
    echo "+ $name: $GC $FLAGS, seed $SEED, interval $INTERVAL, depth $DEPTH, $BESIDE, $seconds s: java ${flags[*]} Chaos $*"
    (
        cd "$dir" || exit 1
        ulimit -c "$(ulimit -H -c)"
        exec env --default-signal "${environment[@]}" ${CHAOS_ENV:-} "$JDK/bin/java" "$(agent_flag "$agent")" "${flags[@]}" Chaos \
            --seconds "$seconds" --seed "$SEED" --intensity "${CHAOS_INTENSITY:-1}" --directory "$dir/scratch" "$@"
    ) >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
    ask "$pid" &
    local asker=$!
    while kill -0 "$pid" 2>/dev/null; do
        if has_said '^HANG'; then
            finding hang "$(grep -am 1 '^HANG' "$dir/out")"
            dump_state "$pid"
            break
        fi
        if [ "$waited" -ge "$limit" ]; then
            finding hang "still running after $limit s"
            dump_state "$pid"
            break
        fi
        sleep 1
        waited=$((waited + 1))
    done
    wait "$pid" || status=$?
    wait "$asker" || true
    check_end "$status"
    check_recordings
    cat "$dir/figures"
}

# On a machine that is too busy for the last chunk within the time that the end of a JVM has for it, its recording is that of a
# killed one, as promised; or whole, where the process lived for long enough after that.
unfinished='the session did not end in time before the JVM; its recording holds what was written until the last second'

# What the program itself and the JVM said.
check_end() { # $1: status
    local report line
    # m01, m02, m03: no sample at an unlucky place ends the JVM
    for report in "$dir"/hs_err_*.log; do
        [ ! -f "$report" ] || grep -q '^hang' "$dir/findings" ||
            finding crash "$(grep -m 1 '^# Problematic frame' -A 1 "$report" | tail -n 1) ($report)"
    done
    while read -r line; do
        finding violation "$line"
    done < <(grep -a '^VIOLATION' "$dir/out")
    if [ ! -s "$dir/findings" ] && { [ "$1" != 0 ] || ! has_said '^CHAOS ended: 0 violations'; }; then
        finding status "java ended with $1: $(tail -n 1 "$dir/err")"
    fi
    # -Xcheck:jni finds nothing
    while read -r line; do
        finding complaint "$line"
    done < <(grep -ahE "$complaints|^(WARNING|FATAL ERROR) in native method" "$dir/err" "$dir/out" | grep -vF "$unfinished" | grep -v "$own")
    sed -n 's/^JVM \(loaded\|unloaded\|threads\) /\1 /p' "$dir/out" >>"$dir/figures"
    echo "storms $(grep -ac '^STORM [^:]*: [1-9]' "$dir/out")" >>"$dir/figures"
    echo "turns $(awk '/^STORM / { n += $3 } END { print n + 0 }' "$dir/out")" >>"$dir/figures"
}

# Every recording, whole as far as it is not too long for that; conservation in every chunk.
check_recordings() {
    local file killed=
    [ -z "${CHAOS_UNREAD:-}" ] || return 0
    [ ! -s "$dir/findings" ] || ! grep -qE '^(hang|crash|status)' "$dir/findings" || killed=--killed
    if grep -qF "$unfinished" "$dir/err"; then
        echo "not in time: $unfinished"
        killed=${killed:---either}
    fi
    [ -f "$dir/chaos.jfr" ] || {
        finding unreadable "there is no recording"
        return
    }
    [ -z "${CHAOS_SPOIL:-}" ] || "$CHAOS_SPOIL" "$dir/chaos.jfr"
    (
        cd "$dir" && OUT=$dir && check_once ChaosRecording $killed "$COUNTERS" chaos.jfr
    ) >"$dir/chaos-check" 2>&1 || finding unreadable "$(told_by chaos-check)"
    sed -n 's/^\([a-zA-Z ]*\): \([0-9]*\)$/\1 \2/p' "$dir/chaos-check" >>"$dir/figures"
    for file in chaos early; do
        [ -f "$dir/$file.jfr" ] || continue
        (
            cd "$dir" && OUT=$dir && each_reader read_cell "$file.jfr" $killed
        ) >"$dir/$file-read" 2>&1 || finding unreadable "$(told_by "$file-read")"
    done
    # m15: the JVM's own recorder beside
    if [ -f "$dir/jvm.jfr" ] && [ -z "$killed" ]; then
        (
            cd "$dir" && OUT=$dir && TOOL=jvm jfr_tool "$MAJOR" "$JDK" summary jvm.jfr
        ) >"$dir/jvm-read" 2>&1 || finding unreadable "$(told_by jvm-read)"
    fi
}

told_by() { # $1: a check's output
    echo "$1: $(grep -m 1 -E '^(FAILED|PROBLEM)' "$dir/$1" || tail -n 1 "$dir/$1")"
}

# As the stock tool and as this project's reader see it: all of it where it is short, else its first and last chunks.
read_cell() { # $1: major, $2: home, $3: file, $4: [--killed|--either]
    local major=$1 home=$2 file=$3 flag=()
    [ -z "${4:-}" ] || flag=("$4")
    [ "$file" != early.jfr ] || flag=(--running)
    jfr_tool "$major" "$home" summary "$file"
    if [ "$(stat -c %s "$file")" -le "$WHOLE_BYTES" ]; then
        run_checker "$major" "$home" Whole "${flag[@]}" "$COUNTERS" "$file"
        return
    fi
    local parts=parts-$major
    mkdir "$parts"
    run_jfr "$home" disassemble --max-chunks 4 --output "$parts" "$file" >"$parts.out" ||
        fail "jfr disassemble of JDK $major: $(tail -n 1 "$parts.out")"
    local all=("$parts"/*.jfr)
    run_checker "$major" "$home" Whole --killed "$COUNTERS" "${all[0]}" "${all[${#all[@]} / 2]}"
    [ "$file" = early.jfr ] || run_checker "$major" "$home" Whole "${flag[@]}" "$COUNTERS" "${all[-1]}"
    rm -rf "$parts"
}
WHOLE_BYTES=$((60 << 20))

figure() { # $1: name, $2: of which cell
    sed -n "s/^$1 //p" "$OUT/$2/figures" | tail -n 1
}

found() { # $1: kinds, $2: of which cell
    grep -cE "^($1) " "$OUT/$2/findings"
}

chaos_row() { # $1: name of a cell, $2: seconds
    local result=ok
    [ ! -s "$OUT/$1/findings" ] || result=failed
    printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s of %s | %s of %s | %s | %s | %s | %s, %s | %s | %s | %s | %s | %s |\n' "$MAJOR" "$GC" "$FLAGS" \
        "$2" "$INTERVAL" "$(figure signals "$1")" "$(figure samples "$1")" "$(figure lost "$1")" \
        "$(figure 'without a Java stack' "$1")" "$(figure samples "$1")" "$(figure unnamed "$1")" "$(figure frames "$1")" \
        "$(figure loaded "$1")" "$(figure unloaded "$1")" "$(figure threads "$1")" "$(figure storms "$1")" "$(figure turns "$1")" \
        "$(found crash "$1")" "$(found hang "$1")" "$(found 'violation|control|status|complaint' "$1")" \
        "$(found unreadable "$1")" "$result"
}
