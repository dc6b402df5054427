# Probes beside others: agents that transform the same classes, debuggers that redefine them, classes that are loaded while a probe comes and
# goes, loaders that hand on java.* alone, classes out of an archive, and such of named modules.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)

# The other agents are the program itself: their jars hold nothing.
printf 'Premain-Class: probed.Neighbours\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n' >other.mf
"$JDK/bin/jar" cfm other.jar other.mf

beside() { # $1: name, $2: mode, then flags of java
    local name=$1 mode=$2
    shift 2
    run_java "$name" 0 "${LATE_AGENTS[@]}" "${may_load[@]}" -javaagent:other.jar=first -javaagent:other.jar=second "$@" \
        -cp "$JW_JAR:$API_CLASSES" probed.Neighbours "$mode" "$PROBE_CLASSES"
    [ "$(tail -n 1 "$name.out")" = ok ] || fail "$name: $(tail -n 1 "$name.out")"
    ! grep -q '\[jaywalk\]' "$name.err" || fail "$name: $(grep -m 1 '\[jaywalk\]' "$name.err")"
}

# m27: what either of two other agents changes is there with the probe, while it comes, and when it is gone.
beside transformers transformers
beside redefined redefined
beside loading loading

# An archive holds classes as the JVM keeps them; it has to be asked for their files. It dumps none where agents are.
if [ "$MAJOR" -ge 13 ]; then
    mkdir -p jar
    cp -r "$API_CLASSES/probed" jar/
    "$JDK/bin/jar" cf app.jar -C jar .
    archived() { # $1: name, $2: mode, then flags of java
        local name=$1 mode=$2
        shift 2
        run_java "$name" 0 "${LATE_AGENTS[@]}" "${may_load[@]}" -Xshare:auto -XX:SharedArchiveFile=app.jsa "-Xlog:class+load:file=$name.classes" "$@" \
            -cp "app.jar:$JW_JAR" probed.Neighbours "$mode" "$PROBE_CLASSES"
        [ "$(tail -n 1 "$name.out")" = ok ] || fail "$name: $(tail -n 1 "$name.out")"
    }
    run_java archive 0 "${LATE_AGENTS[@]}" "${may_load[@]}" -XX:ArchiveClassesAtExit=app.jsa -cp "app.jar:$JW_JAR" probed.Archived
    archived archived plain
    grep -q 'probed.Neighbours\$Shop source: shared objects file' archived.classes || fail "archived: the class is not from the archive: $(grep -F 'Neighbours$Shop' archived.classes)"
    archived archived-late late
fi

if [ "$MAJOR" -ge 9 ]; then
    mkdir -p source/shelved
    echo 'module shelved { exports shelved; }' >source/module-info.java
    echo 'package shelved; public class Shelf { public static int take(int number) { return number > 0 ? number * 2 : 0; } }' >source/shelved/Shelf.java
    compile_java -d modules/shelved source/module-info.java source/shelved/Shelf.java
    beside module module --module-path modules --add-modules shelved
fi
