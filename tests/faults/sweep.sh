# sweep.sh: short lives of a JVM in which one thing that jaywalk asks of the outside goes wrong (tests/faults/calls.c).
# Sourced by the cases faults and faults_command of tests/jvm, after lib.sh; never run.
#
#   scenario NAME     a run without a fault that counts who calls what, NAME.count, and two more to compare with
#   all_faults, all_kills     what can go wrong in the scenarios so far: lines `SCENARIO RULE`, in files
#   drawn N SEED FILE         N of its lines, each function and error before any comes twice
#   inject FILE       does all of them, $FAULT_JOBS (2) at a time: a line each in `results`, `NUMBER SCENARIO RULE OUTCOME why`
#   read_results      reads the recordings and ends with the table; fails on any outcome that must not be
#
# Outcomes: `went on` (nothing is missing), `told` (something is, and a message says so), `killed`, `not reached` (no call was
# that one; not counted as an injection); CRASH, HANG, NOSTART, WRONG (result or status of the program), BADFILE, SILENT.
[ -f "${JW_FAULTS_LIBRARY:?}" ] || not_run "no $JW_FAULTS_LIBRARY; make builds it with test-jvm"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

FAULT_JOBS=${FAULT_JOBS:-2}
FAULT_LIMIT_SECONDS=${FAULT_LIMIT_SECONDS:-150}
FAULT_FLAGS=(-Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx64m "${NO_CORE[@]}"
    -XX:ErrorFile=hs_err.log -cp "$API_CLASSES:$JW_JAR")
[ "$MAJOR" -lt 24 ] || FAULT_FLAGS+=(--enable-native-access=ALL-UNNAMED)

