# Programs that know nothing of the census of locks do the same under it, and with all of their methods traced: ant (Debian's) builds the same tree and says the same, and an HTTP server
# under load answers the same. Classes are verified, the JDK's too. Nobody waits for a lock of the counting, and of ant's own locks nobody waits, as without.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

REQUESTS=${PROBE_REQUESTS:-60}
JAVA_FLAGS+=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xverify:all) # short lives
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)

agent() { # $1: name, $2: options; to agents
    agents=("$(agent_flag "quiet,lock=1us,$2,file=$1.jfr")" "${may_load[@]}")
}

# Classes of whose locks somebody waited, one a line, into NAME.classes.
waits() { # $1: name
    "$JW_COMMAND" contention --json "$1.jfr" >"$1.waits" 2>"$1.none" || grep -q 'no waits for locks' "$1.none" || fail "$1: no report of who waited: $(cat "$1.none")"
    sed '/^"owner_stacks":/,/^"deadlocks"/d' "$1.waits" | grep -o '"class":"[^"]*"' | sort -u >"$1.classes" || true
}

# What is asked for was done, no class was refused by the verifier, and nobody waited for what jaywalk has.
looked_at() { # $1: name, $2: least sites that were come to, $3: least calls that were traced
    local sites=0 traced=0
    if [ "$2" != 0 ]; then
        "$JW_COMMAND" locks --json "$1.jfr" >"$1.json"
        sites=$(grep '^{"place":' "$1.json" | grep -vc '"acquisitions":0,')
        grep '^"program":' "$1.json" | has_line '"not_counted":0}' || fail "$1: some places are not counted: $(grep '^"program":' "$1.json")"
    fi
    [ "$3" = 0 ] || traced=$("$JW_COMMAND" convert -q -o csv --event=jdk.MethodTrace "$1.jfr" - | wc -l)
    echo "$1: $sites sites, $traced calls"
    [ "$sites" -ge "$2" ] && [ "$traced" -ge "$3" ] || fail "$1: $sites sites and $traced calls are a proof of nothing"
    ! grep '\[jaywalk\]' "$1.err" || fail "$1: $(grep -m 1 '\[jaywalk\]' "$1.err")"
    ! grep -i 'VerifyError\|LinkageError' "$1.out" "$1.err" || fail "$1: a class is not what it was"
    waits "$1"
    ! grep -i jaywalk "$1.classes" || fail "$1: somebody waited for a lock of the counting"
    ! grep 'org\.apache' "$1.classes" || fail "$1: somebody waited for a lock of ant"
}

mkdir -p tree/source
cp "$(dirname "$LIB")/api/Answers.java" tree/source/
echo 'The class is @NAME@.' >tree/note.txt
cat >tree/build.xml <<'XML'
<project name="tree" default="all" basedir=".">
  <target name="all">
    <mkdir dir="dist/classes"/>
    <copy file="note.txt" todir="dist"><filterset><filter token="NAME" value="Answers"/></filterset></copy>
    <javac srcdir="source" destdir="dist/classes" classpath="${jar}" debug="true" includeantruntime="false"><compilerarg value="-Xlint:all"/></javac>
    <jar destfile="dist/answers.jar" basedir="dist/classes" modificationtime="0"/>
    <unzip src="dist/answers.jar" dest="dist/unpacked"/>
    <checksum todir="dist"><fileset dir="dist/unpacked" excludes="META-INF/**"/></checksum>
    <pathconvert property="files" pathsep=" " dirsep="/"><path><fileset dir="dist" includes="**/*.class"/></path><map from="${basedir}/" to=""/></pathconvert>
    <echo message="${ant.project.name}: ${files}"/>
  </target>
</project>
XML
# Before JDK 9 the compiler is no part of what the JVM has.
build() { # $1: name
    run_java "$1" 0 "${agents[@]}" -cp "$ANT_JARS/ant.jar:$ANT_JARS/ant-launcher.jar:$JDK/lib/tools.jar" org.apache.tools.ant.Main -Djar="$JW_JAR" -f tree/build.xml
    mv tree/dist "$1"
    sed -i '/^Total time: /d' "$1.out"
}
as_plain() { # $1: name
    diff -r ant-plain "$1" || fail "$1: ant built another tree"
    diff ant-plain.out "$1.out" && diff ant-plain.err "$1.err" || fail "$1: ant says something else"
}
ANT_JARS=${JW_SERVER_JARS:-/usr/share/java}
if [ -f "$ANT_JARS/ant.jar" ] && [ -f "$ANT_JARS/ant-launcher.jar" ]; then
    agents=()
    build ant-plain
    grep -q 'echo\] tree: dist/classes/Answers' ant-plain.out || fail "ant did not build: $(tail -n 3 ant-plain.out)"
    agent ant-census locks=census
    build ant-census
    as_plain ant-census
    looked_at ant-census 300 0
    agent ant-traced 'trace=**.*:0,trace=**.<init>:0'
    build ant-traced
    as_plain ant-traced
    looked_at ant-traced 0 10000
else
    skip_part "a build tool of Debian: ant is not installed"
fi

serve() { # $1: name
    run_java "$1" 0 "${agents[@]}" -cp "$JW_JAR:$API_CLASSES" Answers "$REQUESTS"
}
agents=()
serve http-plain
[ "$(wc -l <http-plain.out)" = $((6 * REQUESTS)) ] || fail "$(wc -l <http-plain.out) answers, not $((6 * REQUESTS))"
agent http-both 'locks=census,trace=**.*:0,trace=com.sun.net.httpserver.**.*:0,trace=sun.net.httpserver.**.*:0'
serve http-both
diff -q http-plain.out http-both.out || fail "answers are others: $(diff http-plain.out http-both.out | head -n 2)"
looked_at http-both 100 1000
