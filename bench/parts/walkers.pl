# Not in the table by itself. Nanoseconds that each walker takes for a whole sample with all it needs in the caches: each signal's
# handler is called 30 times more, and the least of these is counted, whatever else the machine does. `agct`: AsyncGetCallTrace. `anew`:
# our own walker, of stacks one frame deeper than jstackdepth, of which nothing is kept. `vm`: as it is. The peer has its own (cstack=vm).
use strict;
use warnings;

sub {
    my ($bench) = @_;
    my ($rounds, $seconds) = ($bench->pick(5, 2), $bench->pick(0.5, 0.3));
    my @walkers = (['agct', 'cstack=agct'], ['anew', 'cstack=vm'], ['vm', 'cstack=vm'], $bench->{peer} ? ['peer', 'cstack=vm'] : ());
    for my $mode (['compiled'], ['interpreted', '-Xint']) {
        my ($how, @flags) = @$mode;
        for my $depth (10, 100, 1000, 2000) {
            my (%us, %wrong);
            for my $round (1 .. $rounds) {
                for my $walker ($round % 2 ? @walkers : reverse @walkers) {
                    my ($name, @options) = @$walker;
                    push @options, 'jstackdepth=' . ($depth - 1) if $name eq 'anew';
                    my $clock = "$bench->{out}/clock";
                    unlink $clock;
                    my $run = $bench->run_program(
                        environment => { LD_PRELOAD => "$bench->{out}/handler_clock.so", JW_HANDLER_CLOCK => $clock, JW_HANDLER_REPEAT => 30 },
                        command => [$bench->{java}, '-Xmx512m', '-Xss64m', @flags, $bench->agent_flags($name eq 'peer' ? 'peer' : 'jaywalk', 'cpu',
                            '10ms', "$bench->{out}/walkers.jfr", @options), '-cp', "$bench->{out}/classes", 'Depths', $depth, $seconds]);
                    my ($median) = Bench::slurp($clock) =~ /^warm median (\d+)/m;
                    $wrong{$name} //= $run->{wrong} // ($median ? undef : 'no signal came');
                    push @{ $us{$name} }, $median / 1000 unless $wrong{$name};
                }
            }
            for my $walker (grep { $_->[0] ne 'peer' } @walkers) {
                my $name = $walker->[0];
                $bench->row(name => "walker $name, $depth $how frames", unit => 'us', values => $us{$name}, refused => $wrong{$name},
                    ($bench->{peer} ? (peers => { peer => { values => $us{peer}, refused => $wrong{peer} } }) : ()));
            }
        }
    }
};
