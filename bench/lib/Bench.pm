# Bench - what the parts of bench/run have in common: the machine, agents and their flags, runs of a JVM and what they count, rows.
#
# A row is { name, unit, values: one number a round, value: their median, low, high: an interval around it that is `sure`, samples:
# [those that came, those that the interval promised], refused: why it has no value, no_ratio: why it has one but is compared with
# nothing, peers: { name => { value, low, high, ratio, samples, refused, no_ratio } }, limit: { value, what, ratio; is_offset: it is too small to
# have one }, min_effect: the least change that bench/compare minds }. Less is better in every row.
package Bench;
use strict;
use warnings;
use Cwd qw(abs_path getcwd);
use File::Path qw(make_path remove_tree);
use JSON::PP;
use List::Util qw(sum max);
use POSIX qw(strftime);
use Time::HiRes qw(time sleep);
use Statistics qw(median interval);

# Of the samples that the interval promises, so many must have come: a profiler that does not sample is cheap.
use constant LEAST_SHARE => 0.75;

sub new {
    my ($class) = @_;
    my $root = getcwd();
    my $self = bless {
        root    => $root,
        library => $ENV{JW_LIBRARY} // "$root/build/lib/libjaywalk.so",
        command => $ENV{JW_COMMAND} // "$root/build/bin/jaywalk",
        jar     => $ENV{JW_JAR} // "$root/build/jar/jaywalk.jar",
        out     => "$root/build/bench",
        quick   => ($ENV{BENCH_QUICK} // 0) ? 1 : 0,
        rows    => [],
        started => time,
    }, $class;
    -f $self->{$_} or die "bench: $self->{$_} is missing; make builds it\n" for qw(library command);
    if (my $peer = $ENV{PEER}) {
        $self->{peer} = abs_path($peer) or die "bench: PEER=$peer: no such file\n";
    }
    my @jdks = map { [split] } split /\n/, `tools/jdks-list`;
    my $wanted = $ENV{BENCH_JDK} // '25 17';
    ($self->{jdk}) = grep { defined } map { my $major = $_; (grep { $_->[0] eq $major } @jdks)[0] } split ' ', $wanted;
    $self->{jdk} or die "bench: none of JDK $wanted here (JDKS=path:path adds some)\n";
    $self->{major} = $self->{jdk}[0];
    $self->{java} = "$self->{jdk}[1]/bin/java";
    $self->{home} = $self->{jdk}[1];
    return $self;
}

sub say_progress {
    my ($self, @words) = @_;
    printf STDERR "bench %4.0f s  %s\n", time - $self->{started}, "@words";
}

# Numbers of rounds, and sizes: of a whole run and of a try.
sub pick { my ($self, $whole, $quick) = @_; return $self->{quick} ? $quick : $whole }

# Programs and helpers, built once.
sub build {
    my ($self) = @_;
    my $out = $self->{out};
    remove_tree($out);
    make_path("$out/classes", "$out/none");
    my $workloads = join ' ', map { "tests/jvm/workloads/$_.java" } qw(Crowded ClassBytes Hot Threads Calibrated Waits Stubs Profiler Hungry);
    my $programs = join ' ', grep { !/AsmRewrite|CensusTurns|ContextSwitch|Count(Calls|Many)|Instrumented|UncontendedTurns/ } glob 'bench/programs/*.java';
    $self->command("$self->{home}/bin/javac --release 11 -Xlint:all,-options -d $out/classes $programs $workloads");
    my $compile = ($ENV{CC} // 'gcc') . ' -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror';
    $self->command("$compile -o $out/$_ bench/native/$_.c") for qw(measure bare_signal process_cost);
    $self->command("$compile -shared -fPIC -o $out/$_.so bench/native/$_.c -ldl") for qw(handler_clock empty_agent);
    $self->command("$compile -shared -fPIC -I$self->{home}/include -I$self->{home}/include/linux -o $out/sampled_agent.so bench/native/sampled_agent.c");
}

sub command {
    my ($self, $line) = @_;
    system('bash', '-c', $line) == 0 or die "bench: failed: $line\n";
}

# What JVM flag loads agent NAME and lets it sample so into FILE. A session of `quiet` says nothing on the standard output.
sub agent_flags {
    my ($self, $name, $event, $interval, $file, @more) = @_;
    return () if $name eq 'none';
    return ("-agentpath:$self->{out}/empty_agent.so") if $name eq 'empty';
    my $options = join ',', 'start', "event=$event", "interval=$interval", "file=$file", @more;
    return ("-agentpath:$self->{library}=$options,quiet") if $name eq 'jaywalk';
    return ("-agentpath:$self->{peer}=$options") if $name eq 'peer';
    die "no agent $name" unless $name eq 'JFR';
    # The recorder of the JDK: by CPU time where it can (JDK 25), else by the clock on the wall.
    my $settings = $self->{major} >= 25
        ? "settings=none,+jdk.CPUTimeSample#enabled=true,+jdk.CPUTimeSample#throttle=$interval"
        : "settings=profile,jdk.ExecutionSample#period=$interval";
    return ("-XX:StartFlightRecording:filename=$file,$settings", '-Xlog:jfr*=off');
}

# The other profilers that are measured beside; JFR is in every JDK.
sub peers { my ($self) = @_; return ($self->{peer} ? 'peer' : (), 'JFR') }

my %started; # what runs, and the signal that ends it

sub end_started { kill $started{$_}, $_ for keys %started }
END { end_started() }

# Runs a program below bench/native/measure. What came of it: ok, or why not; what it printed and used.
sub run_program {
    my ($self, %run) = @_;
    my $log = "$self->{out}/run.err";
    my $limit = $run{limit} // $self->{limit} // 120;
    my %environment = %{ $run{environment} // {} };
    my @command = ("$self->{out}/measure", $limit, (%environment ? ('env', map { "$_=$environment{$_}" } sort keys %environment) : ()),
        @{ $run{command} });
    my $pid = open(my $lines, '-|') // die "bench: cannot fork: $!\n";
    if ($pid == 0) {
        open STDERR, '>', $log;
        open STDIN, '<', '/dev/null';
        exec @command or die "bench: $command[0]: $!\n";
    }
    my %got = (lines => []);
    $started{$pid} = 'TERM';
    while (my $line = <$lines>) {
        chomp $line;
        if ($line =~ /^measured (.*)/) { %got = (%got, split ' ', $1) }
        elsif ($line =~ /^marked (.*)/) { %got = (%got, split ' ', $1) }
        elsif ($line =~ /^(result|threads|java_cpu_ns|java_work_ns) (-?\d+)$/) { $got{$1} = $2 }
        else { push @{ $got{lines} }, $line }
    }
    close $lines;
    delete $started{$pid};
    $got{wrong} =
          !defined $got{status} ? 'it was not measured'
        : $got{timed_out} ? "it was not over after $limit s"
        : $got{status} & 127 ? 'it was ended by signal ' . ($got{status} & 127)
        : $got{status} ? 'it ended with status ' . ($got{status} >> 8)
        : undef;
    return \%got;
}

sub run_java {
    my ($self, $flags, @program) = @_;
    return $self->run_program(command => [$self->{java}, '-Xmx512m', @$flags, '-cp', "$self->{out}/classes", @program]);
}

# Starts a program that runs until it is ended, and waits until it says "running". Its number; or undef and why not.
sub start_java {
    my ($self, $flags, @program) = @_;
    my $said = "$self->{out}/program.out";
    open my $new, '>', $said;
    close $new;
    my $pid = fork // die "bench: cannot fork: $!\n";
    if ($pid == 0) {
        open STDOUT, '>', $said;
        open STDERR, '>', "$self->{out}/program.err";
        open STDIN, '<', '/dev/null';
        exec $self->{java}, @$flags, '-cp', "$self->{out}/classes", @program or die;
    }
    $started{$pid} = 'KILL';
    for (my $waited = 0; $waited < 120; $waited += 0.1) {
        return $pid if slurp($said) =~ /^running/m;
        if (waitpid($pid, POSIX::WNOHANG()) == $pid) {
            delete $started{$pid};
            return (undef, 'it ended at once');
        }
        sleep 0.1;
    }
    $self->end_java($pid);
    return (undef, 'it did not get ready in 120 s');
}

# Ends it; says why not where it had already ended by itself.
sub end_java {
    my ($self, $pid) = @_;
    delete $started{$pid};
    my $is_alive = waitpid($pid, POSIX::WNOHANG()) == 0;
    return 'it ended by itself' unless $is_alive;
    kill 'KILL', $pid;
    waitpid $pid, 0;
    return undef;
}

# CPU time until now in milliseconds and resident memory in MiB of a process; undef when it is gone.
sub used_by {
    my ($self, $pid) = @_;
    my ($ns, $kib) = split ' ', `$self->{out}/process_cost $pid 2>/dev/null`;
    return defined $kib ? ($ns / 1e6, $kib / 1024) : ();
}

# Samples in a recording, counted by our reader; undef and a reason where it cannot be read.
sub count_samples {
    my ($self, $file, $event, $agent) = @_;
    return (undef, 'it left no recording') unless -s $file;
    my $type = $agent ne 'JFR' ? $event : $self->{major} >= 25 ? 'jdk.CPUTimeSample' : 'jdk.ExecutionSample';
    my $samples = 0;
    open my $stacks, '-|', $self->{command}, qw(convert -q --samples -o collapsed -e), $type, $file, '-' or return (undef, "$!");
    while (<$stacks>) { $samples += $1 if / (\d+)$/ }
    return close $stacks ? ($samples, undef) : (undef, 'its recording cannot be read');
}

# The same file by the reader of the JDK: says why not where it cannot be read.
sub is_unreadable_for_jfr {
    my ($self, $file) = @_;
    my $said = `$self->{home}/bin/jfr -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC summary '$file' 2>&1`;
    return $? == 0 && $said =~ /Chunks: [1-9]/ ? undef : 'the jfr tool cannot read its recording';
}

# Adds a row of raw rounds. `peers`: { name => { values, refused } }; `limit`: { value, what }.
sub row {
    my ($self, %row) = @_;
    my $refused = $row{refused} // (@{ $row{values} // [] } ? undef : 'nothing was measured');
    $row{values} = [] if $refused;
    $row{refused} = $refused if $refused;
    if (!$refused) {
        $row{value} = median(@{ $row{values} });
        @row{qw(low high sure)} = interval(@{ $row{values} });
    }
    few_samples(\%row);
    for my $peer (values %{ $row{peers} // {} }) {
        $peer->{refused} //= @{ $peer->{values} // [] } ? undef : 'nothing was measured';
        delete $peer->{refused} unless $peer->{refused};
        if (!$peer->{refused}) {
            $peer->{value} = median(@{ $peer->{values} });
            @{$peer}{qw(low high sure)} = interval(@{ $peer->{values} });
        }
        few_samples($peer);
        # Differences that are not told from nothing have no ratio.
        $peer->{no_ratio} //= $row{no_ratio}
            // ($peer->{value} // 0) > 0 && ($row{value} // 0) > 0 && (!$row{is_difference} || ($row{low} > 0 && $peer->{low} > 0)) ? undef : 'none';
        delete $peer->{no_ratio} unless defined $peer->{no_ratio};
        $peer->{ratio} = $row{value} / $peer->{value} unless $refused || $peer->{refused} || $peer->{no_ratio};
    }
    if (my $limit = $row{limit}) {
        $limit->{ratio} = $row{value} / $limit->{value}
            if !$refused && !$row{no_ratio} && !$limit->{is_offset} && $limit->{value} > 0 && $row{value} > 0 && (!$row{is_difference} || $row{low} > 0);
    }
    push @{ $self->{rows} }, \%row;
    $self->say_progress(sprintf '%s: %s', $row{name}, $refused ? "refused: $refused" : number($row{value}) . " $row{unit}");
}

# What was sampled less than it promised is compared with nothing.
sub few_samples {
    my ($side) = @_;
    return if $side->{refused} || !$side->{samples} || !$side->{samples}[1];
    $side->{no_ratio} = 'too few samples' if $side->{samples}[0] < LEAST_SHARE * $side->{samples}[1];
}

sub number {
    my ($value) = @_;
    return '' unless defined $value;
    my $size = abs $value;
    return sprintf $size >= 1000 ? '%.0f' : $size >= 100 ? '%.0f' : $size >= 10 ? '%.1f' : '%.2f', $value;
}

sub thousands { my ($n) = @_; 1 while $n =~ s/^(\d+)(\d{3})/$1,$2/; return $n }

# About the machine and this run; busy: why its figures are not to be quoted.
sub about_begin {
    my ($self) = @_;
    my ($load) = split ' ', slurp('/proc/loadavg');
    my ($cpu) = slurp('/proc/cpuinfo') =~ /^model name\s*: (.*)/m;
    chomp(my $nproc = `nproc`);
    chomp(my $kernel = `uname -r`);
    my $commit = `git rev-parse --short=12 HEAD 2>/dev/null` || 'unknown';
    chomp $commit;
    $commit .= ' with changes' if `git status --porcelain -uno 2>/dev/null` ne '';
    my ($version) = slurp("$self->{home}/release") =~ /^JAVA_RUNTIME_VERSION="(.*)"/m;
    $version //= (slurp("$self->{home}/release") =~ /^JAVA_VERSION="(.*)"/m)[0];
    $self->{about} = {
        date => strftime('%Y-%m-%d %H:%M UTC', gmtime), machine => ($cpu // 'unknown CPU') . ", $nproc CPUs", kernel => "Linux $kernel",
        load => $load + 0, commit => $commit, jdk => "JDK $self->{major} ($version)", quick => $self->{quick},
        compiler => (split /\n/, `@{[$ENV{CC} // 'gcc']} --version`)[0],
    };
    $self->{about}{peer} = $self->{peer} if $self->{peer};
    @{$self}{qw(busy_before own_before cpus)} = (cpu_of_all(), cpu_of_children(), $nproc);
    if ($load > $nproc / 4) { $self->{about}{busy} = "the load was $load at the start" }
}

# At the end: what the CPUs did that was not ours.
sub about_end {
    my ($self) = @_;
    my $took = time - $self->{started};
    my $others = cpu_of_all() - $self->{busy_before} - (cpu_of_children() - $self->{own_before});
    my $percent = 100 * max(0, $others) / ($took * $self->{cpus});
    $self->{about}{seconds} = int $took;
    $self->{about}{others_percent} = sprintf('%.0f', $percent) + 0;
    if ($percent > 5) {
        my $busy = sprintf 'others took %.0f %% of the CPUs meanwhile', $percent;
        $self->{about}{busy} = join '; ', grep { defined } $self->{about}{busy}, $busy;
    }
}

sub slurp { my ($path) = @_; open my $file, '<', $path or return ''; local $/; return <$file> }

# Seconds that all CPUs worked since the machine started, and that ended children of ours did.
sub cpu_of_all {
    my (undef, $user, $nice, $system, undef, undef, $irq, $softirq, $steal) = split ' ', slurp('/proc/stat');
    return ($user + $nice + $system + $irq + $softirq + ($steal // 0)) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub cpu_of_children { my @t = times; return $t[0] + $t[1] + $t[2] + $t[3] }

# The table, in Markdown.
sub markdown {
    my ($self) = @_;
    my $about = $self->{about};
    my $text = "# What jaywalk costs\n\n" . join(', ', @{$about}{qw(date machine kernel)}) .
        ", load $about->{load} at the start, others took $about->{others_percent} % of the CPUs; $about->{jdk}, $about->{compiler}; commit $about->{commit}; $about->{seconds} s\n";
    $text .= "\n**A quick try: too few rounds to quote.**\n" if $about->{quick};
    $text .= "\n**This machine was busy: $about->{busy}. Do not quote the times.**\n" if $about->{busy};
    $text .= "\nPeer: " . ($about->{peer} // 'none (PEER=path/to/libasyncProfiler.so)') . "; JFR is the recorder of the JDK. A ratio below 1 is in favour of jaywalk.\n\n";
    $text .= "| what | unit | jaywalk | spread | samples, of promised | peer | ratio | JFR | ratio | limit | ratio |\n";
    $text .= "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for my $row (@{ $self->{rows} }) {
        my @cells = ($row->{name}, $row->{unit});
        push @cells, $row->{refused} ? "refused: $row->{refused}" : number($row->{value});
        push @cells, $row->{refused} ? '' : number($row->{low}) . ' to ' . number($row->{high});
        push @cells, samples_text($row->{samples});
        for my $name ('peer', 'JFR') {
            my $peer = ($row->{peers} // {})->{$name};
            push @cells, !$peer ? '' : $peer->{refused} ? "refused: $peer->{refused}" : number($peer->{value}) .
                ($peer->{samples} ? ' (' . samples_text($peer->{samples}) . ')' : '');
            push @cells, !$peer || $peer->{refused} || $row->{refused} ? '' : $peer->{no_ratio} // sprintf('%.2f', $peer->{ratio});
        }
        my $limit = $row->{limit};
        push @cells, $limit ? number($limit->{value}) . " ($limit->{what})" : '', $limit && !$row->{refused} && !$limit->{is_offset} ? defined $limit->{ratio} ? sprintf('%.2f', $limit->{ratio}) : $row->{no_ratio} // 'none' : '';
        $text .= '| ' . join(' | ', map { s/\|/\\|/gr } @cells) . " |\n";
    }
    my ($least) = sort { $a <=> $b } map { $_->{sure} // () } @{ $self->{rows} };
    $text .= sprintf "\nSpread: an interval that holds the median of more rounds with 95 %% or more (sign test)%s. `none`: not told from nothing, so no ratio.\n",
        defined $least && $least < 0.95 ? '; where rounds are few, their whole range' : '';
    return $text;
}

sub samples_text {
    my ($samples) = @_;
    return '' unless $samples;
    return thousands($samples->[0]) . ($samples->[1] ? ' of ' . thousands($samples->[1]) : '');
}

sub save {
    my ($self) = @_;
    my $json = JSON::PP->new->canonical->pretty->encode({ form => 1, about => $self->{about}, rows => $self->{rows} });
    open my $file, '>', "$self->{out}/bench.json" or die "bench: $self->{out}/bench.json: $!\n";
    print $file $json;
    close $file or die "bench: $self->{out}/bench.json: $!\n";
}

1;
