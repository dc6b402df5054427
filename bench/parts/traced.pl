# What a call of a traced method that is too short to be told costs, and of a timed one, and of a counted one: CPU time of the process for a call of a method that is not
# compiled into its caller, less what the same takes in a session without any. Most of the first two is two looks at the clock, whose cost is a row of its own.
use strict;
use warnings;

my $calls_of_a_unit = 1_000_000;

sub run_traced {
    my ($bench, $mode, $units) = @_;
    my %options = (none => [], clock => [], traced => ['trace=Called.called:1s'], timed => ['time=Called.called'], counted => ['count=Called.called']);
    my $file = "$bench->{out}/traced.jfr";
    unlink $file;
    my $run = $bench->run_java(['-XX:+UseSerialGC', '-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Called.called',
        $bench->agent_flags('jaywalk', 'cpu', '100ms', $file, @{ $options{$mode} })], 'Called', $units, $mode eq 'clock' ? 'clock' : ());
    $run->{wrong} //= 'it did not say what it used' unless $run->{cpu_ns} && defined $run->{result};
    return $run;
}

sub {
    my ($bench) = @_;
    my ($rounds, $units) = ($bench->pick(15, 3), $bench->pick(100, 15));
    my @modes = qw(none clock traced timed counted);
    my %names = (clock => 'two looks at the clock', traced => 'traced call, not told', timed => 'timed call', counted => 'counted call');
    my %told = map { $_ => { values => [] } } @modes;
    for my $round (1 .. $rounds) {
        $bench->say_progress("traced, a call: round $round of $rounds");
        my %runs = map { $_ => run_traced($bench, $_, $units) } $round % 2 ? @modes : reverse @modes;
        for my $mode (qw(clock traced timed counted)) {
            my ($run, $none, $of) = ($runs{$mode}, $runs{none}, $told{$mode});
            $of->{refused} //= $none->{wrong} // $run->{wrong} // ($run->{result} == $none->{result} ? undef : 'its result is another');
            push @{ $of->{values} }, ($run->{cpu_ns} - $none->{cpu_ns}) / ($units * $calls_of_a_unit) unless $of->{refused};
        }
    }
    for my $mode (qw(clock traced timed counted)) {
        $bench->row(name => $names{$mode}, unit => 'ns', is_difference => 1, values => $told{$mode}{values}, refused => $told{$mode}{refused},
            $mode eq 'traced' ? (limit => { value => 60, what => 'wanted' }) : ());
    }
};
