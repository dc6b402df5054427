/* The commands: their names, what they take, and their help. Context: tool. */
#include "cli/cli_internal.h"

#define CLI_WHO "PID is a process number, or the name of a JVM: main class or jar.\n"

const struct cli_command cli_commands[CLI_COMMAND_LIMIT] = {
    [CLI_COMMAND_PROFILE] =
        {
            .id = CLI_COMMAND_PROFILE,
            .name = "profile",
            .usage = "jaywalk [profile] [options] PID",
            .summary = "sample a running JVM for a while, then write what was found",
            .text = CLI_WHO
            "The word profile may be left out. Nothing stays behind in the JVM but the idle "
            "agent.\n"
            "FILE is meant from where you are, is yours, and replaced at the end and whole; that\n"
            "goes for a JVM in a container or of another user, too. Ctrl-C once ends the session\n"
            "and writes; twice gives up. By default FILE is a recording, from which 'jaywalk "
            "convert' makes\n"
            "anything else; -o text and -o collapsed without FILE are printed.\n",
            .examples = "  jaywalk -d 30 -f flamegraph.html 12345\n"
                        "  jaywalk -d 5m -e cpu -i 1ms -f profile.jfr app.jar\n"
                        "  jaywalk -t -f stacks.collapsed com.acme.Main\n"
                        "  jaywalk -d 5 -o flat=20 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_profile,
        },
    [CLI_COMMAND_RECORD] =
        {
            .id = CLI_COMMAND_RECORD,
            .name = "record",
            .usage = "jaywalk record [options] -- java ...",
            .summary = "run a Java program and sample it from its first moment to its last",
            .text = "Puts -agentpath behind the word java and becomes that program: its output, "
                    "status\n"
                    "and signals are its own. JVMs that it starts in turn are not sampled.\n",
            .examples =
                "  jaywalk record -f flamegraph.html -- java -jar app.jar\n"
                "  jaywalk record -i 5ms -f app-%p.jfr -- java -cp classes com.acme.Main 7\n",
            .operands = CLI_OPERANDS_PROGRAM,
            .run = cli_record,
        },
    [CLI_COMMAND_START] =
        {
            .id = CLI_COMMAND_START,
            .name = "start",
            .usage = "jaywalk start [options] PID",
            .summary = "begin to sample a running JVM, and come back",
            .text = CLI_WHO "It goes on until 'jaywalk stop' or the end of the JVM, which writes "
                            "FILE itself, as its\n"
                            "user: in a container that is an absolute path in there. Without FILE "
                            "samples are kept\n"
                            "in the JVM, for stop and dump.\n",
            .examples = "  jaywalk start -e cpu -f profile.jfr 12345\n"
                        "  jaywalk start --loop 1h -f /var/log/app-%t.jfr 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_start,
        },
    [CLI_COMMAND_RESUME] =
        {
            .id = CLI_COMMAND_RESUME,
            .name = "resume",
            .usage = "jaywalk resume [options] PID",
            .summary = "go on with the session that was stopped",
            .text = CLI_WHO "Samples that are still in the JVM are added to. After a session that "
                            "wrote a recording, FILE\n"
                            "must name a new one.\n",
            .examples = "  jaywalk resume 12345\n  jaywalk resume -f second.jfr 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_resume,
        },
    [CLI_COMMAND_STOP] =
        {
            .id = CLI_COMMAND_STOP,
            .name = "stop",
            .usage = "jaywalk stop [options] PID",
            .summary = "end what start began, and write it",
            .text = CLI_WHO
            "What start named is written; FILE here is written, too. Of a session without a file "
            "the text\n"
            "is printed, and its samples stay in the JVM for dump and resume, until the next "
            "start.\n",
            .examples = "  jaywalk stop 12345\n"
                        "  jaywalk stop -f flamegraph.html 12345\n"
                        "  jaywalk stop -o collapsed 12345 | sort\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_stop,
        },
    [CLI_COMMAND_DUMP] =
        {
            .id = CLI_COMMAND_DUMP,
            .name = "dump",
            .usage = "jaywalk dump [options] PID",
            .summary = "write what was sampled so far, and go on",
            .text = CLI_WHO
            "Of a recording FILE becomes a copy, complete and readable; other formats are made "
            "from samples that\n"
            "are kept in the JVM. Without FILE the text is printed, or the file of the start is "
            "brought up to date.\n",
            .examples = "  jaywalk dump -f so-far.jfr 12345\n"
                        "  jaywalk dump -o flat=20 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_dump,
        },
    [CLI_COMMAND_STATUS] =
        {
            .id = CLI_COMMAND_STATUS,
            .name = "status",
            .usage = "jaywalk status PID",
            .summary = "say whether a JVM is being sampled",
            .text = CLI_WHO "Loads the agent into a JVM that has none yet.\n",
            .examples = "  jaywalk status 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_status,
        },
    [CLI_COMMAND_METRICS] =
        {
            .id = CLI_COMMAND_METRICS,
            .name = "metrics",
            .usage = "jaywalk metrics PID",
            .summary = "every counter of the agent, in the text form of Prometheus",
            .text = CLI_WHO "Loads the agent into a JVM that has none yet.\n",
            .examples = "  jaywalk metrics 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_metrics,
        },
    [CLI_COMMAND_VERSION] =
        {
            .id = CLI_COMMAND_VERSION,
            .name = "version",
            .usage = "jaywalk version [PID]",
            .summary = "the version of the command, or of the agent in a JVM",
            .text = CLI_WHO,
            .examples = "  jaywalk version\n  jaywalk version 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_version,
        },
    [CLI_COMMAND_JPS] =
        {
            .id = CLI_COMMAND_JPS,
            .name = "jps",
            .usage = "jaywalk jps",
            .summary = "list the JVMs that this user can see",
            .text = "A line each: process number, and main class, jar or program.\n",
            .examples = "  jaywalk jps\n",
            .run = cli_jps,
        },
    [CLI_COMMAND_LIST] =
        {
            .id = CLI_COMMAND_LIST,
            .name = "list",
            .usage = "jaywalk list [PID]",
            .summary = "list the events that can be sampled",
            .text =
                "cpu is the CPU time of each thread; itimer that of the process as a whole, "
                "by one timer;\n"
                "wall is time as it goes by, of each thread, running or waiting. Further ones are\n"
                "allocations, waits for locks, counters of the processor and the kernel, calls,\n"
                "exceptions and new objects; with PID, what that JVM can have, or why not.\n",
            .examples = "  jaywalk list\n  jaywalk list 12345\n",
            .operands = CLI_OPERANDS_JVM,
            .run = cli_list_events,
        },
    [CLI_COMMAND_CONVERT] =
        {
            .id = CLI_COMMAND_CONVERT,
            .name = "convert",
            .usage = "jaywalk convert [options] IN.jfr OUT",
            .summary =
                "make a flame graph, a list or another tool's profile from a recording; or pack it",
            .text =
                "Reads a JDK Flight Recording, of jaywalk or of any other producer, and writes\n"
                "what the ending of OUT says:\n"
                "  .html               a flame graph, in one file that needs no network\n"
                "  .explorer.html      the same over time: windows, filters by thread, state,\n"
                "                      endpoint and attribute, comparison; -o explorer\n"
                "  .collapsed .folded  collapsed stacks: a line root;...;leaf and a count each\n"
                "  .txt                hottest methods and stacks\n"
                "  .tree               the call tree as text, heaviest first\n"
                "  .pb.gz .pprof       a profile for pprof and services that read it\n"
                "  .otlp               OTLP profiles of OpenTelemetry (proto 1.10 and later)\n"
                "  .jsonl .ndjson      every event as it stands there, a line of JSON each\n"
                "  .csv                the same as a table; with --event a column for each field\n"
                "  .jfr.zst .jfr       the recording as it is, packed with zstd or unpacked\n"
                "OUT may be - for the standard output; then --output is needed. OUT is replaced\n"
                "at the end and whole, or not at all.\n",
            .examples = "  jaywalk convert profile.jfr flamegraph.html\n"
                        "  jaywalk convert profile.jfr profile.explorer.html\n"
                        "  jaywalk convert --threads -I 'com/acme/*' profile.jfr acme.html\n"
                        "  jaywalk convert -o collapsed profile.jfr - | sort\n"
                        "  jaywalk convert --endpoint 'GET /orders*' --attribute tenant=acme "
                        "profile.jfr acme.html\n"
                        "  jaywalk convert --by endpoint --by thread profile.jfr requests.html\n"
                        "  jaywalk convert --event jdk.GCPhasePause profile.jfr pauses.csv\n"
                        "  jaywalk convert -o jsonl profile.jfr - | jq -c 'select(.type == "
                        "\"jaywalk.Span\")'\n"
                        "  jaywalk convert profile.jfr.zst profile.jfr\n",
            .operands = CLI_OPERANDS_RECORDING,
            .run = cli_convert,
        },
    [CLI_COMMAND_ENDPOINTS] =
        {
            .id = CLI_COMMAND_ENDPOINTS,
            .name = "endpoints",
            .usage = "jaywalk endpoints [options] IN.jfr ...",
            .summary = "list what requests to each endpoint cost, from recordings",
            .text =
                "A row for each endpoint that the program named: requests, samples, CPU time, "
                "wall-clock\n"
                "time, its share of all, and the frame that ran most. One row is for requests to "
                "no known\n"
                "endpoint, one for samples outside of any request, and the last one is the total.\n"
                "Programs name their requests with the classes of jaywalk.jar or with jaywalk.h.\n"
                "Texts that begin like a formula have an apostrophe before them in csv; times are "
                "in ns\n"
                "there and in json.\n",
            .examples = "  jaywalk endpoints profile.jfr\n"
                        "  jaywalk endpoints --sort wall --top 10 profile.jfr\n"
                        "  jaywalk endpoints --by attribute:tenant --endpoint 'GET /orders*' "
                        "profile.jfr\n"
                        "  jaywalk endpoints -o csv monday.jfr tuesday.jfr\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_endpoints,
        },
    [CLI_COMMAND_SAFEPOINTS] =
        {
            .id = CLI_COMMAND_SAFEPOINTS,
            .name = "safepoints",
            .usage = "jaywalk safepoints [options] IN.jfr ...",
            .summary = "say how long safepoints were waited for, and who kept them waiting",
            .text =
                "A safepoint stops all threads, and begins when the last one has stopped. Of those "
                "that were\n"
                "long waited for: times to reach them and inside of them, the JVM's operations, "
                "and "
                "for each\n"
                "place that was late the thread, method and line, what it used meanwhile, and a "
                "hint where stack\n"
                "or figures prove one. Recordings with --ttsp hold that; of those of the JVM's own "
                "recorder\n"
                "(jdk.SafepointBegin and others) the times and operations are shown. Several "
                "recordings add up.\n",
            .examples = "  jaywalk safepoints profile.jfr\n"
                        "  jaywalk safepoints --top 0 monday.jfr tuesday.jfr\n"
                        "  jaywalk safepoints --json profile.jfr | jq '.jaywalk.culprits[].hint'\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_safepoints,
        },
    [CLI_COMMAND_DOCTOR] =
        {
            .id = CLI_COMMAND_DOCTOR,
            .name = "doctor",
            .usage = "jaywalk doctor [options] IN.jfr...|PID",
            .summary = "say whether a profile can be believed, and what to change",
            .text =
                "A page: the verdict (good, or findings with what to do, most important first), "
                "then what it\n"
                "rests on: what the recording is, what became of each signal, which CPU time no "
                "sample stands\n"
                "for, which stacks have holes and why, whether the walker of stacks agreed with "
                "JVMTI, what can\n"
                "be told of safepoints, what jaywalk cost. Of several recordings: the verdict on "
                "each, and a "
                "table\n"
                "of their JDKs side by side.\n"
                "PID is a process number, or the name of a JVM. Of a JVM the agent is asked, which "
                "is loaded into\n"
                "one that has none yet; it tells less than a recording. Recordings of other tools "
                "are read as\n"
                "far as they go. The status is 0 whatever is found, unless --strict says "
                "otherwise.\n",
            .examples = "  jaywalk doctor profile.jfr\n"
                        "  jaywalk doctor 12345\n"
                        "  jaywalk doctor --strict profile.jfr\n"
                        "  jaywalk doctor on-jdk17.jfr on-jdk25.jfr\n"
                        "  jaywalk doctor --json profile.jfr | jq -r '.findings[].id'\n",
            .operands = CLI_OPERANDS_EITHER,
            .run = cli_doctor,
        },
    [CLI_COMMAND_COMPARE] =
        {
            .id = CLI_COMMAND_COMPARE,
            .name = "compare",
            .usage = "jaywalk compare [options] BEFORE.jfr AFTER.jfr",
            .summary = "say which methods take more and which less than before; a gate for builds",
            .text =
                "Methods are told by their names in the form that is the same in every run, a "
                "recursion\n"
                "counts once. Each figure has the range that holds 99 of 100 draws of slices of "
                "the\n"
                "recordings' time: a difference whose range holds 0 may be chance, and fails "
                "nothing.\n"
                "With --fail-on the status is 4 where a method with all that it calls grew by as "
                "much, for\n"
                "sure; percents are those of the whole of the side before.\n",
            .examples = "  jaywalk compare before.jfr after.jfr\n"
                        "  jaywalk compare --per run --fail-on 5% main.jfr branch.jfr\n"
                        "  jaywalk compare -o markdown --fail-on 2% main.jfr branch.jfr > "
                        "comment.md\n"
                        "  jaywalk compare --thread 'http-*' --from 30s monday.jfr tuesday.jfr\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_compare,
        },
    [CLI_COMMAND_LEAKS] =
        {
            .id = CLI_COMMAND_LEAKS,
            .name = "leaks",
            .usage = "jaywalk leaks [options] [BEFORE.jfr] AFTER.jfr",
            .summary = "say which objects stay in the heap, and which of them become more",
            .text =
                "Of recordings made with the option live: sampled objects that were still there at "
                "the last\n"
                "dump or at the end, by class and by where they were allocated, with what they "
                "stand for;\n"
                "growth from one recording to the other, or from the first dump to the last within "
                "one; the\n"
                "oldest; and what to look at. A growth with ? may be chance. Objects that no "
                "collection has\n"
                "looked at are left out (--age=0 takes them, too). Those that were there before "
                "the recording\n"
                "began are not in it.\n",
            .examples = "  jaywalk -d 60 --live=8192 -f app.jfr 4711\n"
                        "  jaywalk leaks app.jfr\n"
                        "  jaywalk start --live=8192 -f app.jfr 4711\n"
                        "  jaywalk dump -f a.jfr 4711\n"
                        "  jaywalk dump -f b.jfr 4711\n"
                        "  jaywalk leaks a.jfr b.jfr\n"
                        "  jaywalk leaks --json a.jfr b.jfr | jq '.sites[0]'\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_leaks,
        },
    [CLI_COMMAND_CONTENTION] =
        {
            .id = CLI_COMMAND_CONTENTION,
            .name = "contention",
            .usage = "jaywalk contention [options] IN.jfr ...",
            .summary = "say who waited for which locks, and for whom",
            .text =
                "Of recordings made with the option lock, or by the JVM's own recorder: waits for "
                "monitors and\n"
                "for locks of java.util.concurrent, by lock, by where and by who waited, with "
                "percentiles;\n"
                "whether one object of a class is waited for or all alike; who had the lock; locks "
                "for which\n"
                "many waited at once; who was waited for while he waited himself; and, apart, "
                "waits for\n"
                "something else than a lock.\n",
            .examples = "  jaywalk -d 60 --lock=10us -f app.jfr 4711\n"
                        "  jaywalk contention app.jfr\n"
                        "  jaywalk contention --json --top=0 app.jfr | jq '.locks[0]'\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_contention,
        },
    [CLI_COMMAND_LOCKS] =
        {
            .id = CLI_COMMAND_LOCKS,
            .name = "locks",
            .usage = "jaywalk locks [options] IN.jfr ...",
            .summary = "say where locks are taken never, by one thread only, or after a wait",
            .text =
                "Of recordings made with the option locks=census: places where a lock is "
                "taken, which are\n"
                "never come to, come to by one thread only, and waited at; of each how often, by "
                "how many\n"
                "threads, how long it was held and waited for, in all, with the error of what is "
                "estimated,\n"
                "and by powers of ten, behind whom, and what follows from that. Those of the "
                "JDK's own classes\n"
                "are apart, each with the methods of the program that call it. Monitors are told "
                "by the\n"
                "statement or method that takes them, locks of java.util.concurrent by the call. "
                "With\n"
                "locks=objects it also says which objects they are, and which of them one thread "
                "only uses.\n"
                "Explorer pages show the same.\n",
            .examples = "  jaywalk -d 60 --locks=census -f app.jfr 4711\n"
                        "  jaywalk locks app.jfr\n"
                        "  jaywalk locks --json app.jfr | jq '.sites[] | select(.verdict == "
                        "\"one thread\")'\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_locks,
        },
    [CLI_COMMAND_LATENCY] =
        {
            .id = CLI_COMMAND_LATENCY,
            .name = "latency",
            .usage = "jaywalk latency [options] IN.jfr ...",
            .summary =
                "say how many calls, requests and waits of tasks there were and how long they took",
            .text =
                "Of recordings made with the option time: all calls of the methods that it names, "
                "how many, how\n"
                "many in a second, and how long they took, in all, on average, and that 50, 90, 99 "
                "and 99.9 of\n"
                "100 took no longer than; these are right to two digits. Of those with the option "
                "count how many\n"
                "alone, and with event=new: how many objects, by class and the method that makes "
                "them. Of\n"
                "those with the option endpoints the same of the requests to each endpoint, and "
                "of\n"
                "spans that the program tells, by their name. Of those with the option trace, or "
                "of "
                "the JVM's own\n"
                "recorder with jdk.MethodTrace, the same of the calls that were long enough. Of "
                "those with the\n"
                "option queue the same of the tasks that waited that long for a thread of their "
                "executor, by the\n"
                "classes of both.\n"
                "Times are those of the wall clock. Several recordings add up. By endpoint, or of "
                "a "
                "part: what is\n"
                "recorded one by one, which is all but what the options time, count and event=new: "
                "count.\n",
            .examples = "  jaywalk -d 60 --time='com.acme.Shop.*' -f shop.jfr 4711\n"
                        "  jaywalk latency shop.jfr\n"
                        "  jaywalk latency --json --top=0 shop.jfr | jq '.methods[0].p99_ns'\n"
                        "  jaywalk -d 60 --endpoints=auto -f shop.jfr 4711\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_latency,
        },
    [CLI_COMMAND_SUMMARY] =
        {
            .id = CLI_COMMAND_SUMMARY,
            .name = "summary",
            .usage = "jaywalk summary [options] IN.jfr|FOLDER ...",
            .summary = "say what is in recordings, and whether they are whole",
            .text =
                "Of each recording: whether it is whole, its size, chunks and time, the JVM, what "
                "was "
                "lost,\n"
                "settings of the recorder, and its events with their bytes. Of a folder all that "
                "end "
                "in .jfr or\n"
                ".jfr.zst, also in folders in it. Recordings of other tools are read as well.\n",
            .examples = "  jaywalk summary profile.jfr\n"
                        "  jaywalk summary --strict /var/log/app\n"
                        "  jaywalk summary --json profile.jfr | jq '.recordings[].events'\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_summary,
        },
    [CLI_COMMAND_RECOVER] =
        {
            .id = CLI_COMMAND_RECOVER,
            .name = "recover",
            .usage = "jaywalk recover [options] IN.jfr ... OUT",
            .summary = "make a whole recording of what a cut or damaged one still holds",
            .text = "Of a JVM that was killed, a copy that was cut, a disk that lost some of it; "
                    "written by "
                    "jaywalk,\n"
                    "by the JVM or by another tool. Each chunk is kept up to the first byte that "
                    "cannot be "
                    "right, and read\n"
                    "whole before it is written. What is left out is told. OUT is a recording, or "
                    "a folder "
                    "for\n"
                    "recordings of the same names.\n",
            .examples = "  jaywalk recover cut.jfr mended.jfr\n"
                        "  jaywalk recover /var/log/app mended/\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_recover,
        },
    [CLI_COMMAND_MERGE] =
        {
            .id = CLI_COMMAND_MERGE,
            .name = "merge",
            .usage = "jaywalk merge [options] IN.jfr|FOLDER ... OUT.jfr",
            .summary = "make one recording of several",
            .text =
                "Their chunks as they are, recordings in the order in which they begin, with an "
                "empty "
                "chunk between\n"
                "two of them, so that no reader takes names of the one for those of the other.\n",
            .examples = "  jaywalk merge monday.jfr tuesday.jfr week.jfr.zst\n"
                        "  jaywalk merge /var/log/app all.jfr\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_merge,
        },
    [CLI_COMMAND_SPLIT] =
        {
            .id = CLI_COMMAND_SPLIT,
            .name = "split",
            .usage = "jaywalk split --every=TIME|--size=BYTES IN.jfr ... part-%n.jfr",
            .summary = "take a recording apart, by time or by size",
            .text = "%n becomes 001, 002 and so on. Chunks stay whole, for each of them is a "
                    "recording of "
                    "its own: parts are\n"
                    "longer or shorter by one. The agent's options chunktime and chunksize say how "
                    "long "
                    "they are.\n",
            .examples = "  jaywalk split --every 10m profile.jfr part-%n.jfr\n"
                        "  jaywalk split --size 100m profile.jfr part-%n.jfr.zst\n",
            .operands = CLI_OPERANDS_RECORDINGS,
            .run = cli_split,
        },
    [CLI_COMMAND_RULES] =
        {
            .id = CLI_COMMAND_RULES,
            .name = "rules",
            .usage = "jaywalk rules check FILE | dry-run [options] FILE JAR|FOLDER|PID ...",
            .summary = "say which methods rules for probes take, and why not the others",
            .text =
                "check reads rules, says where one is not understood, and in which order they are "
                "tried.\n"
                "dry-run tries them on the classes of jars (jars in jars, too), folders and class "
                "files, or on\n"
                "those of a JVM: of the jars that it has open and of its class path; nothing is "
                "asked of the\n"
                "process, and nothing is changed. It prints each method of the classes that a rule "
                "may take,\n"
                "by which rule it is taken or why it is not, and what writing the classes anew "
                "would "
                "cost.\n"
                "A rule is a line (docs/howto/choose-methods-by-rules.md has all words):\n"
                "  exclude class package=com.acme.util method name=toString|hashCode\n"
                "  orders: include class name=com.acme.**Service method is=public lift getters\n"
                "Exclusive rules come first, wherever they stand; then the first inclusive one "
                "that "
                "is met owns\n"
                "the method. What a rule asks for and a jar cannot tell (the class loader) is not "
                "guessed:\n"
                "such methods are untold.\n",
            .examples = "  jaywalk rules check trace.rules\n"
                        "  jaywalk rules dry-run trace.rules app.jar lib/\n"
                        "  jaywalk rules dry-run --taken trace.rules 4711\n"
                        "  jaywalk rules dry-run --json trace.rules app.jar | jq '.cost'\n",
            .operands = CLI_OPERANDS_RULES,
            .run = cli_rules,
        },
    [CLI_COMMAND_PROBE] =
        {
            .id = CLI_COMMAND_PROBE,
            .name = "probe",
            .usage = "jaywalk probe check FILE [JAR|FOLDER|PID ...] | attach PID FILE | list PID | "
                     "detach PID NAME",
            .summary = "call methods of yours inside of a running program, and take them out again",
            .text =
                "FILE is a jar, a folder of classes or a class file with a probe: a public class "
                "that carries\n"
                "@Probe of jaywalk.jar, whose public static void methods carry @OnEntry, "
                "@OnReturn, "
                "@OnThrow\n"
                "or a place within methods (@OnCall, @OnCallReturn, @OnLine, @OnRead, @OnWrite, "
                "@OnAllocation,\n"
                "@OnMonitorEnter, @OnMonitorEntered, @OnMonitorExit) with rules, and whose "
                "parameters\n"
                "say what they are given:\n"
                "  @This Object              the object whose method it is\n"
                "  @Argument(0) Object|int   one argument, of its own type or as an object\n"
                "  @Arguments Object[]       all of them\n"
                "  @Returned Object|int      what is returned; at @OnReturn and @OnCallReturn\n"
                "  @Thrown Throwable         the exception; at @OnThrow\n"
                "  @Duration long            nanoseconds since the entry; not at @OnEntry\n"
                "  @MethodName String        com.acme.Shop.add\n"
                "  @RuleName String          the rule that took the method\n"
                "  @Receiver, @CallArgument(0), @TargetName    of what is called at the place\n"
                "  @Value, @Allocated, @Lock    of a field, an array, a lock\n"
                "  @LineNumber int           of the place\n"
                "check tells everything in it that cannot be, with class, method and what to do, "
                "and then the\n"
                "status is 1. With jars, folders or a JVM behind it: into which methods each "
                "handler would be put,\n"
                "why not into the others, and what that would cost; nothing is changed, and "
                "nothing asked of the JVM.\n"
                "attach puts a probe into a running JVM, list says what its handlers did there, "
                "detach takes it\n"
                "out: when that is said, no handler runs any more, and none will.\n"
                "--rules puts one probe into many programs: rules of a file take the places of "
                "those "
                "of its\n"
                "annotations that have the same names.\n"
                "PID is a process number, or the name of a JVM: main class or jar. How to write "
                "one: docs/howto/write-a-probe.md.\n",
            .examples = "  jaywalk probe check slow-orders.jar\n"
                        "  jaywalk probe check slow-orders.jar app.jar lib/\n"
                        "  jaywalk probe check --strict build/classes 4711\n"
                        "  jaywalk probe check --json slow-orders.jar app.jar | jq "
                        "'.handlers[].dry_run.cost'\n"
                        "  jaywalk probe attach 4711 slow-orders.jar\n"
                        "  jaywalk probe attach --rules shop.rules 4711 slow-orders.jar\n"
                        "  jaywalk probe list 4711\n"
                        "  jaywalk probe detach 4711 slow-orders\n",
            .operands = CLI_OPERANDS_RULES,
            .run = cli_probe,
        },
};
