# The Java API in each way in which the agent comes: with the JVM, by an attach, out of the jar; and when it does not come.
# shellcheck source=/dev/null
. "$(dirname "$LIB")/attach.sh"
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

# Without leave to load libraries: where the agent is there already, nothing asks for it.
JAVA_FLAGS=(-Xmx512m "${NO_CORE[@]}" -XX:ErrorFile="$OUT/hs_err_%p.log" -cp "$JW_JAR:$API_CLASSES")
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)
virtual=()
kinds=(burn)
[ "$MAJOR" -lt 21 ] || virtual=(virtual)
[ "$MAJOR" -lt 24 ] || kinds+=(burn-virtual) # before, the JVM tells of the mounted thread where objects stand still alone
place=$OUT/natives
mkdir -p "$place"

all_done() { # $1: name of a run
    grep -q '^ok ' "$1.out" || fail "$1: $(tail -n 1 "$1.out")"
    ! grep -v '^\[jaywalk\] Profiling \|^\[jaywalk\] CPU time ' "$1.err" | has_line . ||
        fail "$1: stderr: $(grep -v '^\[jaywalk\] Profiling ' "$1.err" | head -n 1)"
}

profile early "event=cpu,interval=1ms,file=early.jfr" io.jaywalk.ApiUse running stop scopes numbered attributes strings names \
    session loaders crowd askers "${virtual[@]}"
all_done early
run_java loaded 0 "${may_load[@]}" -Dio.jaywalk.directory="$place" io.jaywalk.ApiUse loaders scopes session strings names
all_done loaded
# The call of what spins is a fence to the compiler: no context is written later than that. And where the ends of inlined
# workers become one, its debug information names any of them.
run_java contexts 0 "${may_load[@]}" -Dio.jaywalk.directory="$place" -XX:CompileCommand=quiet \
    -XX:CompileCommand=dontinline,io.jaywalk.ApiUse::inS* -XX:CompileCommand=dontinline,io.jaywalk.ApiUse::outside \
    -XX:CompileCommand=dontinline,io.jaywalk.ApiUse::worker* io.jaywalk.ApiUse "${kinds[@]}" chosen
all_done contexts
check_once ApiContexts chosen.jfr
for kind in "${kinds[@]}"; do
    check_once ApiContexts "$kind.jfr" 3 100
done
whole early.jfr session.jfr
check_once Whole "$COUNTERS" crowd.jfr

# The file stays for the next program, and a damaged one does not.
library=$(echo "$place"/jaywalk-*/*/libjaywalk.so)
[ "$(stat -c %a "$place"/jaywalk-*)" = 700 ] || fail "others can enter the place of the library"
[ "$(find "$place" -type f)" = "$library" ] || fail "more than the library is left: $(find "$place" -type f | tr '\n' ' ')"
inode=$(stat -c %i "$library")
run_java again 0 "${may_load[@]}" -Dio.jaywalk.directory="$place" io.jaywalk.ApiUse scopes
[ "$(stat -c %i "$library")" = "$inode" ] || fail "the library was written a second time"
cp "$library" "$library.kept"
echo >>"$library"
run_java mended 0 "${may_load[@]}" -Dio.jaywalk.directory="$place" io.jaywalk.ApiUse scopes
cmp "$library.kept" "$library" || fail "a damaged library stays"
rm "$library.kept"
# s19: a directory that others may enter is none to load code from.
chmod 755 "$place"/jaywalk-*
run_java open 1 "${may_load[@]}" -Dio.jaywalk.directory="$place" io.jaywalk.ApiUse scopes
grep -q 'JaywalkException: .* is no directory that this user alone can enter' open.err || fail "open: $(head -n 2 open.err)"
run_java other 1 -Dos.arch=sparc io.jaywalk.ApiUse scopes
grep -q 'JaywalkException: jaywalk runs on Linux, .* sparc' other.err || fail "other: $(head -n 2 other.err)"

begin_target app "${LATE_AGENTS[@]}" -Dlenient=true io.jaywalk.ApiUse wait running stop scopes strings names loaders
jaywalk 0 start -f "$OUT/attached.jfr" "$app"
wait "$app" || fail "app ended with status $?: $(tail -n 2 app.err)"
no_crash
all_done app
