# -Xcheck:jni has nothing to say but what the JVM says of any agent with a SIGSEGV handler.
known='^(Warning: )?SIG(SEGV|BUS) handler|^Signal Handlers:|^ *SIG[A-Z0-9]+: |^ *Found:|^ *Expected:|^ *Running in non-interactive shell|^$'
known+='|consider using jsig library|^\*\*\* Handler was modified!|^\*\*\* Expected: |^$'

run_java plain 0 -Xcheck:jni Hot 1
profile xcheck event=cpu,interval=10ms,file=xcheck.jfr -Xcheck:jni Hot 1
for stream in out err; do
    grep -vE "$known" "xcheck.$stream" | diff <(grep -vE "$known" "plain.$stream") - ||
        fail "-Xcheck:jni on std$stream: $(grep -vE "$known" "xcheck.$stream" |
            diff <(grep -vE "$known" "plain.$stream") - | sed -n 's/^> //p' | head -n 1)"
done
check_once HotMethod xcheck.jfr
