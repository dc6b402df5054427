# What sampling costs three programs with a fixed amount of work: CPU time of the whole process for the work, against the run without
# a profiler right before or after it:
#
#     none A B none C D none ...      and backwards in every other round
#
# A run counts only when it ended well, its result is that of all others, and our reader reads its recording (the JDK's own, too, in the
# first round). How many samples came stands beside what they cost, with how many the interval promises; where too few came there is a
# cost and no ratio. The limit is what as many bare signals cost.
use strict;
use warnings;

my %promise = (
    cpu => sub { my ($run) = @_; return ($run->{cpu_us} * 1000 - 60e6) },    # but for the first moments of the JVM
    JFR => sub { my ($run) = @_; return $run->{java_cpu_ns} },               # samples threads of Java alone
    wall => sub { my ($run) = @_; return $run->{threads} * $run->{wall_ns} },
);
my %interval_ns = ('10ms' => 10e6, '1ms' => 1e6, '100us' => 1e5);

# A round: what each of these used more than nothing, and what came of it.
sub measure_round {
    my ($bench, $program, $settings, $is_backwards, $is_first, $told) = @_;
    my @order = map { $_ % 2 ? ($settings->[$_]) : ('none', $settings->[$_]) } 0 .. $#$settings;
    push @order, 'none' if @$settings % 2 == 0;
    @order = reverse @order if $is_backwards;
    my @runs;
    for my $setting (@order) {
        my ($agent, $event, $interval) = split / /, $setting;
        my $file = "$bench->{out}/run.jfr";
        unlink $file;
        my $run = $bench->run_java(['-XX:+UseSerialGC', $bench->agent_flags($agent, $event, $interval, $file)], @{ $program->{command} });
        $run->{wrong} //= 'it did not say what it used' unless $run->{cpu_ns} && defined $run->{result};
        $program->{result} //= $run->{result} if $agent eq 'none';
        $run->{wrong} //= "its result is $run->{result}, not $program->{result}" if !$run->{wrong} && defined $program->{result} && $run->{result} != $program->{result};
        if (!$run->{wrong} && $agent ne 'none') {
            (my $count, $run->{wrong}) = $bench->count_samples($file, $event, $agent);
            $run->{wrong} //= $bench->is_unreadable_for_jfr($file) if $is_first;
            $run->{samples} = $count;
            $run->{promised} = int($promise{ $agent eq 'JFR' ? 'JFR' : $event }->($run) / $interval_ns{$interval});
            $run->{bytes} = -s $file;
        }
        push @runs, $run;
    }
    for my $i (0 .. $#order) {
        next if $order[$i] eq 'none';
        my ($none) = map { $runs[$_] } grep { $_ >= 0 && $_ <= $#order && $order[$_] eq 'none' } $i - 1, $i + 1;
        my $of = $told->{ $order[$i] } //= { values => [], samples => [0, 0] };
        $of->{refused} //= $runs[$i]{wrong} // ($none->{wrong} && "the run without: $none->{wrong}");
        next if $of->{refused};
        push @{ $of->{values} }, 100 * ($runs[$i]{cpu_ns} / $none->{cpu_ns} - 1);
        $of->{samples}[0] += $runs[$i]{samples};
        $of->{samples}[1] += $runs[$i]{promised};
    }
}

sub {
    my ($bench) = @_;
    my $rounds = $bench->pick(7, 2);
    my @samplings = ('cpu 10ms', 'cpu 1ms', 'cpu 100us', 'wall 10ms');
    @samplings = ('cpu 10ms', 'cpu 100us') if $bench->{quick};
    my @settings = map { ("jaywalk $_", $bench->{peer} ? "peer $_" : ()) } @samplings;
    push @settings, 'JFR cpu 10ms';
    my @programs = (
        { name => 'service', command => ['Service', $bench->pick(40000, 8000), 4, 200] },
        { name => 'javac',   command => ['Compile', $bench->pick(4, 1)] },
        { name => 'data',    command => ['Data', $bench->pick(300, 60)] },
    );
    for my $program (@programs) {
        my %told;
        for my $round (1 .. $rounds) {
            $bench->say_progress("overhead, $program->{name}: round $round of $rounds");
            measure_round($bench, $program, \@settings, $round % 2 == 0, $round == 1, \%told);
        }
        for my $sampling (@samplings) {
            my %peers = ($bench->{peer} ? (peer => $told{"peer $sampling"}) : ());
            $peers{JFR} = $told{"JFR $sampling"} if $told{"JFR $sampling"};
            my ($interval) = $sampling =~ /(\d+\w+)$/;
            $bench->row(name => "overhead, $program->{name}, $sampling", unit => '% CPU', %{ $told{"jaywalk $sampling"} }, peers => \%peers,
                is_difference => 1, min_effect => 1,
                ($bench->{signal_us} && $sampling =~ /cpu/
                    ? (limit => { value => 100 * 1000 * $bench->{signal_us} / $interval_ns{$interval}, what => 'bare signals' }) : ()));
        }
    }
};
