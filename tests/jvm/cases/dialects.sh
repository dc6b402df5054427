# once: which events a recording has hardly depends on the JDK.
# Recordings in the dialects of other profilers: a stock reader shows each event, and jaywalk reads the samples that are in them.
read -r major home <<<"$(one_reader)"

count_of() { # $1: file, $2: type
    jfr_tool "$major" "$home" print --events "$2" --stack-depth 1 "$1"
    grep -c '^[a-z]*\..* {$' tool.out || true
}

samples_of() { # $1: file, $2: clock; as collapsed stacks
    "$JW_COMMAND" convert -q --event="$2" "$1" "$1.$2.collapsed"
    awk '{ sum += $NF } END { print sum + 0 }' "$1.$2.collapsed"
}

tell() { # $1: dialect, $2: type of CPU time
    profile "$1" "event=cpu,interval=4ms,wall=20ms,jfr=$1,file=$1.jfr" Hot 0.5
    silent "$1"
    local told found
    told=$(count_of "$1.jfr" "$2")
    found=$(samples_of "$1.jfr" cpu)
    [ "$told" -gt 0 ] && [ "$told" = "$found" ] || fail "$1: $told events $2, and $found samples of CPU time"
    [ "$(samples_of "$1.jfr" wall)" -gt 0 ] || fail "$1: no samples of the wall clock"
    [ "$(count_of "$1.jfr" jdk.NativeMethodSample)" = 0 ] || fail "$1: has types of another dialect"
    echo "$1: $told samples of CPU time"
}
tell async-profiler jdk.ExecutionSample
tell datadog datadog.ExecutionSample
