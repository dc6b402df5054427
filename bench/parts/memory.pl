# What memory an agent takes: resident memory of a program that has it from its start, against the same without. The heap is touched whole
# at the start, so that it does not grow meanwhile. The limit is an agent that does nothing.
use strict;
use warnings;
use Time::HiRes qw(sleep);

sub {
    my ($bench) = @_;
    my ($rounds, $settle) = ($bench->pick(7, 2), 2);
    my @agents = ('none', 'jaywalk', 'empty', $bench->{peer} ? 'peer' : ());
    my @programs = (
        ['idle', 'Crowded', "$bench->{out}/none", 0, 'idle'],
        ['busy', 'Crowded', "$bench->{out}/none", 0, 'busy'],
        ['1,000 threads', 'ManyThreads', 1000],
    );
    @programs = @programs[0, 2] if $bench->{quick};
    for my $program (@programs) {
        my ($name, @command) = @$program;
        my (%more, %wrong);
        for my $round (1 .. $rounds) {
            my %mib;
            for my $agent ($round % 2 ? @agents : reverse @agents) {
                my $file = "$bench->{out}/memory.jfr";
                unlink $file;
                my ($pid, $not) = $bench->start_java(['-Xms128m', '-Xmx128m', '-XX:+UseSerialGC', '-XX:+AlwaysPreTouch',
                    $bench->agent_flags($agent, 'cpu', '10ms', $file)], @command);
                if (!$pid) { $wrong{$agent} //= $not; next }
                sleep $settle;
                (undef, $mib{$agent}) = $bench->used_by($pid);
                $wrong{$agent} //= $bench->end_java($pid) // ($agent =~ /none|empty/ || -s $file ? undef : 'it left no recording');
            }
            for my $agent (@agents) {
                push @{ $more{$agent} }, $mib{$agent} - $mib{none} unless $wrong{$agent} || $wrong{none};
            }
        }
        $bench->row(name => "memory, $name", unit => 'MiB', values => $more{jaywalk}, refused => $wrong{none} // $wrong{jaywalk}, is_difference => 1,
            min_effect => 0.5, limit => { value => Statistics::median(@{ $more{empty} // [0] }), what => 'an agent that does nothing', is_offset => 1 },
            ($bench->{peer} ? (peers => { peer => { values => $more{peer}, refused => $wrong{peer} } }) : ()));
    }
};
