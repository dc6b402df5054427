# What programs do outside of their own methods: garbage, compilation, libz, checksums, ciphers, JNI, sockets. Hardly a stack has an unknown
# end, and those of Java threads go down to where they began; with native frames between those of Java, and without.
for features in $(half_of vtable+comptask mixed); do
    name=proof-${features%%+*}
    profile "$name" "event=cpu,interval=1ms,features=$features,file=$name.jfr" -cp "$CLASSES:$JW_JAR" -XX:+UseParallelGC \
        -XX:ParallelGCThreads=2 -Xmn8m Proof 350
    silent "$name"
    check_once Roots "$features" "$name.jfr"
done
