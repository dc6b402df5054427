# How large recordings are: bytes for a sample, and bytes for a second of a program at 10 ms of CPU time.
use strict;
use warnings;

sub {
    my ($bench) = @_;
    my $rounds = $bench->pick(7, 1);
    for my $program (['service', 'Service', $bench->pick(40000, 8000), 4, 200], ['data', 'Data', $bench->pick(300, 60)]) {
        my ($name, @command) = @$program;
        my (%got, %wrong, %samples);
        for my $round (1 .. $rounds) {
            for my $agent ('jaywalk', $bench->peers) {
                my $file = "$bench->{out}/size.jfr";
                unlink $file;
                my $run = $bench->run_java(['-XX:+UseSerialGC', $bench->agent_flags($agent, 'cpu', '10ms', $file)], @command);
                my $count;
                ($count, $run->{wrong}) = $bench->count_samples($file, 'cpu', $agent) unless $run->{wrong};
                $wrong{$agent} //= $run->{wrong} // $bench->is_unreadable_for_jfr($file) // ($count ? undef : 'no samples came');
                next if $wrong{$agent};
                $samples{$agent}[0] += $count;
                $samples{$agent}[1] += int(($agent eq 'JFR' ? $run->{java_cpu_ns} : $run->{cpu_us} * 1000 - 60e6) / 10e6);
                push @{ $got{$agent}{sample} }, (-s $file) / $count;
                push @{ $got{$agent}{second} }, (-s $file) / ($run->{wall_us} / 1e6);
            }
        }
        for my $kind (['sample', 'bytes a sample', 'bytes'], ['second', 'bytes a second', 'bytes']) {
            my ($key, $text, $unit) = @$kind;
            $bench->row(name => "size, $name, $text", unit => $unit, values => $got{jaywalk}{$key}, refused => $wrong{jaywalk}, samples => $samples{jaywalk},
                peers => { map { $_ => { values => $got{$_}{$key}, refused => $wrong{$_}, samples => $samples{$_} } } $bench->peers });
        }
    }
};
