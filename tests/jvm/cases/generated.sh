# Code that is made at run time and soon unloaded: what a recording says of it is what reflection said, of lambdas,
# hidden classes, proxies, method handles, accessors.
# once: how classes come and go is tested on each JDK by churn.
[ "$MAJOR" -ge 9 ] || not_run "JDK 8 has no StackWalker, which says what is right"
profile generated event=cpu,interval=1ms,file=generated.jfr -XX:+UseSerialGC -Dsun.reflect.noInflation=true \
    Generated 100 "$OUT/told.txt"
silent generated
[ "$(sed -n 's/^unloaded //p' generated.out)" -ge 500 ] || fail "hardly a class was unloaded: $(cat generated.out)"
hidden=()
[ "$MAJOR" -ge 15 ] || hidden=(none-hidden)
check GeneratedNames generated.jfr told.txt "${hidden[@]}"

# Names that change from run to run become one on request.
"$JW_COMMAND" convert --norm generated.jfr norm.collapsed 2>convert.err || fail "jaywalk convert: $(tail -n 1 convert.err)"
! grep -oE '[^; ]*(\+0x|/0x|Lambda\$[0-9]|Proxy[0-9]|jdk/proxy[0-9]|Accessor[0-9])[^; ]*' norm.collapsed >numbered ||
    fail "names with numbers in spite of norm: $(sort -u numbered | head -n 3 | tr '\n' ' ')"
grep -q 'Generated$Unit$$Lambda.run' norm.collapsed || fail "no lambda by its plain name"
