# Stacks of compiler threads name the method that is compiled: one that the JVM says it compiles.
# A function without a name has that of its library, libc.so.6.
# once: where a compiler thread keeps what it compiles is tested of each JDK by facts and walker_kinds.
nameless=()
if [ "$(nm "$(libjvm)" 2>/dev/null | grep -c invoke_compiler_on_method)" = 0 ]; then
    skip_part "that most samples of a compiler have a method: this JDK's libjvm has no symbols to tell one at work"
    nameless=(nameless)
fi
names_one() { # $1: collapsed stacks, by thread
    if [ ${#nameless[@]} != 0 ]; then
        grep -qE '^\[C[12] Comp.*;([A-Za-z0-9_$]+/)+[A-Za-z0-9_$]+\.[^;]+;libjvm' "$1"
    else
        [ "$(grep -E 'CompileBroker::invoke_compiler_on_method;[A-Za-z$/]+\.[^;]+;' "$1" |
            grep -cvE 'invoke_compiler_on_method;lib[^;/]*\.so')" != 0 ]
    fi
}

# The JVM prints to stderr, where nobody else writes: so no line is torn.
profile compiled event=cpu,interval=1ms,quiet,file=compiled.jfr -XX:+PrintCompilation -XX:+DisplayVMOutputToStderr Stubs 0.5
check_once Compiled compiled.jfr compiled.err "${nameless[@]}"
"$JW_COMMAND" convert -t --compilations compiled.jfr compiled.collapsed 2>convert.err || fail "jaywalk convert: $(tail -n 1 convert.err)"
names_one compiled.collapsed ||
    fail "no method in collapsed stacks of compiler threads"
"$JW_COMMAND" convert -q -t compiled.jfr together.collapsed || fail "jaywalk convert"
! names_one together.collapsed ||
    fail "collapsed stacks of compiler threads name a method that nobody asked for"

profile none event=cpu,interval=1ms,features=vtable,compilations,threads,file=none.collapsed Stubs 0.5
! names_one none.collapsed ||
    fail "features=vtable: stacks of compiler threads name a method"