declare -A agent_of steps_of
agent_of[jfr]='start,event=cpu,interval=1ms,file=x.jfr' steps_of[jfr]='work'
agent_of[graph]='start,event=cpu,interval=1ms,file=x.html' steps_of[graph]='work'
agent_of[wall]='start,event=cpu,interval=2ms,wall=5ms,service=shop,file=x.jfr' steps_of[wall]='context'
agent_of[itimer]='start,event=itimer,interval=5ms,file=x.jfr' steps_of[itimer]='work=100'
agent_of[agct]='start,event=cpu,interval=2ms,cstack=agct,file=x.jfr' steps_of[agct]='work'
agent_of[perf]='start,event=cpu-clock,interval=1ms,file=x.jfr' steps_of[perf]='work'
agent_of[timers]='start,event=cpu,interval=10ms,file=x.jfr' steps_of[timers]='work=150'
agent_of[chunks]='start,event=cpu,interval=1ms,chunksize=256k,file=x.jfr'
steps_of[chunks]='work attribute=a dump,file=y.jfr work attribute=b dump,file=z.jfr work'
agent_of[session]='version'
steps_of[session]='start,event=cpu,interval=1ms,log=log.txt,file=x.jfr work dump,file=y.jfr status stop resume,file=z.jfr work stop metrics'
agent_of[kept]='version'
steps_of[kept]='start,event=cpu,interval=1ms work dump,file=y.html stop resume work stop,file=z.collapsed dump,file=w.txt'
agent_of[objects]='start,event=cpu,interval=5ms,alloc=16k,live=1024,file=x.jfr'
steps_of[objects]='keep=400 work dump,file=y.jfr keep=400 work'
agent_of[late]='start,event=cpu,interval=5ms,wall=10ms,ttsp=2ms,file=x.jfr' steps_of[late]='late=20 work dump,file=y.jfr late=10'
agent_of[locks]='start,event=cpu,interval=5ms,lock=10us,file=x.jfr' steps_of[locks]='lock=6 work dump,file=y.jfr lock=2 stop resume,file=z.jfr lock=6 work'
agent_of[all]='version'
steps_of[all]='start,event=cpu,interval=2ms,wall=5ms,alloc=16k,live,lock=10us,ttsp=2ms,file=x.jfr keep=400 late=10 lock=4 dump,file=y.jfr stop resume,file=z.jfr keep=400 lock=4 work stop'
agent_of[probes]='version'
steps_of[probes]='start,event=cpu,interval=5ms,file=x.jfr ATTACH work probe-list DETACH work=20 ATTACH sleep=300 work=20 DETACH stop'
steps_of[probes]=${steps_of[probes]//ATTACH/"probe-attach,probe=$PROBE_CLASSES/InFaulted.class"}
steps_of[probes]=${steps_of[probes]//DETACH/probe-detach,name=in-faulted}
agent_of[loop]='start,event=cpu,interval=1ms,loop=1s,file=x-%n.jfr' steps_of[loop]='work sleep=2000 work'
agent_of[long]='start,event=cpu,interval=5ms,wall=10ms,chunksize=256k,file=x.jfr'
steps_of[long]='work attribute=a sleep=1100 work dump,file=y.jfr attribute=b sleep=1100 context'

# The JVM under the agent, in its own directory; what became of it goes to out, err, status.
live() { # $1: directory, $2: scenario, then variables of the environment
    local place=$1 scenario=$2 status=0 steps pid
    shift 2
    read -ra steps <<<"${steps_of[$scenario]}"
    mkdir -p "$place"
    (
        cd "$place" || exit 98
        exec env "$@" timeout -s QUIT -k 5 "$FAULT_LIMIT_SECONDS" "$JDK/bin/java" "${FAULT_FLAGS[@]}" \
            "-agentpath:$JW_FAULTS_LIBRARY=${agent_of[$scenario]}" Faulted "${steps[@]}"
    ) >"$place/out" 2>"$place/err" </dev/null &
    pid=$!
    if [[ "$*" == *:STOP* ]]; then
        while kill -0 "$pid" 2>/dev/null; do
            sleep 0.3
            kill -CONT -- $(pgrep -P "$pid") 2>/dev/null || true
        done
    fi
    wait "$pid" 2>/dev/null || status=$?
    echo "$status" >"$place/status"
}

# Who asks through the Java API is told in the answer, and nowhere else.
complained() { # $1: directory
    grep -hE '^(\[jaywalk\] (warning|error)|(answer to [^ ]+: )?warning): |^OpenJDK .* warning: ' \
        "$1/err" "$1/log.txt" 2>/dev/null || true
}

scenario() { # $1: name
    live "right-$1" "$1" JW_FAULTS_COUNT="$OUT/$1.count"
    live "right-$1-2" "$1" JW_FAULTS_COUNT=/dev/null
    live "right-$1-3" "$1" JW_FAULTS_COUNT=/dev/null
    local run
    for run in "right-$1" "right-$1-2" "right-$1-3"; do
        [ "$(cat "$run/status")" = 0 ] || fail "$run: status $(cat "$run/status") without a fault: $(head -n 2 "$run/err")"
        [ -z "$(complained "$run")" ] || fail "$run: without a fault: $(complained "$run")"
        list_files "$run" 0 "$1" no >>list
    done
    [ -s "$1.count" ] || fail "$1: no call was counted"
    scenarios+=("$1")
}
scenarios=()

list_files() { # $1: directory, $2: number, $3: scenario, $4: said
    local file
    for file in "$1"/*.jfr; do
        [ ! -f "$file" ] || echo "$2 $3 $4 $file"
    done
}

# Each place once with each error, and each function from some call on for ever.
all_faults() {
    local scenario
    for scenario in "${scenarios[@]}"; do
        awk -v scenario="$scenario" '{
            for (i = 4; i <= NF && $i !~ /^\+/; i++)
                if ($i !~ /^(-|KILL|TORN)$/) {
                    print scenario, $1 ":" $i "@1/" $2
                    last[$1 " " $i] = last[$1 " " $i] + $3
                }
        }
        END { for (each in last) {
            split(each, word, " ")
            # What comes to an end by itself, or is the answer for a thread that has ended, does not go on for ever.
            if (word[2] !~ /^(STOP|SLOW|EINTR|ESRCH|JUMP.*)$/ && word[1] !~ /^(futex|clock_gettime.thread)$/)
                for (at = 1; at <= last[each]; at = at * 3 + 1)
                    print scenario, word[1] ":" word[2] "@" at "+"
        } }' "$scenario.count"
    done
}

# Before and in the middle of every write of a file, and what puts it in place.
all_kills() {
    local scenario
    for scenario in "${scenarios[@]}"; do
        awk -v scenario="$scenario" '$0 ~ / (KILL|TORN)/ { count[$1] += $3; if ($0 ~ / TORN/) torn[$1] = 1 }
            END { for (name in count) for (at = 1; at <= count[name]; at++) {
                print scenario, name ":KILL@" at
                if (name in torn) print scenario, name ":TORN@" at
            } }' "$scenario.count"
    done
}

drawn() { # $1: how many, $2: seed, $3: file
    sort -u "$3" | awk -v seed="$2" 'BEGIN { srand(seed) } {
        split($2, part, "@")
        print rand(), part[1], $0
    }' | sort -n | awk '{ print ++seen[$2], $1, $3, $4 }' | sort -k1n -k2n | awk -v most="$1" 'NR <= most { print $3, $4 }'
}

inject() { # $1: file of lines `SCENARIO RULE`
    local job
    nl -ba -w 1 -s ' ' "$1" >plan
    for ((job = 0; job < FAULT_JOBS; job++)); do
        awk -v jobs="$FAULT_JOBS" -v job="$job" 'NR % jobs == job' plan >"plan-$job"
        inject_each "plan-$job" >"results-$job" 2>"inject-$job.err" &
    done
    wait
    cat results-* | sort -n >results
    [ "$(wc -l <results)" = "$(wc -l <plan)" ] || fail "only $(wc -l <results) of $(wc -l <plan) injections were made"
}

inject_each() { # $1: plan
    local number scenario rule
    while read -r number scenario rule; do
        live "run-$number" "$scenario" JW_FAULTS_RULES="$rule,seed=$SEED" JW_FAULTS_TOLD=told
        echo "$number $scenario $rule $(outcome "run-$number" "$number" "$scenario" "$rule")"
        case $(tail -n 1 "run-$number/outcome") in
        'went on' | 'not reached' | killed | told) rm -f "run-$number"/*.{html,txt,collapsed} ;;
        esac
    done <"$1"
}

outcome() { # $1: directory, $2: number, $3: scenario, $4: rule
    judge "$@" | tee "$1/outcome"
}

judge() {
    local place=$1 status told said=no file
    status=$(cat "$place/status")
    told=$(tr -d '\0' <"$place/told" | wc -l)
    [ -z "$(complained "$place")" ] || said=yes
    if [ -f "$place/hs_err.log" ]; then
        echo "CRASH $(grep -m 1 -A 1 '^# Problematic frame' "$place/hs_err.log" | tail -n 1)"
    elif [ "$status" = 124 ] || { [ "$status" = 137 ] && [[ $4 != *:KILL* && $4 != *:TORN* ]]; }; then
        echo "HANG after $FAULT_LIMIT_SECONDS s"
    elif [ "$told" = 0 ]; then
        echo "not reached"
    elif [[ $4 == *:KILL* || $4 == *:TORN* ]]; then
        list_files "$place" "$2" "$3" killed >>"list-$BASHPID"
        [ "$status" = 137 ] && echo "killed" || echo "WRONG status $status after a kill"
    elif [ "$status" != 0 ] && ! grep -q 'sums' "$place/out"; then
        echo "NOSTART status $status: $(grep -v '^\[jaywalk\]' "$place/err" | head -n 1)"
    elif [ "$status" != 0 ] || ! cmp -s "$place/out" "right-$3/out"; then
        echo "WRONG status $status: $(head -n 1 "$place/out")"
    else
        if [ "$said" = no ] && [[ $3 == loop || $4 == *:SLOW* || $4 == *:STOP* ]]; then
            list_files "$place" "$2" "$3" late >>"list-$BASHPID"
        else
            list_files "$place" "$2" "$3" "$said" >>"list-$BASHPID"
        fi
        for file in "right-$3"/*.{jfr,html,txt,collapsed}; do
            file=${file##*/}
            # A turn that the machine has kept waiting begins the next one's second later.
            [[ $3 != loop || $file == x-[01].jfr ]] || continue
            if [ -f "right-$3/$file" ] && [ ! -f "$place/$file" ] && [ "$said" = no ]; then
                echo "SILENT no $file"
                return
            fi
        done
        for file in "$place"/*.html; do
            if [ -f "$file" ] && [ "$(tail -c 8 "$file" | tr -d '\n')" != '</html>' ]; then
                echo "BADFILE ${file##*/} is cut"
                return
            fi
        done
        [ "$said" = no ] && echo "went on" || echo "told"
    fi
}

