# However a program ends, its recording is closed, and its status and output are its own.
for ending in return:0 exit:3 halt:4 uncaught:1; do
    how=${ending%:*}
    status=${ending#*:}
    run_java "plain-$how" "$status" Endings "$how"
    mkdir "$how"
    run_java "agent-$how" "$status" "$(agent_flag "event=cpu,interval=10ms,file=$how/$how.jfr")" \
        Endings "$how"
    cmp "plain-$how.out" "agent-$how.out" || fail "$how: stdout is not what it is without the agent"
    [ "$(ls -A "$how")" = "$how.jfr" ] || fail "$how: leaves $(ls -A "$how" | tr '\n' ' ')"
    [ "$(stat -c %a "$how/$how.jfr")" = 600 ] || fail "$how: file mode $(stat -c %a "$how/$how.jfr")"
    silent "agent-$how"
done
check Whole "$COUNTERS" return/return.jfr exit/exit.jfr halt/halt.jfr uncaught/uncaught.jfr
for how in return exit halt uncaught; do
    ledger $how/$how.jfr
done
