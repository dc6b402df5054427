# Programs that know nothing of probes do the same with one in every method that may have one: the JDK's compiler writes the same class files and says the same, ant (Debian's) builds the same tree,
# and an HTTP server and an application server (Debian's Tomcat) under load answer the same, with it from start to end and with it put in and taken out meanwhile.
# once: calls are put into what these programs are made of, whichever JDK runs them; the JDKs' own classes are those of the case `classes`.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

REQUESTS=${PROBE_REQUESTS:-60}
JAVA_FLAGS+=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC) # short lives
agent=-agentpath:$JW_LIBRARY=start,quiet,interval=100ms,probe=$PROBE_CLASSES/probes/Everywhere.class,file=everywhere.jfr
may_load=()
[ "$MAJOR" -lt 22 ] || may_load=(--enable-native-access=ALL-UNNAMED)

fired() { # $1: name, $2: least calls that were counted
    local entries returns
    read -r _ entries _ returns _ <"$1.fired" || fail "$1: the probe was not called"
    echo "$1: $(cat "$1.fired")"
    [ "$entries" -ge "$2" ] && [ "$returns" -ge $(($2 / 2)) ] || fail "$1: $entries entries and $returns returns, less than $2"
    ! grep '\[jaywalk\]' "$1.err" || fail "$1: $(grep -m 1 '\[jaywalk\]' "$1.err")"
}

# A build tool. A source has what it warns of, so that it says something.
echo 'class Raw { java.util.List all = new java.util.ArrayList(); int first() { all.add(1); return (int) (Integer) all.get(0); } }' >Raw.java
compile() { # $1: name, then flags of its JVM
    local name=$1 compiler=("$JDK/bin/javac")
    shift
    set -- "${NO_CORE[@]}" -XX:ErrorFile="$OUT/hs_err_%p.log" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$@"
    # Where a package leaves out its launcher, a script may stand in its place, which takes no flags for the JVM.
    if [ "$(head -c 2 "$JDK/bin/javac" | tr -d '\0')" = '#!' ]; then
        compiler=("$JDK/bin/java" "$@" -m jdk.compiler/com.sun.tools.javac.Main)
    else
        compiler+=("${@/#/-J}")
    fi
    mkdir -p "$name"
    EVERYWHERE=$OUT/$name.fired "${compiler[@]}" -Xlint:all -g -cp "$JW_JAR" -d "$name" Raw.java "$(dirname "$LIB")/api/Answers.java" \
        >"$name.out" 2>"$name.err" </dev/null || fail "$name: javac ended with status $?: $(last_words "$name.err")"
    no_crash
}
compile javac-plain
compile javac-probed "$agent" "${may_load[@]}"
fired javac-probed 100000
[ -s javac-plain.err ] || fail "the compiler had nothing to say"
diff -r javac-plain javac-probed || fail "the compiler wrote other files with a probe"
diff javac-plain.out javac-probed.out && diff javac-plain.err javac-probed.err || fail "the compiler says something else with a probe"

# Another one, of Debian, which has the compiler in it: it copies, compiles, packs and unpacks, and says what it does. Of no file does the time matter.
mkdir -p tree/source
cp Raw.java tree/source/
echo 'The class is @NAME@, the number @NUMBER@.' >tree/note.txt
cat >tree/build.xml <<'XML'
<project name="tree" default="all" basedir=".">
  <property name="version" value="4.2"/>
  <target name="prepare">
    <mkdir dir="dist/classes"/>
    <copy file="note.txt" todir="dist"><filterset><filter token="NAME" value="Raw"/><filter token="NUMBER" value="${version}"/></filterset></copy>
    <replaceregexp file="dist/note.txt" match="number ([0-9]+)" replace="version \1"/>
    <condition property="is.there"><and><available file="source/Raw.java"/><contains string="${version}" substring="."/></and></condition>
  </target>
  <target name="compile" depends="prepare" if="is.there">
    <javac srcdir="source" destdir="dist/classes" debug="true" includeantruntime="false"><compilerarg value="-Xlint:all"/></javac>
  </target>
  <target name="all" depends="compile" description="everything">
    <jar destfile="dist/raw.jar" basedir="dist/classes" modificationtime="0"><manifest><attribute name="Main-Class" value="Raw"/></manifest></jar>
    <unzip src="dist/raw.jar" dest="dist/unpacked"/>
    <checksum todir="dist"><fileset dir="dist/unpacked" excludes="META-INF/**"/></checksum>
    <pathconvert property="files" pathsep=" " dirsep="/"><path><fileset dir="dist" includes="**/*.class"/></path><map from="${basedir}/" to=""/></pathconvert>
    <echo message="${ant.project.name} ${version}: ${files}"/>
    <fail message="nothing was compiled"><condition><not><available file="dist/unpacked/Raw.class"/></not></condition></fail>
  </target>
