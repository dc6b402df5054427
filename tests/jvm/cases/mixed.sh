# features=mixed: Java that calls native code that calls Java, a thread that attaches itself, class initialisers, libz, collectors and
# compilers: whole stacks, frame by frame as the program makes them.
# once: how native frames are left is tested on each JDK by proof and known.
profile mixed event=cpu,interval=1ms,features=mixed,file=mixed.jfr -cp "$CLASSES:$JW_JAR" -XX:+UseParallelGC -XX:ParallelGCThreads=2 -Xmn8m Mixed 1500
silent mixed
if [ "$(nm "$(libjvm)" 2>/dev/null | grep -c JavaCalls)" = 0 ]; then
    skip_part "that stacks are frame by frame as they should be: this JDK's libjvm has no symbols"
else
    check_once MixedStacks mixed.jfr
fi
jfr_tool "$MAJOR" "$JDK" print --events jdk.ExecutionSample --stack-depth 64 mixed.jfr
grep -q 'call_stub' tool.out || fail "no call stub in what jfr prints"
"$JW_COMMAND" convert mixed.jfr mixed.collapsed 2>convert.err || fail "jaywalk convert: $(tail -n 1 convert.err)"
grep -q ';Mixed.sort;Java_Mixed_sort;.*;by_java;.*;[^;]*call_stub[^;]*;Mixed.compare;' mixed.collapsed ||
    fail "no comparator of Java below a sort in C: $(grep -m 1 Mixed.sort mixed.collapsed)"

# As async-profiler spells it; and without it the same program shows native code on top alone.
profile vmx event=cpu,interval=1ms,cstack=vmx,file=vmx.collapsed Mixed 100
grep -q ';by_java;.*;[^;]*call_stub[^;]*;Mixed.compare;' vmx.collapsed || fail "cstack=vmx: no native frames between those of Java"
profile plain event=cpu,interval=1ms,file=plain.collapsed Mixed 100
! grep -q 'call_stub[^;]*;Mixed' plain.collapsed || fail "native frames between those of Java that nobody asked for"
