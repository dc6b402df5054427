# How large recordings of 100,000 samples of CPU time are, at 1 ms of interval and 512 frames, of programs with few different stacks and with
# many. Plain, and as `file=x.jfr.zst`; peers have no packed form, so both stand beside their plain bytes. Nothing is timed: other work on the
# machine does not change bytes per sample.
use strict;
use warnings;

# Both sample by perf_events here, so that both have a sample a millisecond, and none of the two waits for the kernel's tick.
my %event_of = (jaywalk => 'cpu-clock', peer => 'cpu', JFR => 'cpu');

sub {
    my ($bench) = @_;
    my $rounds = 1; # bytes of a sample differ by a percent or two
    local $bench->{limit} = 1800; # seconds; the machine may be busy
    for my $program (['service', 'Service', $bench->pick(9500000, 300000), 4, 200], ['compile', 'Compile', $bench->pick(400, 6)]) {
        my ($name, @command) = @$program;
        my (%got, %wrong, %samples);
        for my $round (1 .. $rounds) {
            for my $form (['jaywalk', 'plain', '.jfr'], ['jaywalk', 'packed', '.jfr.zst'], map { [$_, 'plain', '.jfr'] } $bench->peers) {
                my ($agent, $kind, $ending) = @$form;
                my $file = "$bench->{out}/bytes$ending";
                unlink $file;
                my @depth = $agent eq 'JFR' ? '-XX:FlightRecorderOptions:stackdepth=512' : ();
                my @more = $agent eq 'JFR' ? () : 'jstackdepth=512';
                my $run = $bench->run_java(['-XX:+UseSerialGC', @depth, $bench->agent_flags($agent, $event_of{$agent}, '1ms', $file, @more)], @command);
                my $count;
                ($count, $run->{wrong}) = $bench->count_samples($file, 'cpu', $agent) unless $run->{wrong};
                my $key = "$agent $kind";
                $wrong{$key} //= $run->{wrong} // ($kind eq 'packed' ? undef : $bench->is_unreadable_for_jfr($file)) // ($count ? undef : 'no samples came');
                next if $wrong{$key};
                $samples{$key}[0] += $count;
                push @{ $got{$key} }, (-s $file) / $count * 100000;
            }
        }
        for my $kind (['plain', 3 / 4, 'three quarters of the peer'], ['packed', 1 / 4, "a quarter of the peer's plain bytes"]) {
            my ($form, $share, $what) = @$kind;
            my $peers = $got{'peer plain'};
            $bench->row(name => "bytes of 100,000 samples, $name, $form", unit => 'bytes', values => $got{"jaywalk $form"}, refused => $wrong{"jaywalk $form"},
                samples => $samples{"jaywalk $form"},
                peers => { map { $_ => { values => $got{"$_ plain"}, refused => $wrong{"$_ plain"}, samples => $samples{"$_ plain"} } } $bench->peers },
                ($peers ? (limit => { value => $share * Statistics::median(@$peers), what => $what }) : ()));
        }
    }
};
