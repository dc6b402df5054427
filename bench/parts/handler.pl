# Time in the signal handler, by depth, with its distribution: CPU time of the interrupted thread, by clocks around whatever handler is
# installed for SIGPROF (bench/native/handler_clock.c), so the same for every agent. Each round is a JVM for each agent, in turns.
use strict;
use warnings;

my @statistics = (['median', 'median'], ['p90', 'p90'], ['p99', 'p99'], ['p999', 'p99.9'], ['max', 'max']);

sub {
    my ($bench) = @_;
    my $rounds = $bench->pick(7, 3);
    my $seconds = $bench->pick(1.2, 0.6);
    my @agents = ('jaywalk', $bench->{peer} ? 'peer' : ());
    for my $depth (10, 64, 100, 1000) {
        my (%us, %count, %wrong);
        for my $round (1 .. $rounds) {
            for my $agent ($round % 2 ? @agents : reverse @agents) {
                my $clock = "$bench->{out}/clock";
                unlink $clock;
                my $run = $bench->run_program(
                    environment => { LD_PRELOAD => "$bench->{out}/handler_clock.so", JW_HANDLER_CLOCK => $clock },
                    command => [$bench->{java}, '-Xmx512m', '-Xss8m', $bench->agent_flags($agent, 'cpu', '1ms', "$bench->{out}/handler.jfr"),
                        '-cp', "$bench->{out}/classes", 'Depths', $depth, $seconds]);
                my $said = Bench::slurp($clock);
                my ($samples) = $said =~ /^count (\d+)/m;
                # Two threads, each so many seconds of CPU; a tick (4 ms or 10) is the longest that any agent waits.
                $wrong{$agent} //= $run->{wrong} // (($samples // 0) >= 200 * $seconds * Bench::LEAST_SHARE ? undef : 'too few samples: ' . ($samples // 0));
                next if $wrong{$agent};
                my %time = (split ' ', ($said =~ /^cpu (.*)/m)[0]);
                push @{ $us{$agent}{$_->[0]} }, $time{ $_->[0] } / 1000 for @statistics;
                $count{$agent} += $samples;
            }
        }
        for my $statistic (@statistics) {
            my ($key, $text) = @$statistic;
            my %row = (name => "handler, $depth frames, $text", unit => 'us', values => $us{jaywalk}{$key}, refused => $wrong{jaywalk},
                samples => [$count{jaywalk} // 0]);
            $row{peers}{peer} = { values => $us{peer}{$key}, refused => $wrong{peer}, samples => [$count{peer} // 0] } if $bench->{peer};
            $row{limit} = { value => 25, what => 'the bar; 15 is wanted' } if $depth == 64 && $key eq 'p99';
            $bench->row(%row);
        }
    }
};
