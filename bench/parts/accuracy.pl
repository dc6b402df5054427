# Against known truth: how far the share of anything is off, at most, in points of a hundred. CPU time: six methods of
# tests/jvm/workloads/Calibrated burn known shares by the thread's own clock. The wall: threads of eight kinds in
# tests/jvm/workloads/Waits live for times that they tell. The limit is what chance alone does to as many independent samples: the
# standard error of a half, twice.
use strict;
use warnings;

my @kinds = (
    {   name => 'CPU shares of six methods', event => 'cpu', interval => '4ms', interval_ns => 4e6,
        program => sub { ('Calibrated', $_[0]) },
        flags => ['-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Calibrated::part*'],
        truth => sub { $_[0] =~ /^share (\S+) (\d+)$/ ? ($1, $2) : () },
        of_stack => sub { $_[0] =~ /(Calibrated\.part\w+)/ ? $1 : undef },
    },
    {   name => 'wall shares of eight kinds of threads', event => 'wall', interval => '10ms', interval_ns => 10e6,
        program => sub { ('Waits', $_[0], 56, 2) },
        flags => [],
        truth => sub { $_[0] =~ /^life (\d+) ([a-z]+)-/ ? ($2, $1) : () },
        of_stack => sub { $_[0] =~ /^\[?([a-z]+)-(?:\d+|holder)\b/ ? $1 : undef },
    },
);

# Samples by what is known of, of those of which anything is.
sub shares {
    my ($bench, $file, $kind) = @_;
    my (%count, $all);
    open my $stacks, '-|', $bench->{command}, qw(convert -q -t --samples -o collapsed -e), $kind->{event}, $file, '-' or return;
    while (my $line = <$stacks>) {
        my ($stack, $samples) = $line =~ /^(.*) (\d+)$/ or next;
        my $what = $kind->{of_stack}->($stack) // next;
        $count{$what} += $samples;
        $all += $samples;
    }
    return close $stacks ? ($all, %count) : ();
}

sub measure {
    my ($bench, $kind) = @_;
    my ($rounds, $seconds) = ($bench->pick(7, 2), $bench->pick(3, 1));
    my @agents = ('jaywalk', $bench->{peer} ? 'peer' : ());
    my (%off, %wrong, %samples);
    for my $round (1 .. $rounds) {
        $bench->say_progress("accuracy, $kind->{name}: round $round of $rounds");
        for my $agent ($round % 2 ? @agents : reverse @agents) {
            my $file = "$bench->{out}/accuracy.jfr";
            unlink $file;
            my $run = $bench->run_java([@{ $kind->{flags} }, $bench->agent_flags($agent, $kind->{event}, $kind->{interval}, $file)],
                $kind->{program}->($seconds));
            my (%true_ns, $all_ns);
            for (@{ $run->{lines} }) {
                my ($what, $ns) = $kind->{truth}->($_) or next;
                $true_ns{$what} += $ns;
                $all_ns += $ns;
            }
            my ($count, %count) = $run->{wrong} || !$all_ns ? () : shares($bench, $file, $kind);
            $wrong{$agent} //= $run->{wrong} // ($all_ns ? undef : 'it did not say its shares') // ($count ? undef : 'no samples came');
            next if $wrong{$agent};
            my ($most) = sort { $b <=> $a } map { abs(($count{$_} // 0) / $count - $true_ns{$_} / $all_ns) } keys %true_ns;
            push @{ $off{$agent} }, 100 * $most;
            $samples{$agent}[0] += $count;
            $samples{$agent}[1] += int($all_ns / $kind->{interval_ns});
        }
    }
    my $chance = $samples{jaywalk} ? 100 / sqrt($samples{jaywalk}[0] / $rounds) : 0;
    $bench->row(name => "accuracy, $kind->{name}, largest error", unit => 'points', values => $off{jaywalk}, refused => $wrong{jaywalk},
        samples => $samples{jaywalk}, min_effect => 1, limit => { value => $chance, what => 'chance' },
        ($bench->{peer} ? (peers => { peer => { values => $off{peer}, refused => $wrong{peer}, samples => $samples{peer} } }) : ()));
}

sub {
    my ($bench) = @_;
    measure($bench, $_) for @kinds;
};
