# lib.sh: what the cases of tests/jvm have in common. tests/jvm/run sets, before a case is started:
#
#   JDK, MAJOR    home and version of the JDK under test
#   READERS       `major home`, a line each: the JDKs whose tools read the recordings
#   HALF          0 or 1 where another JDK does the other half of what can be halved; else empty
#   JNI_INCLUDE   where jni.h is, of a JDK that has it
#   OUT           an empty directory for the files and logs of the case
#   JW_LIBRARY, JW_COMMAND, JW_JAR, CLASSES, API_CLASSES (what needs the jar), PROBE_CLASSES, CHECKER, COUNTERS
#
# A case ends by itself (ok), through `fail` or through `not_run`. Sourced, never run.
set -euo pipefail

cd "$OUT"

fail() {
    echo "$*" >"$OUT/why"
    echo "FAILED: $*"
    exit 1
}

not_run() {
    echo "$*" >"$OUT/why"
    exit 77
}

# A part of a case that this machine does not allow; the case goes on.
skip_part() {
    echo "$*" >>"$OUT/skipped"
}

# Has stdin a line that grep finds with these arguments? It is read to its end: grep -q ends at the first such line (as grep does that writes
# to /dev/null), and whoever still writes then is killed by SIGPIPE, which pipefail takes for an answer.
has_line() { grep "$@" | cat >/dev/null; }

# Flags that some JDKs have not: no core of a crash; agents come later without a warning; compilers stay.
NO_CORE=(-XX:-CreateCoredumpOnCrash)
LATE_AGENTS=(-XX:+EnableDynamicAgentLoading)
STEADY_COMPILERS=(-XX:-UseDynamicNumberOfCompilerThreads)
if [ "$MAJOR" -lt 9 ]; then
    NO_CORE=() LATE_AGENTS=()
    ulimit -S -c 0
fi
[ "$MAJOR" -ge 11 ] || STEADY_COMPILERS=()
JAVA_FLAGS=(-Xmx512m "${NO_CORE[@]}" -XX:ErrorFile="$OUT/hs_err_%p.log"
    -XX:CompileCommand=quiet -cp "$CLASSES" -Djava.library.path="$CLASSES")
if [ "$MAJOR" -ge 11 ] && [ "$MAJOR" -lt 15 ]; then
    JAVA_FLAGS+=(-XX:+UnlockExperimentalVMOptions) # ZGC was an experiment
fi
if [ "$MAJOR" -ge 22 ]; then
    JAVA_FLAGS+=(--enable-native-access=ALL-UNNAMED)
fi

agent_flag() { # $1: options after `start`
    echo "-agentpath:$JW_LIBRARY=start,$1"
}

# Runs java with these arguments; output in NAME.out and NAME.err. Fails on a crash report.
run_java() { # $1: name, $2: expected status, then arguments of java
    local name=$1 expected=$2 status=0
    shift 2
    echo "+ java $*"
    "$JDK/bin/java" "${JAVA_FLAGS[@]}" "$@" >"$name.out" 2>"$name.err" </dev/null || status=$?
    no_crash
    [ "$status" = "$expected" ] ||
        fail "$name: java ended with status $status, not $expected: $(last_words "$name.err")"
}

# What a failed program had to say: what it threw, before the lines that the agent ends with.
last_words() { # $1: file
    { grep -m 1 -A 1 '^Exception in thread' "$1" || true; tail -n 3 "$1"; } | tr '\n' ' '
}

no_crash() {
    local report
    report=$(find "$OUT" -name 'hs_err_*.log' -print -quit)
    [ -z "$report" ] || fail "the JVM crashed: $(grep -m 1 '^# Problematic frame' -A 1 "$report" |
        tail -n 1) ($report)"
}

# Runs java under the agent, which writes $1.jfr (or the file that the options name).
profile() { # $1: name, $2: options after `start`, then arguments of java
    local name=$1 options=$2
    shift 2
    run_java "$name" 0 "$(agent_flag "$options")" "$@"
}

# JVMs that live for a second or two: compiled at once and without threads for what they do not live to need.
READER_FLAGS=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "-Xmx${READER_HEAP:-1g}")

compile_java() { # arguments of javac
    "$JDK/bin/javac" "${READER_FLAGS[@]/#/-J}" "$@"
}

# Of lines, or of arguments, those of the half that is done here.
half_of_lines() { awk -v half="${HALF:-}" 'half == "" || NR % 2 == half'; }
half_of() { printf '%s\n' "$@" | half_of_lines; }

