# -Xcheck:jni has nothing to say but what the JVM says of any agent with a SIGSEGV handler.
known='^(Warning: )?SIG(SEGV|BUS) handler|^Signal Handlers:|^ *SIG[A-Z0-9]+: |^ *Found:|^ *Expected:'
known+='|^ *Running in non-interactive shell|[Cc]onsider using jsig library|^ *\*\*\* Handler was modified!'
known+='|^ *\*\*\* Expected: |^\[jaywalk\] Profiling|^$'

run_java plain 0 -Xcheck:jni Hot 1
profile xcheck event=cpu,interval=10ms,file=xcheck.jfr -Xcheck:jni Hot 1
silent xcheck
for stream in out err; do
    grep -vE "$known" "plain.$stream" >"plain.$stream.rest" || true
    grep -vE "$known" "xcheck.$stream" >"xcheck.$stream.rest" || true
    diff "plain.$stream.rest" "xcheck.$stream.rest" >"$stream.diff" ||
        fail "-Xcheck:jni on std$stream: $(sed -n 's/^> //p' "$stream.diff" | head -n 1)"
done
check_once HotMethod xcheck.jfr
