# Whatever the form of the profile, it names the hottest method.
# once: a profile is drawn outside of the JVM.
options=event=cpu,interval=10ms

hottest_line_of() { # the stack with the most samples, of a collapsed file: leaf frame
    awk '{ n = split($0, frames, ";"); leaf = frames[n]; count = leaf; sub(/.* /, "", count)
           sub(/ [0-9]+$/, "", leaf); sum[leaf] += count }
         END { for (leaf in sum) if (sum[leaf] > most) { most = sum[leaf]; top = leaf }; print top }' "$1"
}

names_hottest() { # $1: file
    case $1 in
    *.collapsed) [[ $(hottest_line_of "$1") == *Hot*hottest* ]] ;;
    *.html) grep -q 'hottest' "$1" && grep -q '</html>' "$1" ;;
    *.tree) grep -m 1 -E '^ +[0-9.]+ % +[1-9][0-9]' "$1" | has_line 'Hot\.hottest$' ;; # the first with time of its own
    *.pb.gz) gzip -dcf "$1" | has_line -a 'Hot\.hottest' ;;
    *.otlp) grep -aq 'Hot\.hottest' "$1" ;;
    *.txt) grep -m 1 -E 'Hot\.|Hot::|Hot/' "$1" | has_line hottest ;;
    esac || fail "$1 does not name Hot.hottest as the hottest method"
}

for ending in jfr html collapsed txt pb.gz otlp; do
    profile "$ending" "$options,file=hot.$ending" Hot 1.5
    silent "$ending"
done
whole hot.jfr
check HotMethod hot.jfr
for ending in html collapsed txt pb.gz otlp; do
    names_hottest "hot.$ending"
done
for ending in html collapsed txt tree pb.gz otlp; do
    "$JW_COMMAND" convert hot.jfr "converted.$ending" 2>convert.err ||
        fail "jaywalk convert to $ending: $(tail -n 1 convert.err)"
    names_hottest "converted.$ending"
done

view_home=$(awk '$1 >= 21 { print $2; exit }' <<<"$READERS")
if [ -n "$view_home" ]; then
    "$view_home/bin/jfr" view hot-methods hot.jfr >view.out 2>view.err || fail "jfr view: $(tail -n 1 view.out)"
    grep -m 1 '%' view.out | has_line 'Hot.hottest' || fail "jfr view hot-methods: $(grep -m 1 '%' view.out)"
else
    skip_part "jfr view came with JDK 21, and none of those that read here has it"
fi
