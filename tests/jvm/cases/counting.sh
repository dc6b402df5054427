# What the census of locks counts with, in a JVM without an agent: it is exact while threads end and it is read, where there is no room left what is
# lost is counted, and no thread waits for a lock that all share; and of holds that are timed in part the sum is within the bound that is told of it. Before JDK 9 nothing takes the place of classes of the JDK.
[ "$MAJOR" -ge 9 ] || not_run "before JDK 9 no class of package java.lang can be given on the command line"
[ -x "$JDK/bin/javac" ] || not_run "this JDK has no javac"
root=$(dirname "$LIB")/../..
compile_java -nowarn -Xlint:-options --patch-module "java.base=$root/java:$root/tests/jvm/boot" -d classes "$root"/java/java/lang/*.java "$root"/tests/jvm/boot/*.java
for test in CountingTest HoldsTest ObjectsTest; do
    run_java "$test" 0 -Xmx512m --patch-module java.base=classes "java.lang.$test"
    [ "$(tail -n 1 "$test.out")" = ok ] || fail "$test: $(tail -n 1 "$test.out")"
done

# Virtual threads: as the agent has it, with what tells their carriers, and with claims of Java's.
[ "$MAJOR" -ge 21 ] || exit 0
mapfile -t sources < <(ls "$root"/java/java/lang/*.java "$root"/tests/jvm/boot/carriers/*.java | grep -v '/java/java/lang/JaywalkCarrier.java$')
compile_java -nowarn -Xlint:-options --patch-module "java.base=$root/tests/jvm/boot/carriers:$root/java" -d carriers "${sources[@]}"
run_java VirtualHoldsTest 0 -Xmx512m -Djdk.virtualThreadScheduler.parallelism=8 --patch-module java.base=carriers java.lang.VirtualHoldsTest
[ "$(tail -n 1 VirtualHoldsTest.out)" = ok ] || fail "VirtualHoldsTest: $(tail -n 1 VirtualHoldsTest.out)"
