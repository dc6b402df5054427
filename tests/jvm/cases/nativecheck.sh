# nativecheck=: native stacks of a program as libunwind finds them on a copy. First those of collectors and compilers, down to where their
# threads begin, then those of all threads: all the same. Status, recording and doctor tell. Without libunwind a session goes on.
# NATIVECHECK_STACKS (400) of all threads.
# once: rules and libunwind are the same for each JDK; and sixteen stacks a turn take their time.
. "$(dirname "$LIB")/attach.sh"

# Figures of the last page of metrics.
metric() { sed -n "s/^jaywalk_native_$1_total //p" metrics; }

# One that is damaged.
mkdir none
: >"none/libunwind-$(uname -m).so.8"
LD_LIBRARY_PATH=$OUT/none profile without "event=cpu,interval=1ms,nativecheck,file=without.jfr" TimedCrowd
grep -q '^\[jaywalk\] warning: nativecheck: native stacks are not compared: libunwind.* cannot be loaded (.*); install libunwind' without.err ||
    fail "it is not said that and why nothing is compared: $(last_words without.err)"
"$JW_COMMAND" doctor without.jfr >page || fail "no page of a recording without libunwind"
tr -s ' \n' ' ' <page | has_line 'native stacks were not compared with libunwind: libunwind' || fail "the doctor does not tell: $(cat page)"

# Stacks until so many were compared; in `metrics`, what came of all of them until now.
compared() { # $1: name, $2: how many in all, then further options of start
    jaywalk 0 start -e cpu -i 500us --nativecheck 1ms -f "$1.jfr" "${@:3}" "$target"
    ! grep -q 'not compared' said.err || not_run "$(grep -m 1 -o 'not compared.*' said.err)"
    while :; do
        sleep 0.3
        jaywalk 0 metrics "$target" >metrics
        [ "$(metric checked)" -lt "$2" ] || break
    done
    jaywalk 0 status "$target" >status
    jaywalk 0 stop "$target"
    jaywalk 0 metrics "$target" >metrics
    echo "$1: $(grep '^Compared with libunwind: ' status)"
    equal=$(metric equal) different=$(metric different) shorter=$(metric shorter)
    [ "$(metric checked)" = $((equal + different + shorter + $(metric no_way) + $(metric no_copy) + $(metric unchecked))) ] ||
        fail "$1: outcomes do not add up: $(grep '^jaywalk_native' metrics | tr '\n' ' ')"
    [ "$different" -le $((1 + equal / 1000)) ] || fail "$1: less than 99.9 % are equal, and more than one differs: $(grep '^Compared with libunwind: ' status)"
}

begin_target target "${STEADY_COMPILERS[@]}" "$(half_of -XX:+UseG1GC -XX:+UseParallelGC | head -n 1)" -Xmn16m Loads 600
compared jvm 150 --filter 'GC*;G1*;C1*;C2*;VM*'
grep -q '^Compared with libunwind: [1-9][0-9]* native stacks, ' status || fail "status does not tell: $(cat status)"
jaywalk 0 doctor --json jvm.jfr >json
grep -qE '"native_agreement":\{"compared":[1-9][0-9]*,"equal":[1-9][0-9]+,"different":[0-9]+,' json ||
    fail "the recording tells otherwise: $(grep -oE '"native_agreement":[^}]*' json)"
stacks=${NATIVECHECK_STACKS:-400}
compared all $((stacks + 10))
# Without the rows of a library, which are built when the first stack was sampled in it, stacks end with a mark.
[ $((equal * 10)) -ge $((stacks * 9)) ] || fail "hardly a stack was compared to its end: $(grep '^Compared with libunwind: ' status)"
[ "$(metric frames_equal)" -gt $(($(metric equal) * 4)) ] || fail "hardly a frame was compared: $(grep frames_equal metrics)"
kill "$target"
wait "$target" || true
no_crash
