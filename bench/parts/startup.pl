# Hello world: what a JVM pays for having an agent in it that samples from its first moment to its last. All agents take turns in
# each round; a row is the difference to the run without in the same round. The limit is an agent that does nothing.
use strict;
use warnings;

sub {
    my ($bench) = @_;
    my $rounds = $bench->pick(21, 5);
    my @agents = ('none', 'jaywalk', 'empty', $bench->peers);
    my (%more, %wrong);
    my $file = "$bench->{out}/hello.jfr";
    for my $round (1 .. $rounds) {
        my %used;
        for my $agent ($round % 2 ? @agents : reverse @agents) {
            unlink $file;
            my $run = $bench->run_java([$bench->agent_flags($agent, 'cpu', '10ms', $file)], 'Hello');
            $wrong{$agent} //= $run->{wrong} // ((grep { $_ eq 'hello, world' } @{ $run->{lines} }) ? undef : 'it did not say hello')
                // ($agent =~ /none|empty/ || -s $file ? undef : 'it left no recording');
            $used{$agent} = $run;
        }
        for my $agent (@agents) {
            next if $wrong{$agent} || $wrong{none};
            push @{ $more{$agent}{cpu} }, ($used{$agent}{cpu_us} - $used{none}{cpu_us}) / 1000;
            push @{ $more{$agent}{wall} }, ($used{$agent}{wall_us} - $used{none}{wall_us}) / 1000;
            push @{ $more{$agent}{memory} }, ($used{$agent}{rss_kib} - $used{none}{rss_kib}) / 1024;
        }
    }
    for my $kind (['cpu', 'CPU', 'ms', 2], ['wall', 'time', 'ms', 2], ['memory', 'memory', 'MiB', 0.5]) {
        my ($key, $text, $unit, $effect) = @$kind;
        $bench->row(name => "start-up, $text", unit => $unit, values => $more{jaywalk}{$key}, refused => $wrong{none} // $wrong{jaywalk},
            is_difference => 1, min_effect => $effect,
            peers => { map { $_ => { values => $more{$_}{$key}, refused => $wrong{$_} } } $bench->peers },
            limit => { value => Statistics::median(@{ $more{empty}{$key} // [0] }), what => 'an agent that does nothing', is_offset => 1 });
    }
};