read_results() {
    cat list-* >>list 2>/dev/null || true
    local reader
    reader=$(one_reader)
    "${reader#* }/bin/java" "${READER_FLAGS[@]}" -cp "$CHECKER" Injected "$COUNTERS" list >readable 2>&1 ||
        fail "the reader ended: $(tail -n 3 readable | tr '\n' ' ')"
    ! grep '^0 ' readable || fail "without a fault: $(grep -m 1 '^0 ' readable)"
    # What the reader found goes before what the run looked like.
    awk 'NR == FNR { if ($2 != "ok" && !($1 in why)) { number = $1; $1 = ""; why[number] = $0 } next }
        $1 in why && $0 ~ / (went on|told|killed)$/ { print $1, $2, $3 why[$1]; next } { print }' readable results >verdicts
    show_verdicts
}

# The table, and the end of a case that found something.
show_verdicts() {
    local bad
    awk '{ name = $4; if (name ~ /^(went|not)$/) name = name " " $5; count[$2 "|" name]++; all[name]++; kinds[$2] = 1 }
        END { for (kind in kinds) { printf "row %s", kind
                split("went on,told,killed,not reached,CRASH,HANG,NOSTART,WRONG,BADFILE,SILENT", names, ",")
                for (i = 1; i <= 10; i++) printf " | %d", count[kind "|" names[i]]
                print "" }
            made = 0; for (name in all) if (name != "not reached") made += all[name]
            print "injections", made }' verdicts
    bad=$(grep -cE '^[0-9]+ [^ ]+ [^ ]+ (CRASH|HANG|NOSTART|WRONG|BADFILE|SILENT)' verdicts || true)
    [ "$bad" = 0 ] || {
        grep -E '^[0-9]+ [^ ]+ [^ ]+ (CRASH|HANG|NOSTART|WRONG|BADFILE|SILENT)' verdicts
        fail "$bad injections ended as none may: $(grep -m 1 -E '(CRASH|HANG|NOSTART|WRONG|BADFILE|SILENT)' verdicts)"
    }
}
