# Statistics - what bench/run and bench/compare say of repeated measurements. No assumption about their distribution.
package Statistics;
use strict;
use warnings;
use Exporter 'import';
use List::Util qw(sum);
our @EXPORT_OK = qw(median quantile interval mann_whitney holm);

sub sorted { return sort { $a <=> $b } @_ }

# Between the two nearest values; of 0.5 the median.
sub quantile {
    my ($share, @values) = @_;
    return undef unless @values;
    my @in_order = sorted(@values);
    my $place = $share * $#in_order;
    my $below = int $place;
    my $above = $below < $#in_order ? $below + 1 : $below;
    return $in_order[$below] + ($place - $below) * ($in_order[$above] - $in_order[$below]);
}

sub median { return quantile(0.5, @_) }

# Of n values, so many below and above which may be left out for an interval that holds the median with 95 % (sign test); and how
# sure it is then. With fewer than six values even the whole range is not that sure.
sub interval {
    my @in_order = sorted(@_);
    my $n = @in_order;
    return (undef, undef, 0) unless $n;
    my ($term, $tail, $out, $sure) = (0.5**$n, 0, 0, undef);
    for my $k (0 .. int(($n - 1) / 2)) {
        $tail += $term;
        last if $k > 0 && 1 - 2 * $tail < 0.95;
        ($out, $sure) = ($k, 1 - 2 * $tail);
        $term *= ($n - $k) / ($k + 1);
    }
    return ($in_order[$out], $in_order[$n - 1 - $out], $sure);
}

# Numbers of ways in which n of the ranks 1 .. m + n have each sum: exact, without ties.
my %ways;
sub rank_sums {
    my ($m, $n) = @_;
    return $ways{"$m,$n"} //= do {
        my @count = ([1]);    # by how many were chosen, by sum
        for my $rank (1 .. $m + $n) {
            for my $chosen (reverse 1 .. ($rank < $n ? $rank : $n)) {
                my $from = $count[$chosen - 1] or next;
                for my $sum (0 .. $#$from) {
                    $count[$chosen][$sum + $rank] += $from->[$sum] if $from->[$sum];
                }
            }
        }
        $count[$n];
    };
}

# Two-sided probability that two samples of one distribution differ as much in their ranks (Mann-Whitney), and by the Hodges-Lehmann
# estimate how much more the second has. Exact for up to 400 pairs without ties, else by the normal distribution with ties corrected.
sub mann_whitney {
    my ($left, $right) = @_;
    my ($m, $n) = (scalar @$left, scalar @$right);
    return (1, 0) unless $m && $n;
    my @all = sort { $a->[0] <=> $b->[0] } (map { [$_, 0] } @$left), (map { [$_, 1] } @$right);
    my ($rank_sum, $ties, $i) = (0, 0, 0);
    while ($i < @all) {
        my $j = $i;
        $j++ while $j < $#all && $all[$j + 1][0] == $all[$i][0];
        my $rank = ($i + $j) / 2 + 1;
        my $size = $j - $i + 1;
        $ties += $size**3 - $size;
        $rank_sum += $rank * grep { $_->[1] } @all[$i .. $j];
        $i = $j + 1;
    }
    my $shift = median(map { my $b = $_; map { $b - $_ } @$left } @$right);
    my $mean = $n * ($m + $n + 1) / 2;
    if (!$ties && $m * $n <= 400) {
        my $ways = rank_sums($m, $n);
        my $all_ways = sum(map { $_ // 0 } @$ways);
        my $off = abs($rank_sum - $mean);
        my $as_far = sum(0, map { $ways->[$_] // 0 } grep { abs($_ - $mean) >= $off - 1e-9 } 0 .. $#$ways);
        return ($as_far / $all_ways, $shift);
    }
    my $total = $m + $n;
    my $variance = $m * $n / 12 * ($total + 1 - $ties / ($total * ($total - 1)));
    return (1, $shift) if $variance <= 0;
    my $z = (abs($rank_sum - $mean) - 0.5) / sqrt($variance);
    return ($z <= 0 ? 1 : erfc($z / sqrt(2)), $shift);
}

# Source: Abramowitz and Stegun, 7.1.26; off by less than 1.5e-7.
sub erfc {
    my ($x) = @_;
    my $t = 1 / (1 + 0.3275911 * $x);
    return $t * (0.254829592 + $t * (-0.284496736 + $t * (1.421413741 + $t * (-1.453152027 + $t * 1.061405429)))) * exp(-$x * $x);
}

# Holm's step-down: which of these probabilities stand when all of them together may be wrong once in 1 / $alpha times.
sub holm {
    my ($alpha, @p) = @_;
    my @stands = (0) x @p;
    my $left = @p;
    for my $i (sort { $p[$a] <=> $p[$b] } 0 .. $#p) {
        last if $p[$i] > $alpha / $left--;
        $stands[$i] = 1;
    }
    return @stands;
}

1;
