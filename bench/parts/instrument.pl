# What putting probes into a running program takes: the commands and the longest pause (a safepoint, or a handshake of all threads) meanwhile, as the JVM logs it, for a thousand classes,
# and for ten thousand places in hot code; what it takes to link these anew all at once; what a place's first call takes, which links it; and how fast class files are written anew, beside ASM where ASM_JAR names it
# (/usr/share/java/asm.jar of Debian's libasm-java).
use strict;
use warnings;

sub instrumented {
    my ($bench, $classes, $methods, $what, $rounds, $turns) = @_;
    my (%got, $wrong, @names);
    my $log = "$bench->{out}/safepoints";
    for my $round (1 .. $rounds) {
        $bench->say_progress("instrument, $what: round $round of $rounds");
        unlink $log;
        my $run = $bench->run_program(limit => 600, command => [$bench->{java}, '-Xmx512m', "-Xlog:safepoint*,handshake*:file=$log", '--add-opens', 'java.base/java.lang=ALL-UNNAMED', "-agentpath:$bench->{library}=version,quiet",
            '-cp', "$bench->{jar}:$bench->{out}/classes", 'Instrumented', $classes, $methods, "$bench->{out}/classes/CountMany.class", $log, $turns]);
        $wrong //= $run->{wrong};
        for (@{ $run->{lines} }) {
            my ($name, $value) = /^([^\t]+)\t([-\d.E]+)$/ or next;
            push @names, $name unless $got{$name};
            push @{ $got{$name} }, $value;
        }
    }
    for my $name (@names ? @names : 'attach, time') {
        $bench->row(name => "$what: $name", unit => $name =~ /first call/ ? 'ns' : 'ms', values => $got{$name}, refused => $wrong,
            ($name =~ /relink, time/ ? (limit => { value => 20, what => 'wanted' }) : $name =~ /longest/ ? (limit => { value => 10, what => 'wanted' }) : ()));
    }
}

sub rewriting {
    my ($bench, $rounds) = @_;
    my ($out, $asm, %got, %asm) = ($bench->{out}, $ENV{ASM_JAR} // '/usr/share/java/asm.jar');
    my ($java, $javac) = map { "$bench->{home}/bin/$_" } qw(java javac);
    $bench->command("make -s build/plain/tests/classfile/rewriter && mkdir -p $out/pack && $javac -d $out/pack tests/classfile/java/Pack.java");
    $bench->command("$java -cp $out/pack jaywalk.hooks.Pack $out/pack/base jrt:java.base >$out/pack/log");
    if (-f $asm) {
        $bench->command("$javac --release 11 -Xlint:all,-options -cp $asm -d $out/classes bench/programs/AsmRewrite.java");
    }
    for my $round (1 .. $rounds) {
        $bench->say_progress("instrument, rewriting: round $round of $rounds");
        my $told = `build/plain/tests/classfile/rewriter $out/pack/base $out/pack/probed entry,return`;
        push @{ $got{$1 eq 'read_and_write' ? 'written' : 'probed'} }, 1000 / $2 while $told =~ /^(read_and_write|rewrite)_mb_per_cpu_second (\d+)$/mg;
        next unless -f $asm;
        $told = `$java -Xmx1g -XX:+UseSerialGC -cp $asm:$out/classes AsmRewrite $out/pack/base 6 2>&1`;
        push @{ $asm{$1} }, $2 while $told =~ /^(written|probed)\t([\d.]+)$/mg;
    }
    for my $kind (['written', 'read and written'], ['probed', 'with a call at each entry and return']) {
        my ($key, $text) = @$kind;
        $bench->row(name => "class files, $text, a MB", unit => 'ms', values => $got{$key},
            ($asm{$key} ? (limit => { value => Statistics::median(@{ $asm{$key} }), what => 'ASM' }) : ()));
    }
}

sub {
    my ($bench) = @_;
    -f $bench->{jar} or die "bench: $bench->{jar} is missing; make builds it\n";
    $bench->command("$bench->{home}/bin/javac --release 11 -Xlint:all,-options -cp $bench->{jar}:$bench->{out}/classes -d $bench->{out}/classes bench/programs/Instrumented.java bench/programs/CountMany.java");
    rewriting($bench, $bench->pick(7, 2));
    my ($rounds, $turns) = ($bench->pick(5, 1), $bench->pick(5, 2));
    instrumented($bench, 1000, 10, '1,000 classes', $rounds, $turns);
    instrumented($bench, 100, 100, '10,000 places', $rounds, $turns);
};
