# What the other engines cost three programs with a fixed amount of work, alone and all together, as overhead.pl has it for clocks: CPU time of the
# whole process between the marks, against the run without a profiler right before or after it, backwards in every other round.
#
#     alloc   one object in 512 KiB; live: and which of them are still there; lock: what waits longer than 10 us; ttsp: safepoints that are slow to
#             reach, beside the CPU clock at 10 ms; all: these and the CPU clock
#
# Beside them the same modes of the peer, and of the JDK's recorder, where they have them. The recorder's allocations are 300 a second at most, as its own
# settings have them. A run counts only when it ended well, its result is that of all others, and our reader finds samples in its recording where
# there must be some, and the JDK's reads it (in the first round); how many there were stands beside the cost. A program may wait for no lock, so the rows of
# lock have no number.
use strict;
use warnings;

my %recorder = (
    alloc => '+jdk.ObjectAllocationSample#enabled=true,+jdk.ObjectAllocationSample#throttle=300/s',
    lock  => join(',', map { "+$_#enabled=true,+$_#threshold=10us" } qw(jdk.JavaMonitorEnter jdk.ThreadPark)),
    cpu   => '+jdk.CPUTimeSample#enabled=true,+jdk.CPUTimeSample#throttle=10ms',
);
# What each is asked for; `counted`: the events of which some must be there, or undef where a program may have none.
my @modes = (
    { name => 'alloc 512k', jaywalk => 'event=alloc,interval=512k', peer => 'event=alloc,alloc=512k', JFR => ['alloc'], counted => 'alloc' },
    { name => 'alloc 512k, live', jaywalk => 'event=alloc,interval=512k,live', peer => 'event=alloc,alloc=512k,live', counted => 'alloc' },
    { name => 'lock 10us', jaywalk => 'event=lock,lock=10us', peer => 'event=lock,lock=10us', JFR => ['lock'] },
    { name => 'cpu 10ms, ttsp', jaywalk => 'event=cpu,interval=10ms,ttsp', counted => 'cpu' },
    { name => 'all', jaywalk => 'event=cpu,interval=10ms,alloc=512k,live,lock=10us,ttsp', peer => 'event=cpu,interval=10ms,alloc=512k,live,lock=10us',
        JFR => ['cpu', 'alloc', 'lock'], counted => 'cpu' },
);
my %recorded_as = (alloc => 'jdk.ObjectAllocationSample', cpu => 'jdk.CPUTimeSample');

sub flags_of_mode {
    my ($bench, $mode, $agent, $file) = @_;
    return ('-XX:StartFlightRecording:filename=' . join(',', $file, 'settings=none', @recorder{ @{ $mode->{JFR} } }), '-Xlog:jfr*=off') if $agent eq 'JFR';
    my $path = $agent eq 'peer' ? $bench->{peer} : $bench->{library};
    return ("-agentpath:$path=start,$mode->{$agent},file=$file" . ($agent eq 'jaywalk' ? ',quiet' : ''));
}

# One run, and what came of it.
sub run_mode {
    my ($bench, $program, $mode, $agent, $is_first) = @_;
    my $file = "$bench->{out}/modes.jfr";
    unlink $file;
    my @flags = $agent eq 'none' ? () : flags_of_mode($bench, $mode, $agent, $file);
    my $run = $bench->run_java(['-XX:+UseSerialGC', @flags], @{ $program->{command} });
    $run->{wrong} //= 'it did not say what it used' unless $run->{cpu_ns} && defined $run->{result};
    $program->{result} //= $run->{result} if $agent eq 'none' && !$run->{wrong};
    $run->{wrong} //= "its result is $run->{result}, not $program->{result}" if !$run->{wrong} && defined $program->{result} && $run->{result} != $program->{result};
    return $run if $run->{wrong} || $agent eq 'none';
    if (my $counted = $mode->{counted}) {
        # The recorder's by the type that it has for it, ours and the peer's by the word for it.
        ($run->{samples}, $run->{wrong}) = $bench->count_samples($file, $agent eq 'JFR' ? $recorded_as{$counted} : $counted, 'by its name');
        $run->{wrong} //= 'no samples came' unless $run->{samples};
    } else {
        $run->{wrong} = -s $file ? undef : 'it left no recording';
    }
    $run->{wrong} //= $bench->is_unreadable_for_jfr($file) if $is_first;
    return $run;
}

# none A B none C D none ...: each run stands next to one without.
sub modes_round {
    my ($bench, $program, $settings, $is_backwards, $is_first, $told) = @_;
    my @order = $is_backwards ? reverse @$settings : @$settings;
    my $none = run_mode($bench, $program, undef, 'none');
    for my $i (0 .. $#order) {
        my ($mode, $agent) = @{ $order[$i] };
        my $run = run_mode($bench, $program, $mode, $agent, $is_first);
        $none = run_mode($bench, $program, undef, 'none') if $i % 2; # behind the second of two
        my $of = $told->{"$agent $mode->{name}"} //= { values => [], samples => [0] };
        $of->{refused} //= $run->{wrong} // ($none->{wrong} && "the run without: $none->{wrong}");
        next if $of->{refused};
        push @{ $of->{values} }, 100 * ($run->{cpu_ns} / $none->{cpu_ns} - 1);
        $of->{samples}[0] += $run->{samples} // 0;
    }
}

sub {
    my ($bench) = @_;
    my $rounds = $bench->pick(7, 5);
    my @programs = (
        { name => 'service', command => ['Service', $bench->pick(40000, 4000), 4, 200] },
        { name => 'javac',   command => ['Compile', $bench->pick(4, 1)] },
        { name => 'data',    command => ['Data', $bench->pick(300, 30)] },
    );
    my @settings;
    for my $mode (@modes) {
        push @settings, map { [$mode, $_] } grep { $mode->{$_} && ($_ ne 'peer' || $bench->{peer}) && ($_ ne 'JFR' || $bench->{major} >= 25) } qw(jaywalk peer JFR);
    }
    for my $program (@programs) {
        my %told;
        for my $round (1 .. $rounds) {
            $bench->say_progress("modes, $program->{name}: round $round of $rounds");
            modes_round($bench, $program, \@settings, $round % 2 == 0, $round == 1, \%told);
        }
        for my $mode (@modes) {
            my $ours = $told{"jaywalk $mode->{name}"};
            my %peers = map { $told{"$_ $mode->{name}"} ? ($_ => $told{"$_ $mode->{name}"}) : () } qw(peer JFR);
            delete $_->{samples} for grep { !$mode->{counted} } $ours, values %peers;
            $bench->row(name => "overhead, $program->{name}, $mode->{name}", unit => '% CPU', %$ours, peers => \%peers, is_difference => 1, min_effect => 1);
        }
    }
};
