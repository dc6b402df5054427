# What the checks share: finding source files, and telling code from comments. Loaded with `require`.
use strict;
use warnings;
use File::Find;

# Files below the directories of $root ('': itself) whose name matches $pattern, sorted, relative to
# $root.
sub source_files {
    my ($root, $pattern, @directories) = @_;
    my @files;

    for my $directory (grep { -d "$root/$_" } @directories) {
        find({ no_chdir => 1, wanted => sub {
            push @files, substr($_, length($root)) =~ s{^/+}{}r if -f $_ && /$pattern/;
        } }, "$root/$directory");
    }
    return sort @files;
}

sub read_text {
    my ($path) = @_;

    open(my $handle, '<', $path) or die "cannot read $path: $!\n";
    local $/;
    my $text = <$handle>;
    return defined $text ? $text : '';
}

sub blank {
    my ($text) = @_;

    $text =~ s/[^\n]/ /g;
    return $text;
}

# Splits C text into two lists of lines: the code, with comments, strings and characters blanked,
# and the comments, with the code blanked. Line numbers stay.
sub code_and_comments {
    my ($text) = @_;
    my ($code, $comments) = ('', '');

    while ($text =~ m{\G(?:(?<comment>/\*.*?\*/|//[^\n]*)
                        |(?<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
                        |(?<code>[^/"']+|.))}gsx) {
        if (defined $+{comment}) {
            $code .= blank($+{comment});
            $comments .= $+{comment};
        } elsif (defined $+{literal}) {
            my $literal = $+{literal};
            $code .= substr($literal, 0, 1) . ' ' x (length($literal) - 2) . substr($literal, -1);
            $comments .= blank($literal);
        } else {
            $code .= $+{code};
            $comments .= blank($+{code});
        }
    }
    return ([split(/\n/, $code, -1)], [split(/\n/, $comments, -1)]);
}

my $offences = 0;
my %said;

# Says what is refused, once for each place.
sub offence {
    my ($where, $what) = @_;

    return if $said{"$where: $what"}++;
    print "$where: $what\n";
    $offences++;
}

# Last line of a check, and its exit status.
sub verdict {
    my ($check, $looked_at) = @_;

    if ($offences == 0) {
        print "ok $check: $looked_at\n";
        exit 0;
    }
    print "not ok $check: $offences refused\n";
    exit 1;
}

1;
