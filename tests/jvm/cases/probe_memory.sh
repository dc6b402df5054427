# A class for which memlimit leaves no memory stays as it is, and is counted; the program goes on, the others are written, and the attach says so.
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"
JAVA_FLAGS+=("${LATE_AGENTS[@]}")

# To write it again takes more than twenty times its length, which is more than all that there may be.
long=$(head -c 60000 /dev/zero | tr '\0' x)
{
    echo 'final class Large {'
    for ((i = 10; i < 45; i++)); do echo "    static String text$i() { return \"$i$long\"; }"; done
    echo '    static int work(int number) { return number > 0 ? number * 2 + text10().length() : 0; }'
    echo '}'
} >Large.java
cat >Sizes.java <<'END'
final class Sizes {
    static volatile int sink;

    static int work(int number) {
        return number > 0 ? number * 3 : 0;
    }

    public static void main(String[] arguments) throws Exception {
        sink = Large.work(1) + work(1);
        System.out.println("running");
        for (;;) {
            sink = Large.work(2) + work(2);
            Thread.sleep(10);
        }
    }
}
END
compile_java -d . Large.java Sizes.java

refused() { jaywalk 0 metrics "$1" | sed -n 's/^jaywalk_probe_classes_refused_total \([0-9]*\)$/\1/p'; }

attached() { # $1: name, $2: options of the agent, $3: what is said of methods and classes
    begin_target "$1" "-agentpath:$JW_LIBRARY=start,quiet,interval=100ms,$2" -cp . Sizes
    jaywalk 0 probe attach "${!1}" "$PROBE_CLASSES/Sized.class" >"$1.attach"
    grep -qx "attached sized: 1 handlers, $3" "$1.attach" || fail "$1: $(head -n 1 "$1.attach")"
}

attached roomy file=roomy.jfr '2 methods of 2 classes'
! grep -q 'stay as they are' roomy.attach || fail "roomy: $(grep 'stay as' roomy.attach)"
[ "$(refused "$roomy")" = 0 ] || fail "roomy: $(refused "$roomy") classes are counted as refused"
end_target roomy running

attached short memlimit=40m,file=short.jfr '1 methods of 1 classes'
grep -qx '1 classes stay as they are: memlimit= left no memory to look at them' short.attach || fail "short: not said: $(sed -n 2,9p short.attach)"
[ "$(refused "$short")" = 1 ] || fail "short: $(refused "$short") classes are counted as refused, not 1"
jaywalk 0 probe detach "$short" sized >short.detach
grep -qx 'detached sized' short.detach || fail "short: $(head -n 1 short.detach)"
end_target short running
