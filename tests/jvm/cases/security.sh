# What others could turn against who profiles: secrets and addresses in recordings, names that a terminal or a browser would
# obey, what children inherit, the doors that are not there, too many commands.
# once: files, sockets and names are those of the agent and the command.
. "$(dirname "$LIB")/attach.sh"

# s06: recordings, graphs and logs are private whatever the umask of the JVM.
# s15: of the command line of the JVM and of its program nothing is told that is called a secret.
secret=HUNTER2
umask 000
export SHOP_TOKEN=$secret SHOP_DATABASE=jdbc:mysql://me:$secret@host/shop
run_java told 0 -Ddb.password=$secret "-Dapi.token=$secret and more" \
    "$(agent_flag "interval=4ms,environ=yes,log=agent.log,loglevel=debug,file=told.jfr")" Hostile 1 --password $secret "url=https://me:$secret@host/"
umask 022
for file in told.jfr agent.log; do
    [ "$(stat -c %a "$file")" = 600 ] || fail "$file has mode $(stat -c %a "$file")"
done
! grep -aq "$secret" told.jfr agent.log || fail "a secret of the command line is recorded: $(grep -alr "$secret" told.jfr agent.log)"
jfr_tool "$MAJOR" "$JDK" print --events jdk.JVMInformation told.jfr
grep -qF -- '-Ddb.password=***' tool.out && grep -qF -- '-Dapi.token=***' tool.out || fail "masked arguments of the JVM: $(cat tool.out)"
grep -qF -- 'Hostile 1 --password *** url=https://***@host/' tool.out || fail "masked arguments of the program: $(cat tool.out)"
jfr_tool "$MAJOR" "$JDK" print --events jdk.InitialSystemProperty,jdk.InitialEnvironmentVariable told.jfr
key=
for pair in db.password '***' api.token '***' SHOP_TOKEN '***' SHOP_DATABASE 'jdbc:mysql://***@host/shop'; do
    if [ -z "$key" ]; then key=$pair && continue; fi
    grep -F -A 1 "key = \"$key\"" tool.out | has_line -F "value = \"$pair\"" || fail "$key is not told as $pair: $(cat tool.out)"
    key=
done
run_java silent_one 0 -Dnot.secret=here "$(agent_flag "interval=4ms,noargs,file=none.jfr")" Hostile 1 or.here
! grep -aqE 'not.secret|or.here|SHOP_' none.jfr || fail "noargs: the command line is recorded, or the environment is, which was not asked for"
unset SHOP_TOKEN SHOP_DATABASE

# s14: no address of the kernel in any output.
# s17: names of threads and classes are text, wherever they are shown.
for form in html collapsed text; do
    "$JW_COMMAND" convert -t -o "$form" told.jfr "told.$form" 2>convert.err || fail "convert -o $form: $(cat convert.err)"
    ! grep -aqE 'ffffffff[89a-f][0-9a-f]{7}' "told.$form" || fail "told.$form shows an address of the kernel"
    ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "told.$form" || fail "told.$form holds control characters"
done
! grep -aqE 'ffffffff[89a-f][0-9a-f]{7}' told.jfr || fail "the recording shows an address of the kernel"
grep -q 'owned' told.text || fail "the thread with the hostile name was not sampled: $(head -n 30 told.text)"
! grep -aqi '</script><b>' told.html || fail "told.html has markup of a thread's name"
[ "$(grep -aoi '</script' told.html | wc -l)" = "$(grep -aoi '<script' told.html | wc -l)" ] || fail "told.html has a script too many"

begin_target target Hostile 0
t=$target
jaywalk 0 start -i 4ms -t -o text "$t" >out
# A dump of nothing is refused.
until [ "$(jaywalk 0 status "$t" | sed -n 's/ samples in .*//p')" -gt 0 ]; do sleep 0.1; done
for command in status "dump -o traces=5 -t" "dump -o flat=5" list metrics; do
    # shellcheck disable=SC2086
    jaywalk 0 $command "$t" >shown
    ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' shown || fail "$command: a name speaks to the terminal"
    sleep 0.11
done
# s17: of a process that is none of ours only what can be shown.
(exec -a $'\e]0;owned\a\xc2\x9bevil' sleep 1000) &
sleeper=$!
until grep -q evil "/proc/$sleeper/cmdline"; do sleep 0.02; done # until then it has the name of this shell
jaywalk 3 status "$sleeper" >out
! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' said.err || fail "a complaint speaks to the terminal: $(cat -v said.err)"
says '\x1b]0;owned\x07'
kill "$sleeper"

# s12: nobody listens for anybody, before, during or after a session.
for state in running stopped; do
    # The connection of the last command may be closed meanwhile.
    inodes=$({ find "/proc/$t/fd" -lname 'socket:*' -printf '%l\n' || true; } | tr -dc '0-9\n')
    for inode in $inodes; do
        awk -v inode="$inode" '$4 == "0A" && $10 == inode { exit 1 }' "/proc/$t/net/tcp" "/proc/$t/net/tcp6" || fail "$state: a TCP port is open"
        # The JVM's own attach listener aside.
        awk -v inode="$inode" '$4 == "00010000" && $7 == inode && $8 !~ /\.java_pid/ { exit 1 }' "/proc/$t/net/unix" ||
            fail "$state: a socket listens"
    done
    [ "$state" = stopped ] || jaywalk 0 stop "$t" >out
done

# s16: of a storm of commands some may be refused; who comes later is served.
# s22: what a child of the program inherits has nothing of ours (the program looks itself).
jaywalk 0 start -i 4ms -f children.jfr --log "$OUT/children.log" "$t" >out
until grep -q '^inherits ' target.out; do
    kill -0 "$t" || fail "the program is gone: $(tail -n 1 target.err)"
    sleep 0.05
done
storm=()
for i in {1..40}; do
    "$JW_COMMAND" status "$t" >"storm.$i" 2>&1 &
    storm+=($!)
done
for pid in "${storm[@]}"; do wait "$pid" || true; done
[ "$(jaywalk 0 status "$t" | head -n 1 | grep -c running)" = 1 ] || fail "after a storm of commands: $(cat said.out)"
jaywalk 0 stop "$t" >out
kill -0 "$t" || fail "the program is gone"
kill "$t"
wait "$t" || true
no_crash
grep -q 'inherits 0' target.out || fail "a child inherits: $(tail -n 3 target.out)"
