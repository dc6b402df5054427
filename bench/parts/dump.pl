# A dump of a session that runs: how long the command takes, and what CPU time the program pays meanwhile. The program waits in fifty
# threads, so that what it uses while the command runs is what the dump takes.
use strict;
use warnings;
use Time::HiRes qw(time sleep);

sub {
    my ($bench) = @_;
    my ($rounds, $gather) = ($bench->pick(7, 3), 2);
    my %command = (jaywalk => $bench->{command});
    if ($bench->{peer}) {
        (my $asprof = $bench->{peer}) =~ s{/lib/[^/]*$}{/bin/asprof};
        $command{peer} = $asprof if -x $asprof;
    }
    my (%got, %wrong);
    for my $round (1 .. $rounds) {
        for my $agent ($round % 2 ? sort keys %command : reverse sort keys %command) {
            my ($file, $copy) = map { "$bench->{out}/$_" } 'dumped.jfr', 'copy.jfr';
            unlink $file, $copy;
            my ($pid, $not) = $bench->start_java(['-Xmx512m', '-XX:+UseSerialGC', $bench->agent_flags($agent, 'cpu', '1ms', $file)],
                'Crowded', "$bench->{out}/none", 0, 'idle');
            if (!$pid) { $wrong{$agent} //= $not; next }
            sleep $gather;
            my @before = $bench->used_by($pid);
            my $start = time;
            my $status = system "$command{$agent} dump" . ($agent eq 'peer' ? '' : " -f $copy") . " $pid >$bench->{out}/dump.out 2>&1";
            $copy = $file if $agent eq 'peer'; # it brings the file of its session up to date
            my $took_ms = 1000 * (time - $start);
            my @after = $bench->used_by($pid);
            my $ended = $bench->end_java($pid);
            $wrong{$agent} //= $ended // ($status == 0 ? undef : 'the command failed') // (-s $copy ? undef : 'it left no copy')
                // $bench->is_unreadable_for_jfr($copy);
            next if $wrong{$agent};
            push @{ $got{$agent}{time} }, $took_ms;
            push @{ $got{$agent}{cpu} }, $after[0] - $before[0];
        }
    }
    for my $kind (['time', 'time of the command'], ['cpu', 'CPU that the program pays']) {
        my ($key, $text) = @$kind;
        $bench->row(name => "dump, $text", unit => 'ms', values => $got{jaywalk}{$key}, refused => $wrong{jaywalk}, min_effect => 2,
            (exists $command{peer} ? (peers => { peer => { values => $got{peer}{$key}, refused => $wrong{peer} } }) : ()));
    }
};
