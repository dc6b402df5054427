# features=mixed: Java that is reached by reflection (through the JVM or by handles), by method handles, by doPrivileged and, from JDK 22 on,
# from C by the API of foreign functions, twice in one stack: whole stacks, frame by frame as the program makes them.
# once: how native frames are left is tested on each JDK by proof and known.
[ "$(nm "$(libjvm)" 2>/dev/null | grep -c JavaCalls)" != 0 ] || not_run "this JDK's libjvm has no symbols"
foreign=()
[ "$MAJOR" -lt 22 ] || foreign=(foreign)
# Up to JDK 17 the first calls of a method go through the JVM; later none do, unless it is asked for.
if [ "$MAJOR" -lt 18 ]; then
    other=-Dsun.reflect.noInflation=true ways=(native java)
else
    other=-Djdk.reflect.useNativeAccessorOnly=true ways=(java native)
fi
reach() { # $1: what Method.invoke goes through, then flags of the JVM
    profile "$1" "event=cpu,interval=1ms,features=mixed,file=$1.jfr" -cp "$CLASSES:$JW_JAR" "${@:2}" Reach 250 "${foreign[@]}"
    silent "$1"
    check_once ReachStacks "$1.jfr" "$1" "${foreign[@]}"
}
for way in $(half_of usual other); do
    case $way in
    usual) reach "${ways[0]}" ;;
    other) reach "${ways[1]}" "$other" ;;
    esac
done
