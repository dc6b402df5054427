# Not in the table by itself. Nanoseconds in which a Java thread says what it works for, through build/jar/jaywalk.jar: CPU time of the
# thread while a session samples every 10 ms; on a virtual thread the clock of the wall, which counts what others take from this machine.
# `none` is Jaywalk.ifPresent() in a JVM without an agent.
use strict;
use warnings;

sub {
    my ($bench) = @_;
    my ($rounds, $round_ms) = ($bench->pick(5, 2), 30);
    -f $bench->{jar} or die "bench: $bench->{jar} is missing; make builds it\n";
    $bench->command("$bench->{home}/bin/javac --release 11 -Xlint:all,-options,-try -cp $bench->{jar} -d $bench->{out}/classes bench/programs/ContextSwitch.java");
    my @kinds = ('agent', $bench->{major} >= 21 ? 'virtual' : (), 'none');
    my (%ns, %wrong, @calls);
    for my $round (1 .. $rounds) {
        for my $kind ($round % 2 ? @kinds : reverse @kinds) {
            my $run = $bench->run_program(command => [$bench->{java}, '-Xmx256m',
                $bench->agent_flags($kind eq 'none' ? 'none' : 'jaywalk', 'cpu', '10ms', "$bench->{out}/contexts.jfr"),
                '-cp', "$bench->{jar}:$bench->{out}/classes", 'ContextSwitch', $kind eq 'virtual' ? 'virtual' : 'platform', $round_ms]);
            $wrong{$kind} //= $run->{wrong};
            for (@{ $run->{lines} }) {
                my ($call, $median) = /^([^\t]+)\t([\d.]+)\t/ or next;
                push @calls, $call unless $ns{$call};
                push @{ $ns{$call}{$kind} }, $median;
            }
        }
    }
    for my $call (@calls) {
        $bench->row(name => "context, $call, $_", unit => 'ns', values => $ns{$call}{$_}, refused => $wrong{$_}) for grep { $ns{$call}{$_} } @kinds;
    }
};
