# Samples of what the kernel counts: page faults and calls of a native function, each as many as the kernel and the program say. What
# cannot be had is refused with the reason, and the JVM runs on.
# once: counts are the kernel's.

library=$JW_LIBRARY
JW_LIBRARY=${JW_FAULTS_LIBRARY:?}
[ -f "$JW_LIBRARY" ] || not_run "no $JW_LIBRARY; make builds it with test-jvm"
JW_FAULTS_RULES="perf_event_open:EACCES@1+" profile denied "event=page-faults,file=denied.jfr" Counted 1 1
grep -q '^\[jaywalk\] error: profiling was not started: event=page-faults: perf_event_open: denied .*sysctl kernel.perf_event_paranoid=1' \
    denied.err || fail "it is not said why page faults cannot be counted: $(last_words denied.err)" # m66
[ ! -e denied.jfr ] || fail "a recording is there of what was refused"
JW_LIBRARY=$library

profile unknown event=no_such_function,file=unknown.jfr Counted 1 1
grep -q 'profiling was not started: event=no_such_function: no such event, and no library' unknown.err ||
    fail "it is not said that there is no such function: $(last_words unknown.err)"

sum_of() { # $1: file, $2: pattern of lines; each line ends with its value
    awk -v pattern="$2" '$0 ~ pattern { sum += $NF } END { print sum + 0 }' "$1"
}
is_within() { # $1: least, $2: value, $3: most
    [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

# So few samples that no interval is doubled, which would lose what comes in between.
profile pages event=page-faults,interval=100,file=pages.jfr Counted 30000 1
if grep -q 'profiling was not started' pages.err; then
    not_run "$(grep -m 1 -o 'perf_event_open: .*' pages.err)"
fi
silent pages
whole pages.jfr
"$JW_COMMAND" convert --total --threads pages.jfr pages.collapsed || fail "pages.jfr was not converted"
read -r _ touched all <<<"$(grep '^faults ' pages.out)"
sum=$(sum_of pages.collapsed '^\[toucher ')
is_within $((touched - touched / 20 - 100)) "$sum" $((all + all / 20 + 200)) ||
    fail "$sum page faults were sampled of a thread that had $touched of $all"
in_touch=$(sum_of pages.collapsed '^\[toucher .*;Counted[.]touch;')
[ "$in_touch" -ge $((sum * 8 / 10)) ] || fail "of $sum page faults only $in_touch are of who touched the pages"
"$JW_COMMAND" convert pages.jfr pages.txt || fail "pages.jfr was not converted"
grep -q '^Profile of page-faults$' pages.txt && grep -qE '^Total +[0-9,]+ page-faults in [0-9,]+ samples$' pages.txt ||
    fail "the text does not say what was counted: $(head -n 3 pages.txt)"

# Of one thread: the kernel takes long to take a probe away, of each thread by itself.
profile calls 'event=Java_java_lang_Runtime_freeMemory,interval=1000,filter=caller,file=calls.jfr' Counted 1 200000
if grep -q 'profiling was not started' calls.err; then
    skip_part "calls of a function: $(grep -m 1 -oE '(perf_event_open: |this kernel has no ).*' calls.err)"
    exit 0
fi
silent calls
"$JW_COMMAND" convert --total --threads calls.jfr calls.collapsed || fail "calls.jfr was not converted"
read -r _ called <<<"$(grep '^calls ' calls.out)"
sum=$(sum_of calls.collapsed '^\[caller .*;Counted[.]callOften;java.lang.Runtime[.]freeMemory;')
is_within $((called - 5000)) "$sum" $((2 * called)) || fail "$sum calls of freeMemory were sampled of $called"
