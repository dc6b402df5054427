# How outputs look, with names that a JVM really makes up: the same of agent, command and convert.
# once: names are made to look so outside of the JVM.
. "$(dirname "$LIB")/attach.sh"

made_up='0x[0-9a-f]{6}|\$\$Lambda\$[0-9]|Accessor[0-9]|\$Proxy[0-9]|[pP]roxy[0-9]/'

sum_of() { # $1: collapsed stacks
    awk '{ sum += $NF } END { print sum + 0 }' "$1"
}

# Nothing but what stacks with such names have in common.
expect_normal() { # $1: collapsed stacks, made with norm
    grep -qF 'Names$$Lambda.' "$1" || fail "$1: no lambda is sampled"
    ! grep -E "$made_up" "$1" || fail "$1: names of this run are left"
}

profile plain interval=2ms,file=plain.jfr Names 3
"$JW_COMMAND" convert -q plain.jfr plain.collapsed
grep -qE "$made_up" plain.collapsed || fail "no name of this run is sampled"
"$JW_COMMAND" convert -q -n plain.jfr normal.collapsed
expect_normal normal.collapsed
[ "$(sum_of plain.collapsed)" = "$(sum_of normal.collapsed)" ] || fail "norm changes the number of samples"

# Included and excluded stacks are all of them.
"$JW_COMMAND" convert -q -I '*Names.burn*' plain.jfr with.collapsed
"$JW_COMMAND" convert -q -X '/Names[.]burn/' plain.jfr without.collapsed
[ "$(sum_of with.collapsed)" -gt 0 ] || fail "include leaves nothing"
[ $(($(sum_of with.collapsed) + $(sum_of without.collapsed))) = "$(sum_of plain.collapsed)" ] ||
    fail "include and exclude of one pattern do not add up"

# The agent by its string, and the command by its options.
# Without the stacks of compilers, which name what they compile.
profile live 'interval=2ms,norm,simple,threads,ann,lib,features=none,include=Names.main,file=live.collapsed' Names 2
expect_normal live.collapsed
! grep -vE '^\[main tid=[0-9]+\];.*Names\.main_\[[0-9ij]\]' live.collapsed ||
    fail "live.collapsed: a stack of another thread, or without main"
! grep -E '[;\]](java|jdk|sun)/' live.collapsed || fail "live.collapsed: a class has its package"

# Lines, where the start asks for them; a dump that asks later is told that they are not there.
profile lined 'interval=2ms,lines,simple,include=Names.main*,file=lined.collapsed' Names 2
grep -qE ';Names\.burn:[0-9]+[; ]' lined.collapsed || fail "lined.collapsed: no lines: $(head -c 300 lined.collapsed)"
! grep -qE ';Names\.burn[; ]' lined.collapsed || fail "lined.collapsed: a method of Names without a line"

begin_target target Names 3600
jaywalk 0 -q -d 2 -i 2ms -s -n -t -r --total -I '*Names.burn' -f named.collapsed "$target"
end_target target running
grep -qE '^\[main tid=[0-9]+\];Names\.burn;' named.collapsed || fail "named.collapsed: $(head -c 300 named.collapsed)"
! grep -E "$made_up" named.collapsed || fail "named.collapsed: names of this run are left"

# A part of the samples, counted as they come: by thread, state and time, alone and together.
profile part 'event=wall,wall=10ms,thread=main,threads,state=running,from=200ms,file=part.collapsed' Names 2
grep -q '^\[main tid=' part.collapsed || fail "part.collapsed: no sample of main"
! grep -v '^\[main tid=' part.collapsed || fail "part.collapsed: another thread than main"
profile late 'interval=2ms,from=1h,file=late.collapsed' Names 1
[ ! -s late.collapsed ] || fail "late.collapsed: samples of a time that has not come"
profile by_state 'event=wall,wall=10ms,thread=main,state=sleeping,file=sleeping.collapsed' Names 1
[ "$(sum_of sleeping.collapsed)" -lt "$(sum_of part.collapsed)" ] || fail "sleeping.collapsed: main does not sleep"

# A window that ends between two files of a session: each file before has samples, those after have none, and the session goes on.
files() { ls | grep -c '^turn-[0-9]*[.]collapsed$' || true; }
begin_target turning Names 3600
jaywalk 0 start -i 2ms --loop=1s --to=$(($(date +%s%3N) + 10000)) -f "$OUT/turn-%n.collapsed" "$turning"
end_s=$(($(date +%s) + 10))
until [ "$(date +%s)" -gt "$end_s" ]; do sleep 0.2; done
before=$(files)
until [ "$(files)" -ge $((before + 3)) ]; do
    jaywalk 0 status "$turning" >status.out
    ! grep -F 'ended by itself' said.err || fail "the window ends the session"
    sleep 0.2
done
jaywalk 0 stop "$turning"
end_target turning running
[ -s "$(ls -rt turn-*.collapsed | head -n 1)" ] || fail "no sample in the first file of a session"
[ ! -s "$(ls -t turn-*.collapsed | head -n 1)" ] || fail "a file that begins after the window has samples"

# A session of a part whose place is gone ends; what goes on in its stead counts that part, so it is no recording, which has all samples.
mkdir gone
begin_target parted Names 3600
jaywalk 0 start -i 2ms --loop=1s --thread=main -f "$OUT/gone/turn-%n.collapsed" "$parted"
rm -r gone
until grep -qF 'ended by itself' said.err; do
    sleep 0.2
    jaywalk 0 status "$parted" >status.out
done
jaywalk 1 resume -f all.jfr "$parted"
says 'thread: the session counted a part of the samples, and a recording has all of them'
jaywalk 0 resume -f on.collapsed "$parted"
until [ -s on.collapsed ]; do
    sleep 0.2
    jaywalk 0 dump "$parted"
done
jaywalk 0 stop "$parted"
kill "$parted"
wait "$parted" || true
