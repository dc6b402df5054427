# Attaching to programs of every kind: idle, busy, with 300 libraries, fifty times in a row. The picture agrees with the CPU
# clocks of the threads. With 50,000 classes: attach_safepoints.sh.
# once: what JDK 9 and later have of attaching is the same; make test-jdks has it on each.
. "$(dirname "$LIB")/attach.sh"

mkdir none libraries
printf 'int jaywalk_test_%s(int x) { return x + 1; }\n' one two three >tiny.c
"${CC:-gcc}" -shared -fPIC -O2 -o tiny.so tiny.c
for ((i = 0; i < 300; i++)); do cp tiny.so "libraries/lib$i.so"; done

# Hot's threads spend four fifths in one method, by clocks whose own reading counts on either side.
hot_is_hot() { # $1: name
    awk -v name="$1" '/;Hot.run/ { all += $NF } /;Hot.hottest/ { hot += $NF } /;Threads.cpuNs/ { clock += $NF }
        END {
            bound = 4.5 * sqrt(0.16 / all) + 0.01
            printf "%s: %.1f %% of %d in the hottest method, %.1f %% in the clock\n", name, 100 * hot / all, all, 100 * clock / all
            exit !(all >= 100 && hot / all - 0.8 < bound && 0.8 - (hot + clock) / all < bound)
        }' "$1.collapsed" || fail "$1: the hottest method does not have four fifths of the samples"
}

begin_target idle Crowded none 0 idle
agrees idle 1
end_target idle running

begin_target crowd Crowded libraries 0 busy
agrees crowd 2 200
hot_is_hot crowd
[ "$(grep -c 'libraries/lib.*r-xp\|r-xp.*libraries/lib' "/proc/$crowd/maps")" = 300 ] || fail "not 300 libraries"
end_target crowd running

begin_target busy Crowded none 0 busy
agrees busy 1 200
hot_is_hot busy
for ((i = 1; i <= 50; i++)); do
    jaywalk 0 start -i 1ms -f "again.collapsed" "$busy" >out
    until [ "$(jaywalk 0 status "$busy" | sed -n 's/ samples in .*//p')" -gt 0 ]; do sleep 0.15; done
    jaywalk 0 stop "$busy" >out
    [ -s again.collapsed ] || fail "attach $i of 50: no samples"
    rm again.collapsed
done
end_target busy running
