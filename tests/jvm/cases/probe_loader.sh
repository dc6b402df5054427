# The loader of a probe: from a jar, a folder and a class; beside a class of the same name in the application; that it is collected,
# and what it refuses.
[ -f "$JW_JAR" ] || not_run "no $JW_JAR: no JDK here compiles for JDK 8"

mkdir -p classes/probes place
cp "$PROBE_CLASSES"/probes/{Held*,Other}.class classes/probes
echo held >classes/probes/held.txt
"$JDK/bin/jar" cf held.jar -C classes .
JAVA_FLAGS=(-Xmx128m "${NO_CORE[@]}" -XX:ErrorFile="$OUT/hs_err_%p.log" -cp "$JW_JAR:$API_CLASSES:$PROBE_CLASSES")
run_java loaders 0 -Dprobes.application=true io.jaywalk.ProbeLoaders held.jar classes classes/probes/Held.class place
grep -qx 'ok probe loaders' loaders.out || fail "loaders: $(tail -n 1 loaders.out)"
