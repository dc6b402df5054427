# -Xcheck:jni has nothing to say but what the JVM says of any agent with a SIGSEGV handler. What the JVM
# says goes to stderr, where nobody else writes: so no line of it is torn by one of the program's.
. "$(dirname "$LIB")/attach.sh"
known='^(Warning: )?SIG(SEGV|BUS) handler|^Signal Handlers:|^ *SIG[A-Z0-9]+: |^ *Found:|^ *Expected:'
known+='|^ *Running in non-interactive shell|[Cc]onsider using jsig library|^ *\*\*\* Handler was modified!'
known+='|^ *\*\*\* Expected: |^$'

# It looks at its signal handlers a second after its last operation, on JDK 17: so three seconds.
run_java plain 0 -Xcheck:jni -XX:+DisplayVMOutputToStderr Hot 3
profile xcheck event=cpu,interval=10ms,quiet,file=xcheck.jfr -Xcheck:jni \
    -XX:+DisplayVMOutputToStderr Hot 3
silent xcheck
for stream in out err; do
    grep -vE "$known" "plain.$stream" >"plain.$stream.rest" || true
    grep -vE "$known" "xcheck.$stream" >"xcheck.$stream.rest" || true
    diff "plain.$stream.rest" "xcheck.$stream.rest" >"$stream.diff" ||
        fail "-Xcheck:jni on std$stream: $(sed -n 's/^> //p' "$stream.diff" | head -n 1)"
done
grep -qE 'handler (modified|expected)' xcheck.err || fail "the JVM did not check its signal handlers"
check_once HotMethod xcheck.jfr

# m19: all classes are listed and their methods asked for, and no more references are held than were asked for.
if has_agct; then
    begin_target many -Xcheck:jni -XX:+DisplayVMOutputToStderr ManyClasses 3000 3600
    jaywalk 0 -d 1 -i 4ms --cstack agct -f many.collapsed "$many" >out
    grep -q ManyClasses.main many.collapsed || fail "no frame of the program"
    # JDK 8 complains of itself.
    grep -vxFf plain.err many.err >many.rest || true
    ! grep -E '^WARNING.*(JNI|local refs)|^FATAL' many.rest || fail "-Xcheck:jni: $(grep -m 1 -E 'JNI|local refs' many.rest)"
    kill "$many"
    wait "$many" || true
    no_crash
fi
