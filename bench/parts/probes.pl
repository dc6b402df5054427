# What a probe costs the method into which it is put: CPU time of the process for a call of a method that is not compiled into its caller, less what
# the same takes without. With the least handler that there is; with the probe taken out again before it is measured, so that its class is as it was; and with a place that was linked
# to nothing, where another agent has the class stay as it was with the probe. Beside that, in a program without jaywalk, calls of the same handler by itself, by a call site that never changes, and by one that may change
# and does nothing (CalledBySite). As the JVM compiles by itself, in the interpreter, and in code of C1. Last, what the first call of a place takes, which links it.
use strict;
use warnings;

my $calls_of_a_unit = 1_000_000;
my @of_probe = (['probed', 'probed call'], ['detached', 'call, probe detached'], ['nothing', 'call, probe detached, its place kept']);
my @of_site = (['direct', 'direct call of a handler'], ['constant', 'constant call site'], ['changing', 'call site that may change'], ['nothing', 'call site that does nothing yet']);

sub run_probed {
    my ($bench, $flags, $mode, $units) = @_;
    my $file = "$bench->{out}/probes.jfr";
    my @more = $mode eq 'none' ? () : ("probe=$bench->{out}/classes/CountCalls.class");
    my @keeps = $mode eq 'nothing' ? ("-javaagent:$bench->{out}/keeps.jar") : ();
    my @detach = $mode eq 'detached' || $mode eq 'nothing' ? ($bench->{command}, 'count-calls') : ();
    unlink $file;
    return run_program($bench, $flags, 'Called', [$bench->agent_flags('jaywalk', 'cpu', '100ms', $file, @more), @keeps], $units, @detach);
}

sub run_site {
    my ($bench, $flags, $mode, $units) = @_;
    return run_program($bench, $flags, 'CalledBySite', [], $units, $mode eq 'none' ? 'plain' : $mode);
}

sub run_program {
    my ($bench, $flags, $program, $agents, @arguments) = @_;
    my $called = $program eq 'Called' ? 'Called' : 'Linked';
    my $run = $bench->run_java([@$flags, '-XX:+UseSerialGC', '-XX:CompileCommand=quiet', "-XX:CompileCommand=dontinline,$called.called", @$agents], $program, @arguments);
    $run->{wrong} //= 'it did not say what it used' unless $run->{cpu_ns} && defined $run->{result};
    return $run;
}

# Of each kind a row, as what it takes beyond the program without a call.
sub measure_probes {
    my ($bench, $kinds, $run, $code, $flags, $rounds, $units) = @_;
    my @modes = ('none', map { $_->[0] } @$kinds);
    my %told = map { $_ => { values => [] } } @modes;
    for my $round (1 .. $rounds) {
        $bench->say_progress("probes, $kinds->[0][1]$code: round $round of $rounds");
        my %runs = map { $_ => $run->($bench, $flags, $_, $units) } $round % 2 ? @modes : reverse @modes;
        for my $mode (@modes[1 .. $#modes]) {
            my ($its, $none, $of) = ($runs{$mode}, $runs{none}, $told{$mode});
            $of->{refused} //= $none->{wrong} // $its->{wrong} // ($its->{result} == $none->{result} ? undef : 'its result is another');
            push @{ $of->{values} }, ($its->{cpu_ns} - $none->{cpu_ns}) / ($units * $calls_of_a_unit) unless $of->{refused};
        }
    }
    for my $kind (@$kinds) {
        my @limit = $code eq '' && $kind->[0] eq 'probed' ? (limit => { value => 1, what => 'wanted' }) : ();
        $bench->row(name => "$kind->[1]$code", unit => 'ns', is_difference => 1, values => $told{ $kind->[0] }{values}, refused => $told{ $kind->[0] }{refused}, @limit);
    }
}

# Of 1,000 places in 10 classes.
sub measure_first {
    my ($bench, $rounds) = @_;
    my (%got, $wrong);
    my ($classes, $log) = ("$bench->{out}/classes", "$bench->{out}/first-safepoints");
    my @probed = ("-Xlog:safepoint:file=$log", "-agentpath:$bench->{library}=version,quiet", '-cp', "$bench->{jar}:$classes", 'Instrumented', 10, 100, "$classes/CountMany.class", $log, 0);
    my @constant = ('-cp', "$bench->{jar}:$classes", 'Instrumented', 10, 100);
    my %commands = (probed => \@probed, constant => \@constant);
    for my $round (1 .. $rounds) {
        $bench->say_progress("probes, first calls: round $round of $rounds");
        for my $mode ($round % 2 ? qw(probed constant) : qw(constant probed)) {
            unlink $log;
            my $run = $bench->run_program(limit => 600, command => [$bench->{java}, '-XX:+UseSerialGC', @{ $commands{$mode} }]);
            $wrong //= $run->{wrong};
            /^first call of a place\t([-\d.E]+)$/ and push @{ $got{$mode} }, $1 for @{ $run->{lines} };
        }
    }
    $bench->row(name => 'first call of a probed place', unit => 'ns', values => $got{probed}, refused => $wrong);
    $bench->row(name => 'first call of a constant call site', unit => 'ns', values => $got{constant}, refused => $wrong);
}

sub {
    my ($bench) = @_;
    my $out = $bench->{out};
    -f $bench->{jar} or die "bench: $bench->{jar} is missing; make builds it\n";
    $bench->command("$bench->{home}/bin/javac --release 11 -Xlint:all,-options -cp $bench->{jar}:$out/classes -d $out/classes bench/programs/CountCalls.java bench/programs/CountMany.java bench/programs/Instrumented.java");
    open my $manifest, '>', "$out/keeps.mf" or die "bench: $out/keeps.mf: $!\n";
    print $manifest "Premain-Class: Keeps\nCan-Retransform-Classes: true\n";
    close $manifest or die;
    $bench->command("$bench->{home}/bin/jar cfm $out/keeps.jar $out/keeps.mf -C $out/classes Keeps.class");
    my @codes = (['', [], $bench->pick(15, 3), $bench->pick(900, 300)], [', interpreter', ['-Xint'], $bench->pick(5, 1), $bench->pick(9, 3)], [', C1', ['-XX:TieredStopAtLevel=1'], $bench->pick(5, 1), $bench->pick(300, 100)]);
    for my $code (@codes) {
        measure_probes($bench, \@of_probe, \&run_probed, @$code);
        measure_probes($bench, \@of_site, \&run_site, @$code);
    }
    measure_first($bench, $bench->pick(7, 1));
};
