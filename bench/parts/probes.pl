# What a probe costs the method into which it is put: CPU time of the process for a call of a method that is not compiled into its caller, less what
# the same takes in a session without a probe. With the least handler that there is; and with the probe taken out again before it is measured. As the JVM compiles by
# itself, in the interpreter, and in code of C1.
use strict;
use warnings;

my $calls_of_a_unit = 1_000_000;

sub run_one {
    my ($bench, $flags, $mode, $units) = @_;
    my $file = "$bench->{out}/probes.jfr";
    my @more = $mode eq 'none' ? () : ("probe=$bench->{out}/classes/CountCalls.class");
    my @detach = $mode eq 'detached' ? ($bench->{command}, 'count-calls') : ();
    unlink $file;
    my $run = $bench->run_java([@$flags, '-XX:+UseSerialGC', '-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Called.called',
        $bench->agent_flags('jaywalk', 'cpu', '100ms', $file, @more)], 'Called', $units, @detach);
    $run->{wrong} //= 'it did not say what it used' unless $run->{cpu_ns} && defined $run->{result};
    return $run;
}

sub measure {
    my ($bench, $code, $flags, $rounds, $units) = @_;
    my @modes = qw(none probed detached);
    my %told = map { $_ => { values => [] } } @modes;
    for my $round (1 .. $rounds) {
        $bench->say_progress("probes, a call$code: round $round of $rounds");
        my %runs = map { $_ => run_one($bench, $flags, $_, $units) } $round % 2 ? @modes : reverse @modes;
        for my $mode (qw(probed detached)) {
            my ($run, $none, $of) = ($runs{$mode}, $runs{none}, $told{$mode});
            $of->{refused} //= $none->{wrong} // $run->{wrong} // ($run->{result} == $none->{result} ? undef : 'its result is another');
            push @{ $of->{values} }, ($run->{cpu_ns} - $none->{cpu_ns}) / ($units * $calls_of_a_unit) unless $of->{refused};
        }
    }
    my @more = (unit => 'ns', is_difference => 1);
    my @limit = $code eq '' ? (limit => { value => 1, what => 'wanted' }) : ();
    $bench->row(name => "probed call$code", @more, values => $told{probed}{values}, refused => $told{probed}{refused}, @limit);
    $bench->row(name => "call, probe detached$code", @more, values => $told{detached}{values}, refused => $told{detached}{refused});
}

sub {
    my ($bench) = @_;
    -f $bench->{jar} or die "bench: $bench->{jar} is missing; make builds it\n";
    $bench->command("$bench->{home}/bin/javac --release 11 -Xlint:all,-options -cp $bench->{jar} -d $bench->{out}/classes bench/programs/CountCalls.java");
    measure($bench, '', [], $bench->pick(15, 3), $bench->pick(900, 300));
    measure($bench, ', interpreter', ['-Xint'], $bench->pick(5, 1), $bench->pick(9, 3));
    measure($bench, ', C1', ['-XX:TieredStopAtLevel=1'], $bench->pick(5, 1), $bench->pick(300, 100));
};
