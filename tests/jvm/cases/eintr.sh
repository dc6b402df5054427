# No system call of the program ends with EINTR or early because of our signals: threads that wait in every
# way there is check it, under both clocks.
# once: it is the kernel that interrupts calls.
# alone: it proves something of many calls and signals a second, of which a busy machine has few.
[ -r /proc/self/timers ] || not_run "the kernel shows no timers (CONFIG_CHECKPOINT_RESTORE)"

interrupted() { # $1: name, $2: options, $3: ms, $4: calls at least, $5: signals of its own at least,
    # $6: calls finished in a handler at least
    local calls eintr wrong early bad finished cut
    profile "$1" "$2,file=$1.jfr" Interrupted "$3" 4000 "$4" "$5"
    awk '$1 == "wait" { calls += $2; eintr += $3; wrong += $4; early += $5; if ($3 + $4 + $5 > 0) bad = bad " " $6 ":" $3 "/" $4 "/" $5 }
        $1 == "sent" { sent = $2 }
        END { print calls, eintr + 0, wrong + 0, early + 0, sent + 0, bad == "" ? "-" : bad }' "$1.out" >counts
    read -r calls eintr wrong early sent bad <counts
    echo "$1: $calls calls, $sent signals of the program's: $eintr EINTR, $wrong other errors, $early early"
    [ "$eintr" = 0 ] && [ "$wrong" = 0 ] && [ "$early" = 0 ] ||
        fail "$1: of $calls calls $eintr ended with EINTR, $wrong with another error, $early early (EINTR/error/early of:$bad)"
    [ "$calls" -ge "$4" ] || fail "$1: only $calls calls"
    jfr_tool "$MAJOR" "$JDK" print --events jaywalk.Diagnostics "$1.jfr"
    finished=$(awk '$1 == "callsFinished" { n = $3 } END { print n + 0 }' tool.out)
    cut=$(awk '$1 == "callsCut" { n = $3 } END { print n + 0 }' tool.out)
    echo "$1: $finished calls went on in a handler, $cut were cut"
    [ "$finished" -ge "$6" ] && [ "$cut" = 0 ] || fail "$1: callsFinished is $finished, callsCut $cut"
}

# m37: EINTR and early ends are counted, of many thousand calls.
# The clocks as they are: signals to threads that used up a millisecond, and to those that ran since the last turn.
interrupted clocks event=cpu,interval=1ms,wall=1ms 4000 5000 0 1000
# And signals for each of the CPU clock's timers, sent by the program every 4 ms, with what /proc/self/timers shows.
interrupted storm event=cpu,interval=10ms,wall=1ms 6000 15000 50000 10000