# Runs a function for each reader, all at the same time, and shows what each said.
each_reader() { # $1: function of major and home, then its further arguments
    local major home readers=() reader status=0
    while read -r major home; do
        TOOL=tool-$major "$1" "$major" "$home" "${@:2}" >"reader-$major.out" 2>&1 &
        readers+=("$!" "reader-$major.out")
    done <<<"$READERS"
    set -- "${readers[@]}"
    while [ $# -gt 0 ]; do
        reader=$1
        wait "$reader" || status=$?
        cat "$2"
        shift 2
    done
    [ "$status" = 0 ] || exit "$status"
}

# Runs a checker of tests/jvm/check on each reader; its output goes to the log.
check() { # $1: class, then its arguments
    each_reader run_checker "$@"
}

run_checker() { # $1: major, $2: home, $3: class, then its arguments
    local major=$1 home=$2
    shift 2
    echo "+ check on JDK $major: $*"
    "$home/bin/java" "${READER_FLAGS[@]}" -cp "$CHECKER" "$@" >"check-$major.out" 2>&1 || {
        cat "check-$major.out"
        fail "$1, read by JDK $major: $(grep -m 1 -E '^PROBLEM|^Exception|Error' "check-$major.out")"
    }
    cat "check-$major.out"
}

# The same, once: for checkers whose answer cannot depend on the reader. What it says is in check.out, too.
check_once() {
    local reader
    reader=$(one_reader)
    READERS=$reader check "$@"
    cp "check-${reader%% *}.out" check.out
}

# A JDK that runs checkers, which are of the language level of JDK 17: the one under test, where it is not older.
one_reader() {
    if [ "$MAJOR" -ge 17 ]; then echo "$MAJOR $JDK"; else head -n 1 <<<"$READERS"; fi
}

# What loads a program and its libraries.
loader_of() { readelf -lW "$1" | sed -n 's/.*Requesting program interpreter: \(.*\)\]$/\1/p'; }

libjvm() { find -L "$JDK" -path '*/server/libjvm.so' -print -quit; }

# From JDK 26 on it gives ids of methods that cannot be read.
has_agct() { [ "$MAJOR" -le 25 ]; }

# Where perf_events may not be had timers take their place, and perf.err says why.
has_perf() {
    "$JDK/bin/java" "$(agent_flag event=cpu-clock,file=perf-try.jfr)" -version >/dev/null 2>perf.err || fail "java -version: $(last_words perf.err)"
    ! grep -q 'in place of perf_events' perf.err
}

# Every tool that reads a recording whole, of each reader. All of it is printed by the JDK under test, where that is a reader.
whole() { # $1: [--killed], then files
    each_reader read_whole "$@"
}

SAMPLE_TYPES='(jdk.Execution|jdk.NativeMethod|jaywalk.WallClock|jaywalk.Counter)Sample'

# A program that is over in a moment may have been in no sample.
has_samples() { # $1: recording
    "$JW_COMMAND" summary "$1" | has_line -E "^ *$SAMPLE_TYPES "
}

read_whole() { # $1: major, $2: home, then arguments of `whole`
    local major=$1 home=$2 flag=() file
    shift 2
    if [ "$1" = --killed ]; then
        flag=(--killed)
        shift
    fi
    run_checker "$major" "$home" Whole "${flag[@]}" "$COUNTERS" "$@"
    for file in "$@"; do
        jfr_tool "$major" "$home" summary "$file"
        [ "$major" = "$MAJOR" ] || ! grep -q "^$MAJOR " <<<"$READERS" || continue
        jfr_tool "$major" "$home" print "$file"
        [ "${flag[*]}" = --killed ] || ! has_samples "$file" || grep -qE "$SAMPLE_TYPES \\{" "$TOOL.out" ||
            fail "jfr print of JDK $major shows no sample of $file"
    done
}

jfr_tool() { # $1: major, $2: home, then arguments of jfr; output in tool.out (of each reader: $TOOL.out)
    local major=$1 home=$2 out=${TOOL:-tool}
    shift 2
    run_jfr "$home" "$@" >"$out.out" 2>"$out.err" || {
        head -n 5 "$out.out" "$out.err"
        fail "jfr $* of JDK $major: $(head -n 1 "$out.err")"
    }
    ! grep -qiE 'exception|could not|corrupt' "$out.err" ||
        fail "jfr $* of JDK $major complains: $(head -n 1 "$out.err")"
}

# The JDK's own tool. Where a package leaves out its launcher, a script may stand in its place, which takes no flags for the JVM.
run_jfr() { # $1: home, then arguments of jfr
    local home=$1
    shift
    if [ "$(head -c 2 "$home/bin/jfr")" = '#!' ]; then
        "$home/bin/java" "${READER_FLAGS[@]}" -m jdk.jfr/jdk.jfr.internal.tool.Main "$@"
    else
        "$home/bin/jfr" "${READER_FLAGS[@]/#/-J}" "$@"
    fi
}

# Signals against outcomes: at most so many percent lost (default: a tenth).
ledger() { # $1: file, $2: percent
    check_once Ledger "$COUNTERS" "$1" "${2:-0.1}"
}

# On a good day the agent has nothing to complain of.
complaints='^\[jaywalk\] (warning|error): '
silent() { # $1: name of a run
    ! grep -qE "$complaints" "$1.err" || fail "$1: $(grep -m 1 -E "$complaints" "$1.err")"
}

# Delays of safepoints that name a thread outside of these methods, rightly: it waited for a processor most of that time, as the event says, or for a
# quarter, and had one for a quarter at most (the wait before it was first looked at is not known). Where a dozen processes want the machine some
# threads are late for that alone.
starved_but() { # $1: recording, $2: class, $3: pattern of methods
    "$JW_COMMAND" convert -q -o jsonl -e jaywalk.SafepointDelay "$1" "$1.jsonl" || fail "$1: no delays"
    awk -v known="\"class\":\"$2\",\"method\":\"$3\"" '/"lateIn":"J/ && $0 !~ known {
        split($0, reach, /"timeToReach":/); split($0, wait, /"waitTime":/); hasCpu = split($0, cpu, /"cpuTime":/) > 1
        n += wait[2] * 2 >= reach[2] + 0 || (hasCpu && wait[2] * 4 >= reach[2] + 0 && cpu[2] * 4 <= reach[2] + 0)
    } END { print n + 0 }' "$1.jsonl"
}