</project>
XML
# Before JDK 9 the compiler is no part of what the JVM has.
build() { # $1: name, then flags of its JVM
    local name=$1
    shift
    EVERYWHERE=$OUT/$name.fired run_java "$name" 0 "$@" -cp "$ANT_JARS/ant.jar:$ANT_JARS/ant-launcher.jar:$JDK/lib/tools.jar" org.apache.tools.ant.Main -f tree/build.xml
    mv tree/dist "$name"
    sed -i '/^Total time: /d' "$name.out"
}
ANT_JARS=${JW_SERVER_JARS:-/usr/share/java}
if [ -f "$ANT_JARS/ant.jar" ] && [ -f "$ANT_JARS/ant-launcher.jar" ]; then
    build ant-plain
    build ant-probed "$agent" "${may_load[@]}"
    fired ant-probed 10000
    grep -qx '     \[echo\] tree 4.2: dist/classes/Raw.class dist/unpacked/Raw.class' ant-plain.out || fail "ant did not build: $(tail -n 3 ant-plain.out)"
    diff -r ant-plain ant-probed || fail "ant built another tree with a probe"
    diff ant-plain.out ant-probed.out && diff ant-plain.err ant-probed.err || fail "ant says something else with a probe"
else
    skip_part "a build tool of Debian: ant is not installed"
fi

# A server under load: the probe is there from its first class on, or comes and goes.
serve() { # $1: name, then arguments of java
    local name=$1
    shift
    EVERYWHERE=$OUT/$name.fired run_java "$name" 0 "${LATE_AGENTS[@]}" -cp "$JW_JAR:$API_CLASSES" "$@"
}
serve http-plain Answers "$REQUESTS"
[ "$(wc -l <http-plain.out)" = $((6 * REQUESTS)) ] || fail "$(wc -l <http-plain.out) answers, not $((6 * REQUESTS))"
serve http-probed "$agent" Answers "$REQUESTS"
fired http-probed 10000
serve http-late Answers "$REQUESTS" "$PROBE_CLASSES/probes/Everywhere.class" everywhere
fired http-late 1000
for run in http-probed http-late; do
    diff -q http-plain.out "$run.out" || fail "$run: answers are others: $(diff http-plain.out "$run.out" | head -n 2)"
done

# An application server under load, with the probe from its first class on; then that is taken out, comes again, and is taken out once more.
. "$(dirname "$LIB")/attach.sh"
. "$(dirname "$LIB")/containers.sh"

take_out() { # $1: process
    until "$JW_COMMAND" probe detach "$1" everywhere >detach.out 2>&1; do
        grep -q 'quiesced everywhere except' detach.out || fail "detach: $(head -n 1 detach.out)"
        sleep 0.1 # threads that wait in it for a processor are out soon
    done
    grep -qx 'detached everywhere' detach.out || fail "detach: $(head -n 1 detach.out)"
    jaywalk 0 probe list "$1" >list.out
    grep -qx 'No probe is attached.' list.out || fail "detached, and listed: $(head -n 1 list.out)"
}
calls_so_far() { # $1: process
    jaywalk 0 probe list --json "$1" | grep -o '"calls":[0-9]*' | awk -F : '{ sum += $2 } END { print sum + 0 }'
}

container=tomcat9 class_path=$(class_path_of tomcat9)
[ -n "$class_path" ] || container=tomcat10 class_path=$(class_path_of tomcat10)
if [ -n "$class_path" ]; then
    mkdir files
    seq 100 >files/file.txt
    touch -d @1700000000 files/file.txt
    main=$(build_shop "$container" "$class_path")
    # The one thing that Tomcat says by the time that it takes.
    printf '%s\n' 'handlers = java.util.logging.ConsoleHandler' 'org.apache.catalina.util.SessionIdGeneratorBase.level = SEVERE' >logging.properties
    shop=(-Dburn=0 -Djava.util.logging.config.file=logging.properties -cp "$container:$class_path" "$main" files 6 "$OUT/asked")
    run_java tomcat-plain 0 "${shop[@]}"
    grep -qx '/failing 503 .* sorry\|/orders/4711?x=y 200 .*' tomcat-plain.out && [ "$(wc -l <tomcat-plain.out)" -ge 15 ] || fail "tomcat: $(tail -n 2 tomcat-plain.out)"

    touch asked
    EVERYWHERE=$OUT/tomcat.fired begin_target tomcat "${LATE_AGENTS[@]}" "$agent" "${may_load[@]}" "${shop[@]}"
    take_out "$tomcat"
    jaywalk 0 probe attach "$tomcat" "$PROBE_CLASSES/probes/Everywhere.class" >attach.out
    grep -q '^attached everywhere: 3 handlers, [0-9]\{4,\} methods of [0-9]\{3,\} classes$' attach.out || fail "tomcat: $(head -n 1 attach.out)"
    until [ "$(calls_so_far "$tomcat")" -ge 20000 ]; do
        kill -0 "$tomcat" || fail "tomcat is gone: $(last_words tomcat.err)"
        sleep 0.1
    done
    take_out "$tomcat"
    rm asked
    wait "$tomcat" || fail "tomcat: status $?: $(last_words tomcat.err)"
    no_crash
    [ "$(awk '$2 >= 10000 && $4 >= 10000' tomcat.fired | wc -l)" = 2 ] || fail "tomcat: the probe was not called each time: $(cat tomcat.fired)"
    diff tomcat-plain.out tomcat.out && diff tomcat-plain.err tomcat.err || fail "tomcat answers or says something else with a probe"
else
    skip_part "an application server of Debian: neither libtomcat9-java nor libtomcat10-embed-java is installed"
fi
