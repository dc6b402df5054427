# What the census of locks counts with, in a JVM without an agent: it is exact while threads end and it is read, where there is no room left what is
# lost is counted, and no thread waits for a lock that all share. Before JDK 9 nothing takes the place of classes of the JDK.
[ "$MAJOR" -ge 9 ] || not_run "before JDK 9 no class of package java.lang can be given on the command line"
[ -x "$JDK/bin/javac" ] || not_run "this JDK has no javac"
root=$(dirname "$LIB")/../..
"$JDK/bin/javac" -nowarn -Xlint:-options --patch-module "java.base=$root/java:$root/tests/jvm/boot" -d classes "$root"/java/java/lang/*.java "$root"/tests/jvm/boot/*.java
run_java counting 0 -Xmx512m --patch-module java.base=classes java.lang.CountingTest
[ "$(tail -n 1 counting.out)" = ok ] || fail "$(tail -n 1 counting.out)"
