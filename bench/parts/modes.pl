# What the other engines cost three programs with a fixed amount of work, alone and all together: CPU time of the whole process for rounds in a session, against
# rounds in none right before and behind it, in the same JVM (bench/programs/Turns.java), since runs of a program differ by more than what is sought. `nothing` says
# what is found so where there is nothing to find.
#
#     alloc   one object in 512 KiB; live: and which of them are still there; lock: what waits longer than 10 us; ttsp: safepoints that are slow to
#             reach, beside the CPU clock at 10 ms; all: these and the CPU clock
#
# Beside them the same modes of the peer, and of the JDK's recorder, where they have them. The recorder's allocations are 300 a second at most, as its own
# settings have them. A run counts only when it ended well, each round has the same result as all others, and our reader finds samples in the recording of its last session where
# there must be some, and the JDK's reads it; how many there were stands beside the cost. A program may wait for no lock, so the rows of
# lock have no number.
use strict;
use warnings;

my %recorder = (
    alloc => 'jdk.ObjectAllocationSample#enabled=true,jdk.ObjectAllocationSample#throttle=300/s',
    lock  => join(',', map { ("$_#enabled=true", "$_#threshold=10 us") } qw(jdk.JavaMonitorEnter jdk.ThreadPark)),
    cpu   => 'jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=10ms',
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

sub properties_of {
    my ($bench, $mode, $agent, $file) = @_;
    return () if $agent eq 'nothing';
    return ('-Dturns.events=' . join(',', @recorder{ @{ $mode->{JFR} } }), "-Dturns.file=$file", '-Xlog:jfr*=off') if $agent eq 'JFR';
    my ($library, $quiet) = $agent eq 'peer' ? ($bench->{peer}, '') : ($bench->{library}, ',quiet');
    return ('-Djdk.attach.allowAttachSelf=true', "-Dturns.agent=$library", "-Dturns.start=start,$mode->{$agent},file=$file$quiet",
        $bench->{major} >= 21 ? '-XX:+EnableDynamicAgentLoading' : ());
}

# One JVM, and what came of its turns.
sub run_turns {
    my ($bench, $program, $mode, $agent, $turns) = @_;
    my $file = "$bench->{out}/modes.jfr";
    unlink $file;
    my $run = $bench->run_program(limit => 600, command => [$bench->{java}, '-Xmx512m', '-XX:+UseSerialGC', "-Dturns=$turns", properties_of($bench, $mode, $agent, $file),
        '-cp', "$bench->{out}/classes", @{ $program->{command} }]);
    $run->{turns} = [map { /^turn (\S+)$/ ? $1 : () } @{ $run->{lines} }];
    $run->{wrong} //= 'it did not say what it took' unless @{ $run->{turns} } == $turns;
    return $run if $run->{wrong} || $agent eq 'nothing';
    if (my $counted = $mode->{counted}) {
        # The recorder's by the type that it has for it, ours and the peer's by the word for it.
        ($run->{samples}, $run->{wrong}) = $bench->count_samples($file, $agent eq 'JFR' ? $recorded_as{$counted} : $counted, 'by its name');
        $run->{wrong} //= 'no samples came' unless $run->{samples};
    } else {
        $run->{wrong} = -s $file ? undef : 'it left no recording';
    }
    $run->{wrong} //= $bench->is_unreadable_for_jfr($file);
    return $run;
}

sub {
    my ($bench) = @_;
    my ($jvms, $turns) = ($bench->pick(2, 1), $bench->pick(5, 4));
    # Rounds of about half a second of CPU time.
    my @programs = (
        { name => 'service', command => ['Service', $bench->pick(20000, 4000), 4, 200] },
        { name => 'javac',   command => ['Compile', $bench->pick(3, 1)] },
        { name => 'data',    command => ['Data', $bench->pick(300, 30)] },
    );
    for my $program (@programs) {
        my %told;
        my @settings = [undef, 'nothing'];
        for my $mode (@modes) {
            push @settings, map { [$mode, $_] } grep { $mode->{$_} && ($_ ne 'peer' || $bench->{peer}) && ($_ ne 'JFR' || $bench->{major} >= 25) } qw(jaywalk peer JFR);
        }
        for my $jvm (1 .. $jvms) {
            $bench->say_progress("modes, $program->{name}: $jvm of $jvms");
            for my $setting ($jvm % 2 ? @settings : reverse @settings) {
                my ($mode, $agent) = @$setting;
                my $run = run_turns($bench, $program, $mode, $agent, $turns);
                my $of = $told{ $mode ? "$agent $mode->{name}" : $agent } //= { values => [], samples => [0] };
                $of->{refused} //= $run->{wrong};
                next if $of->{refused};
                push @{ $of->{values} }, @{ $run->{turns} };
                $of->{samples}[0] += $run->{samples} // 0;
            }
        }
        my @more = (unit => '% CPU', is_difference => 1, min_effect => 1);
        for my $mode (@modes) {
            my $ours = $told{"jaywalk $mode->{name}"};
            my %peers = map { $told{"$_ $mode->{name}"} ? ($_ => $told{"$_ $mode->{name}"}) : () } qw(peer JFR);
            delete $_->{samples} for grep { !$mode->{counted} } $ours, values %peers;
            $bench->row(name => "overhead, $program->{name}, $mode->{name}", @more, %$ours, peers => \%peers);
        }
        delete $told{nothing}{samples};
        $bench->row(name => "overhead, $program->{name}, nothing", @more, %{ $told{nothing} });
    }
};
