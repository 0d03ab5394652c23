cat >program.pl <<'END'
use strict;
use warnings;
use Math::BigInt;
use List::Util qw(sum max shuffle);
use Digest::SHA qw(sha256_hex);
use POSIX qw(floor);
my @sieve = (1) x 50000;
for my $n (2 .. 223) { if ($sieve[$n]) { for (my $m = $n * $n; $m < 50000; $m += $n) { $sieve[$m] = 0 } } }
print 'primes ', sum(@sieve[2 .. 49999]), "\n";
print 'factorial ', substr(Math::BigInt->new(200)->bfac(), 0, 40), "\n";
print 'sha ', sha256_hex(join ',', 1 .. 20000), "\n";
my %count;
$count{$_ % 97 . 'x'}++ for 1 .. 50000;
print 'hash ', join(' ', map { "$_=$count{$_}" } (sort keys %count)[0 .. 5]), "\n";
my $text = join ' ', map { sprintf '%05d', $_ * 7919 % 100000 } 1 .. 5000;
my $found = () = $text =~ /(\d)(\d)\d\2\1/g;
(my $changed = $text) =~ s/(\d+)/length($1)/ge;
print "regex $found ", length $changed, "\n";
printf "numbers %.12g %s %e %x\n", exp(1), 0.1 + 0.2, 1 / 3, 0xdeadbeef;
print 'pack ', unpack('H*', pack('NnCa4d>', 1, 2, 3, 'four', 1.5)), "\n";
print 'sort ', join(' ', (sort { $b <=> $a } shuffle 1 .. 1000)[0 .. 4]), "\n";
my $child = open(my $pipe, '-|') // die;
if (!$child) { print 'from the child'; exit 7 }
print 'fork ', <$pipe>;
close $pipe;
print ' ', $? >> 8, "\n";
eval { die "caught\n" };
print 'die ', $@;
END
perl program.pl
