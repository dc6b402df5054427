# Stacks of who handed a task over under those of who runs it (asyncstacks): each sample of a task of a ThreadPoolExecutor or ForkJoinPool has the caller's, whichever way
# it was handed over, by platform and virtual threads, and from within another task; none has another caller's; what a thread does between two tasks, and while it waits for
# one, has none. The same in a recording and in a graph that the agent draws.
none_of() { # $1: file; $2: what may not be in it, and why
    [ "$(count_of "$1" "$2")" = 0 ] || fail "$3: $(grep -E "$2" "$1" | head -n 3)"
}

count_of() { # $1: file of collapsed stacks, $2: pattern
    awk -v pattern="$2" '{ stack = $0; sub(/ [0-9]+$/, "", stack) } stack ~ pattern { sum += $NF } END { printf "%.0f\n", sum }' "$1"
}

IN_POOL='(ThreadPoolExecutor.runWorker|ForkJoinTask.doExec|ForkJoinPool.runWorker)'
stacks() { # $1: name of the run; $2: collapsed stacks; $3: at least so many of each colour
    local run=$1 file=$2 colour all under
    for colour in Red Blue; do
        all=$(count_of "$file" ";Handed.of$colour")
        under=$(count_of "$file" "Handed.(hand|inner)$colour;.*;\\[handed over\\];.*$IN_POOL;.*Handed.of$colour")
        echo "$run: $all samples of $colour, $under under who handed it over"
        [ "$all" -ge "$3" ] || fail "$run: $all samples of $colour tell nothing"
        [ "$under" = "$all" ] || fail "$run: of $all samples of $colour $under have the stack of who handed it over: $(grep "of$colour" "$file" | grep -v 'handed over' | head -n 2)"
    done
    none_of "$file" 'Red.*Blue|Blue.*Red' "$run: a stack under another one's"
    none_of "$file" 'handed over.*Handed.between' "$run: between two tasks a thread runs none"
    none_of "$file" 'handed over.*ThreadPoolExecutor.getTask;.*Queue.take' "$run: a thread that waits for a task runs none"
    none_of "$file" 'handed over.*ForkJoinPool.awaitWork' "$run: a thread that waits for a task runs none"
    none_of "$file" 'Handed.innerRed;.*handed over.*Handed.lastRed' "$run: that task has ended"
    none_of "$file" '(JaywalkQueues|JaywalkForks|QueueEvents|ForkEvents).*handed over' "$run: the agent's own frames"
    [ "$(count_of "$file" ';Handed.between')" -ge 1 ] || fail "$run: nothing is seen between two tasks"
}

counter() { # $1: recording, $2: name
    run_jfr "${READER#* }" print --events jaywalk.Diagnostics "$1" | sed -n "s/^ *$2 = //p" | tail -n 1
}

READER=$(one_reader)
handed() { # $1: platform or virtual
    local name=$1 lost
    profile "$name" "event=cpu,interval=5ms,wall=20ms,asyncstacks,file=$name.jfr" Handed "$1" 40
    for lost in tasksLost tasksNotKept tasksUnjoined placesDropped queueForgotten; do
        [ "$(counter "$name.jfr" $lost)" = 0 ] || fail "$name: $lost is $(counter "$name.jfr" $lost)"
    done
    grep -q 'Async stacks: [1-9][0-9]* tasks were handed over; of 0 the stack found no room, and 0 begins' "$name.err" || fail "$name: the end does not say what became of stacks"
    "$JW_COMMAND" convert -q -e cpu --samples "$name.jfr" "$name.cpu.collapsed" || fail "$name: no stacks"
    "$JW_COMMAND" convert -q -e wall --samples "$name.jfr" "$name.wall.collapsed" || fail "$name: no stacks of the wall clock"
    stacks "$name, CPU" "$name.cpu.collapsed" 10
    stacks "$name, wall" "$name.wall.collapsed" 5
}

handed platform
whole platform.jfr
[ "$MAJOR" -lt 21 ] || handed virtual

# What the agent draws has the same; who does not ask has none of it.
profile graph "event=cpu,interval=5ms,asyncstacks,samples,file=graph.collapsed" Handed platform 40
stacks graph graph.collapsed 10
# In little memory, too.
profile small "event=cpu,interval=5ms,memlimit=40m,asyncstacks,samples,file=small.collapsed" Handed platform 40
stacks small small.collapsed 10
! grep -q 'left no room' small.err || fail "small: there was no room for the stacks: $(grep 'left no room' small.err)"
profile plain "event=cpu,interval=5ms,file=plain.jfr" Handed platform 10
"$JW_COMMAND" convert -q --samples plain.jfr plain.collapsed || fail "plain: no stacks"
none_of plain.collapsed 'handed over' "it was not asked for"
