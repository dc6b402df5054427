# What is told by the JVM on the thread that does it, for a fixed amount of work, in turns with runs without an agent:
#
#     uncontended locks    with lock=10us, of which nobody waits for one: CPU time of the program's own threads, in per cent
#     ... within one JVM   the same work in rounds with and without a session, four at a time, whose differences are small enough to show the bar;
#                          and rounds without any, for what is found where there is nothing to find (bench/programs/UncontendedTurns.java)
#     allocation samples   one in so many bytes: CPU time of the program's own threads for each, from mark to mark, and of the process, which has the agent's thread
#                          that writes them; and with an agent that has the JVM sample and does nothing with it, so that the difference is ours
use strict;
use warnings;

my $interval_bytes = 16384;

# One run: what it used, and how many samples came.
sub run_case {
    my ($bench, $case, $agent) = @_;
    my $file = "$bench->{out}/events.jfr";
    unlink $file;
    # The peer takes the interval of these by the name of the event alone.
    my @more = $agent eq 'peer' ? "$case->{event}=$case->{interval}" : ();
    my @flags = $agent eq 'bare' ? ("-agentpath:$bench->{out}/sampled_agent.so=$interval_bytes") : $bench->agent_flags($agent, @$case{qw(event interval)}, $file, @more);
    my $run = $bench->run_java(['-XX:+UseSerialGC', @flags], @{ $case->{program} });
    $run->{wrong} //= 'it did not say what it used' unless $run->{cpu_ns} && defined $run->{result};
    ($run->{samples}, $run->{wrong}) = $bench->count_samples($file, $case->{event}, $agent) if !$run->{wrong} && $agent =~ /jaywalk|peer/;
    return $run;
}

# Against the run without an agent of the same round. Bare samples are as many as ours: the same program, and the same interval.
sub compare_round {
    my ($case, $runs, $told) = @_;
    my $none = $runs->{none};
    for my $agent (grep { $_ ne 'none' } keys %$runs) {
        my ($run, $of) = ($runs->{$agent}, $told->{$agent} //= { values => [], process => [], samples => [0] });
        $of->{refused} //= $none->{wrong} // $run->{wrong} // ($run->{result} == $none->{result} ? undef : 'its result is another');
        next if $of->{refused};
        my $samples = $run->{samples} // $runs->{jaywalk}{samples};
        push @{ $of->{values} }, 100 * ($run->{java_cpu_ns} / $none->{java_cpu_ns} - 1) if $case->{is_share};
        # Between the marks, behind a third as much work (Fixed.java), whose samples are in the recording, too: what an agent does once, as it
        # starts, is no part of a sample.
        push @{ $of->{values} }, ($run->{java_work_ns} - $none->{java_work_ns}) / 1000 / ($samples * 3 / 4) if !$case->{is_share};
        push @{ $of->{process} }, ($run->{cpu_ns} - $none->{cpu_ns}) / 1000 / ($samples * 3 / 4) if $samples;
        $of->{samples}[0] += $samples;
    }
}

sub uncontended_turns {
    my ($bench) = @_;
    my ($programs, $turns, $slices) = ($bench->pick(4, 1), $bench->pick(60, 20), 12);
    my (%told, $wrong);
    -f $bench->{jar} or die "bench: $bench->{jar} is missing; make builds it\n";
    $bench->command("$bench->{home}/bin/javac --release 11 -Xlint:all,-options -cp $bench->{jar}:$bench->{out}/classes -d $bench->{out}/classes bench/programs/UncontendedTurns.java");
    for my $program (1 .. $programs) {
        $bench->say_progress("events, uncontended locks within one JVM: $program of $programs");
        my $run = $bench->run_program(limit => 600, command => [$bench->{java}, '-Xmx256m', '-XX:+UseSerialGC', "-agentpath:$bench->{library}=quiet",
            '-cp', "$bench->{jar}:$bench->{out}/classes", 'UncontendedTurns', $turns, $slices, "$bench->{out}/turns.jfr"]);
        $wrong //= $run->{wrong};
        /^(locks|nothing) (\S+)$/ and push @{ $told{$1} }, $2 for @{ $run->{lines} };
    }
    my @more = (unit => '% CPU', is_difference => 1, min_effect => 1, refused => $wrong);
    $bench->row(name => 'uncontended locks within one JVM, lock=10us', @more, values => $told{locks}, limit => { value => 1, what => 'the bar' });
    $bench->row(name => 'uncontended locks within one JVM, nothing', @more, values => $told{nothing});
}

sub {
    my ($bench) = @_;
    uncontended_turns($bench);
    my $rounds = $bench->pick(15, 3);
    my @peer = $bench->{peer} ? 'peer' : ();
    my @cases = (
        { name => 'uncontended locks, lock=10us', event => 'lock', interval => '10us', is_share => 1, agents => ['none', 'jaywalk', @peer],
            program => ['Uncontended', $bench->pick(2500, 800)], limit => { value => 1, what => 'the bar' } },
        { name => 'allocation sample', event => 'alloc', interval => $interval_bytes, agents => ['none', 'bare', 'jaywalk', @peer],
            program => ['Allocations', $bench->pick(600, 200)], limit => { value => 2, what => 'wanted' } },
    );
    for my $case (@cases) {
        my %told;
        for my $round (1 .. $rounds) {
            $bench->say_progress("events, $case->{name}: round $round of $rounds");
            my %runs;
            for my $agent ($round % 2 ? @{ $case->{agents} } : reverse @{ $case->{agents} }) {
                $runs{$agent} = run_case($bench, $case, $agent);
            }
            compare_round($case, \%runs, \%told);
        }
        my %more = ($case->{is_share} ? (unit => '% CPU') : (unit => 'us'), is_difference => 1, min_effect => $case->{is_share} ? 1 : 0);
        my $row = sub {
            my ($name, $agent, $which, $peer, @limit) = @_;
            my ($of, $theirs) = ($told{$agent}, $told{peer});
            my @samples = $case->{is_share} ? () : (samples => $of->{samples}); # of locks there are none to speak of
            $bench->row(name => $name, %more, values => $of->{$which}, refused => $of->{refused}, @samples, @limit,
                peers => { $peer && $theirs ? (peer => { values => $theirs->{$which}, refused => $theirs->{refused} }) : () });
        };
        $row->($case->{name}, 'jaywalk', 'values', 1, limit => $case->{limit});
        next if $case->{is_share};
        $row->("$case->{name}, the JVM's part", 'bare', 'values', 0);
        $row->("$case->{name}, whole process", 'jaywalk', 'process', 1);
        $row->("$case->{name}, whole process, the JVM's part", 'bare', 'process', 0);
    }
};
