# Contexts that C code gives its threads, platform ones and virtual ones: each sample has that of the thread that ran.

works=(101 102 103 104)
kinds=(platform)
if [ "$MAJOR" -ge 21 ]; then
    works+=(201 202 203 204 205 206 207 208)
    kinds+=(virtual)
fi

# Samples below so many frames of deep() as the work has; any other number is somebody else's stack, unless it is less and
# the thread is on its way down or up, where it burns nothing.
own_samples() { # $1: collapsed stacks, $2: work
    awk -v wanted=$(($2 % 100)) '
        { frames = gsub(/ApiFromC[.]deep/, "") }
        frames > wanted || (frames != 0 && frames < wanted && /[.]burn/) { print "FOREIGN " $0; exit }
        frames != 0 { sum += $NF }
        END { print sum + 0 }' "$1"
}

profile c "event=cpu,interval=1ms,features=none,attributes=tenant,file=c.jfr" ApiFromC 300 "${kinds[@]}" commands
silent c
"$JW_COMMAND" convert -q c.jfr all.collapsed
all=$(awk '/ApiFromC[.]deep/ { sum += $NF } END { print sum + 0 }' all.collapsed)
sum=0
for work in "${works[@]}"; do
    "$JW_COMMAND" convert -q --attribute tenant=t"$work" c.jfr "$work.collapsed"
    own=$(own_samples "$work.collapsed" "$work")
    [ "${own#FOREIGN}" = "$own" ] || fail "a sample of another thread's work has tenant t$work: $own"
    [ "$own" -gt 0 ] || fail "no sample has tenant t$work"
    sum=$((sum + own))
done
# From 21 to 23 the JVM does not tell which virtual thread runs native code.
if [ "$MAJOR" -lt 21 ] || [ "$MAJOR" -ge 24 ]; then
    [ "$sum" = "$all" ] || fail "$sum of $all samples at work have a tenant"
fi
"$JW_COMMAND" endpoints c.jfr >endpoints.txt
for work in "${works[@]}"; do
    kind=platform
    [ "$work" -lt 200 ] || kind=virtual
    grep -qF "GET /$kind/$work" endpoints.txt || fail "no endpoint GET /$kind/$work"
done

# A program that loads the library itself, says whom it works for before, while and after it is sampled, and starts
# and stops that by itself.
(
    export LD_LIBRARY_PATH
    LD_LIBRARY_PATH=$(dirname "$JW_LIBRARY")
    run_java late 0 ApiFromC 100 idle "${kinds[@]}" start "${kinds[@]}" stop "${kinds[@]}"
) || exit
for work in "${works[@]}"; do
    "$JW_COMMAND" convert -q --attribute tenant=t"$work" late.jfr "late-$work.collapsed"
    own=$(own_samples "late-$work.collapsed" "$work")
    [ "${own#FOREIGN}" = "$own" ] || fail "late: a sample of another thread's work has tenant t$work: $own"
    [ "$own" -gt 0 ] || fail "late: no sample has tenant t$work"
done

# Only the thread that the program added.
profile f "event=cpu,interval=1ms,filter,threads,file=f.collapsed" ApiFromC 200 filtered
grep -q '^\[added ' f.collapsed || fail "the thread that was added is not sampled"
! grep -v '^\[added ' f.collapsed || fail "another thread is sampled than the one that was added"
profile g "event=wall,interval=5ms,filter,threads,file=g.collapsed" ApiFromC 200 filtered
grep -q '^\[added ' g.collapsed || fail "the thread that was added is not looked at"
! grep -v '^\[added ' g.collapsed || fail "another thread is looked at than the one that was added"

# As a profiler of the whole machine sees a program: by /proc, the symbol of the library, and the thread pointers.
root=$(dirname "$LIB")/../..
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o outside "$root/tests/jvm/native/outside.c"
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pthread -I"$root/include" -o served \
    "$root/tests/jvm/native/served.c" -L"$(dirname "$JW_LIBRARY")" -ljaywalk -Wl,-rpath,"$(dirname "$JW_LIBRARY")"
mkfifo input
./served <input >served.out &
served=$!
exec 9>input
until grep -q '^ready' served.out; do
    kill -0 "$served" || fail "the program without a JVM ended"
    sleep 0.05
done
status=0
./outside "$served" "$JW_LIBRARY" >outside.out 2>outside.err || status=$?
exec 9>&-
wait "$served" || fail "the program without a JVM ended with status $?"
if [ "$status" = 77 ]; then
    skip_part "what other processes see: $(cat outside.err)"
else
    [ "$status" = 0 ] || fail "from outside: $(cat outside.err)"
    diff <(grep -v ready served.out | sort) <(sort outside.out) || fail "from outside something else is seen"
fi
