# -Xcheck:jni has nothing to say but what the JVM says of any agent with a SIGSEGV handler. What the JVM
# says goes to stderr, where nobody else writes: so no line of it is torn by one of the program's.
known='^(Warning: )?SIG(SEGV|BUS) handler|^Signal Handlers:|^ *SIG[A-Z0-9]+: |^ *Found:|^ *Expected:'
known+='|^ *Running in non-interactive shell|[Cc]onsider using jsig library|^ *\*\*\* Handler was modified!'
known+='|^ *\*\*\* Expected: |^$'

run_java plain 0 -Xcheck:jni -XX:+DisplayVMOutputToStderr Hot 1
profile xcheck event=cpu,interval=10ms,quiet,file=xcheck.jfr -Xcheck:jni \
    -XX:+DisplayVMOutputToStderr Hot 1
silent xcheck
for stream in out err; do
    grep -vE "$known" "plain.$stream" >"plain.$stream.rest" || true
    grep -vE "$known" "xcheck.$stream" >"xcheck.$stream.rest" || true
    diff "plain.$stream.rest" "xcheck.$stream.rest" >"$stream.diff" ||
        fail "-Xcheck:jni on std$stream: $(sed -n 's/^> //p' "$stream.diff" | head -n 1)"
done
grep -q 'handler modified' xcheck.err || fail "the JVM did not check its signal handlers"
check_once HotMethod xcheck.jfr
