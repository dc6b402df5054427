# What a running program pays when an agent is loaded into it and starts to sample: CPU time and resident memory two seconds later
# against before, and the longest safepoint meanwhile, as the JVM logs them. Each in a JVM of its own, in turns; an agent that does
# nothing shows the JVM's own part, which is taken off but from safepoints.
use strict;
use warnings;
use Time::HiRes qw(sleep);

my $safepoint_log;

sub safepoint_ms {
    my ($from) = @_;
    my @ms = map { $_ / 1e6 } substr(Bench::slurp($safepoint_log), $from) =~ /Total:\s*(\d+) ns/g;
    my ($most) = sort { $b <=> $a } 0, @ms;
    return $most;
}

sub attach_once {
    my ($bench, $agent, $classes, $settle) = @_;
    my $file = "$bench->{out}/attach.jfr";
    $safepoint_log = "$bench->{out}/safepoints";
    unlink $file, $safepoint_log;
    my ($pid, $wrong) = $bench->start_java(['-Xms512m', '-Xmx1g', '-XX:+EnableDynamicAgentLoading', "-Xlog:safepoint:file=$safepoint_log"],
        'Crowded', "$bench->{out}/none", $classes, 'idle');
    return { wrong => $wrong } unless $pid;
    my $jcmd = "$bench->{home}/bin/jcmd $pid";
    # The first attach makes the JVM's listener; and what was loaded is compiled to its end.
    system "$jcmd VM.version >$bench->{out}/jcmd.out 2>&1";
    sleep $settle;
    my @before = $bench->used_by($pid);
    my $logged = -s $safepoint_log // 0;
    my ($flag) = $bench->agent_flags($agent, 'cpu', '10ms', $file);
    my ($library, $options) = $flag =~ /^-agentpath:([^=]*)=?(.*)$/;
    my $loaded = system "$jcmd JVMTI.agent_load $library '\"$options\"' >$bench->{out}/jcmd.out 2>&1";
    sleep $settle;
    my @after = $bench->used_by($pid);
    $wrong = $bench->end_java($pid);
    $wrong //= 'it could not be loaded' if $loaded != 0;
    $wrong //= 'it left no recording' if $agent ne 'empty' && !-s $file;
    return { wrong => $wrong, map { $_ => 0 } () } if $wrong;
    return { cpu => $after[0] - $before[0], memory => $after[1] - $before[1], safepoint => safepoint_ms($logged) };
}

sub {
    my ($bench) = @_;
    my ($rounds, $classes, $settle) = ($bench->pick(7, 2), $bench->pick(50000, 5000), $bench->pick(2, 1));
    my @agents = ('empty', 'jaywalk', $bench->{peer} ? 'peer' : ());
    my (%got, %wrong);
    for my $round (1 .. $rounds) {
        $bench->say_progress("attach: round $round of $rounds");
        my %run;
        for my $agent ($round % 2 ? @agents : reverse @agents) {
            $run{$agent} = attach_once($bench, $agent, $classes, $settle);
            $wrong{$agent} //= $run{$agent}{wrong};
        }
        for my $agent (@agents) {
            next if $wrong{$agent} || $wrong{empty};
            push @{ $got{$agent}{$_} }, $run{$agent}{$_} - $run{empty}{$_} for qw(cpu memory);
            push @{ $got{$agent}{safepoint} }, $run{$agent}{safepoint};
        }
        push @{ $got{empty}{raw} }, $run{empty}{safepoint} unless $wrong{empty};
    }
    my $program = Bench::thousands($classes) . ' classes';
    for my $kind (['cpu', 'CPU', 'ms', 2], ['memory', 'memory', 'MiB', 0.5], ['safepoint', 'longest safepoint', 'ms', 1]) {
        my ($key, $text, $unit, $effect) = @$kind;
        $bench->row(name => "attach, $program, $text", unit => $unit, values => $got{jaywalk}{$key}, refused => $wrong{empty} // $wrong{jaywalk},
            min_effect => $effect, is_difference => $key ne 'safepoint',
            ($key eq 'safepoint' ? (limit => { value => Statistics::median(@{ $got{empty}{raw} // [0] }), what => 'an agent that does nothing', is_offset => 1 }) : ()),
            ($bench->{peer} ? (peers => { peer => { values => $got{peer}{$key}, refused => $wrong{peer} } }) : ()));
    }
};
