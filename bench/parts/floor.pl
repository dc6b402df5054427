# What a bare signal costs the thread that gets it: the least for any profiler by signals.
use strict;
use warnings;

sub {
    my ($bench) = @_;
    my $rounds = $bench->pick(31, 11);
    my $run = $bench->run_program(command => ["$bench->{out}/bare_signal", $rounds]);
    my @us = map { $_ / 1000 } @{ $run->{lines} };
    $bench->row(name => 'bare signal, empty handler', unit => 'us', values => \@us, refused => $run->{wrong});
    $bench->{signal_us} = Statistics::median(@us);
};
