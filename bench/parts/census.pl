# What the census of locks costs a lock that nobody else wants: CPU time of its thread for an acquisition in a method that is not compiled into its
# caller, in the census and when it has ended, less what it took in the same JVM before. Monitors, and locks of java.util.concurrent (bench/programs/CensusTurns.java).
use strict;
use warnings;

sub run_census {
    my ($bench, $slices, @more) = @_;
    return $bench->run_program(command => [$bench->{java}, '-Xmx512m', '-XX:+UseSerialGC', '-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,CensusTurns.enter',
        '-XX:CompileCommand=dontinline,CensusTurns.latch', '-XX:CompileCommand=dontinline,CensusTurns.method', "-agentpath:$bench->{library}=loglevel=none", '-cp', "$bench->{jar}:$bench->{out}/classes", 'CensusTurns', $slices,
        "$bench->{out}/census.jfr", @more]);
}

# Numbers of a run, by kind of lock, into $told->{...}; what is wrong with it.
sub take_census {
    my ($run, $told, $on_name) = @_;
    for my $line (@{ $run->{lines} }) {
        my ($kind, $off, $on, $ended) = $line =~ /^(monitor|latch|method) (\S+) (\S+) (\S+)$/ or next;
        push @{ $told->{$kind}{off} }, $off;
        push @{ $told->{$kind}{$on_name} }, $on - $off;
        push @{ $told->{$kind}{"$on_name ended"} }, $ended - $off;
    }
    return $run->{wrong};
}

sub {
    my ($bench) = @_;
    my ($rounds, $slices) = ($bench->pick(7, 3), $bench->pick(40, 20));
    my (%told, $wrong);
    -f $bench->{jar} or die "bench: $bench->{jar} is missing; make builds it\n";
    $bench->command("$bench->{home}/bin/javac --release 11 -Xlint:all,-options -cp $bench->{jar}:$bench->{out}/classes -d $bench->{out}/classes bench/programs/CensusTurns.java");
    for my $round (1 .. $rounds) {
        $bench->say_progress("census: $round of $rounds");
        my $plain = take_census(run_census($bench, $slices), \%told, 'on');
        my $objects = take_census(run_census($bench, $slices, 'objects'), \%told, 'objects');
        $wrong //= $plain // $objects;
    }
    for my $kind (['monitor', 'monitor'], ['latch', 'ReentrantLock'], ['method', 'synchronized method']) {
        my ($values, $name) = ($told{ $kind->[0] }, "uncontended $kind->[1]");
        $bench->row(name => "$name, no census", unit => 'ns', values => $values->{off}, refused => $wrong);
        $bench->row(name => "$name, in the census", unit => 'ns', is_difference => 1, values => $values->{on}, refused => $wrong, limit => { value => 3, what => 'wanted' });
        $bench->row(name => "$name, census ended", unit => 'ns', is_difference => 1, values => $values->{'on ended'}, refused => $wrong);
        $bench->row(name => "$name, census and objects", unit => 'ns', is_difference => 1, values => $values->{objects}, refused => $wrong);
    }
};
