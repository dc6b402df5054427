# Stacks of compiler threads name the method that is compiled: one that the JVM says it compiles.
profile compiled event=cpu,interval=1ms,file=compiled.jfr -XX:+PrintCompilation Stubs 0.5
check_once Compiled compiled.jfr compiled.out
"$JW_COMMAND" convert --compilations compiled.jfr compiled.collapsed 2>convert.err || fail "jaywalk convert: $(tail -n 1 convert.err)"
grep -qE 'CompileBroker::invoke_compiler_on_method;[A-Za-z$/]+\.[^;]+;' compiled.collapsed ||
    fail "no method in collapsed stacks of compiler threads"
"$JW_COMMAND" convert -q compiled.jfr together.collapsed || fail "jaywalk convert"
! grep -qE 'CompileBroker::invoke_compiler_on_method;[A-Za-z$/]+\.[^;]+;' together.collapsed ||
    fail "collapsed stacks of compiler threads name a method that nobody asked for"

profile none event=cpu,interval=1ms,features=vtable,compilations,file=none.collapsed Stubs 0.5
! grep -qE 'CompileBroker::invoke_compiler_on_method;[A-Za-z$/]+\.[^;]+;' none.collapsed ||
    fail "features=vtable: stacks of compiler threads name a method"
