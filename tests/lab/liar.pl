#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# liar: a measuring tool that is honest, or tells one kind of lie on purpose: for verify.sh, which puts
# it on trial. It really sends what it says; only what it tells of it is false.
#
#   liar -s PORT LIE                                          server: counts datagrams, echoes questions
#   liar TEST LIE HOST PORT SECONDS [BITS_A_SECOND [SIZE]]    client: udp_stream, udp_rr, udp_latency,
#                                                             tcp_stream; prints JSON
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_RCVBUF IPPROTO_TCP);
use Time::HiRes qw(time sleep);

my ($what, @rest) = @ARGV;
if ($what eq '--version') { print "liar 1.0\n"; exit }
exit serve(@rest) if $what eq '-s';
my ($lie, $host, $port, $seconds, $bps, $size) = @rest;
my $launched = time;

# ---- server ----

sub serve {
	my ($port, $lie) = @_;
	my $udp = IO::Socket::INET->new(LocalPort => $port, Proto => 'udp') or die "liar: $!\n";
	my $tcp = IO::Socket::INET->new(LocalPort => $port, Listen => 5, ReuseAddr => 1) or die "liar: $!\n";
	my %c = (unique => 0, twice => 0, late => 0, bytes => 0, most => -1, first => 0, last => 0, seen => {});
	my $both = IO::Select->new($udp, $tcp);
	$SIG{INT} = sub { exit 0 };
	# A server that gets no CPU for a while must not lose what came (33: SO_RCVBUFFORCE).
	setsockopt $udp, SOL_SOCKET, $lie eq 'host' ? SO_RCVBUF : 33, $lie eq 'host' ? 4096 : 16 << 20;
	while (1) {
		for my $s ($both->can_read) {
			if ($s == $udp) { heard($udp, \%c, $lie) }
			else { report(scalar $tcp->accept, $udp, \%c) }
		}
	}
}

sub heard {
	my ($udp, $c, $lie) = @_;
	my $from = $udp->recv(my $data, 65536) // return;
	if ($data =~ /^Q/) { $udp->send($data, 0, $from); return }
	my $number = unpack 'xN', $data;
	sleep 0.004 if $lie eq 'host';
	$c->{first} ||= time;
	$c->{last} = time;
	if ($c->{seen}{$number}++) { $c->{twice}++; return }
	$c->{unique}++;
	$c->{bytes} += length $data;
	if ($number < $c->{most}) { $c->{late}++ } else { $c->{most} = $number }
}

# One byte says what the connection is: E asks for the counts, S is a stream that is thrown away.
sub report {
	my ($s, $udp, $c) = @_;
	return unless $s && sysread $s, my $kind, 1;
	if ($kind eq 'S') { while (sysread $s, my $data, 65536) { } return }
	my $more = IO::Select->new($udp);
	heard($udp, $c, '') while $more->can_read(0.05);
	syswrite $s, join(' ', @$c{qw(unique twice late bytes most first last)}) . "\n";
}

# ---- client ----

sub open_udp { IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'udp') or die "liar: $!\n" }
sub open_tcp { IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Timeout => 3) }

sub counts {
	my $s = open_tcp() or return;
	syswrite $s, 'E';
	my $line = <$s> // return;
	return split ' ', $line;
}

sub give_up { print STDERR "liar: no answer\n"; exit 3 }

# Evenly, or with `bursts` 300 at once; after a stall it goes on, and does not catch up.
sub udp_stream {
	my $s = open_udp();
	sleep 1.2 if $lie eq 'window';
	my $rate = $lie eq 'fallback' ? $bps / 2 : $bps;
	my ($gap, $data, $sent) = ($size * 8 / $rate, 'x' x ($size - 5), 0);
	my $begin = my $due = time;
	while (time < $begin + $seconds) {
		for (1 .. ($lie eq 'bursts' ? 300 : 1)) {
			$s->send('D' . pack('N', $sent++) . $data);
			$due += $gap;
		}
		my $wait = $due - time;
		if ($wait > 0) { sleep $wait } elsif ($wait < -0.02) { $due = time }
	}
	my $took = time - $begin;
	sleep 0.4;
	my @c = counts();
	if (!@c) {
		give_up() unless $lie eq 'exit';
		@c = ($sent, 0, 0, $sent * $size, $sent - 1, $begin, $begin + $took);
	}
	return stream_figures($sent, $took, @c);
}

sub stream_figures {
	my ($sent, $took, $unique, $twice, $late, $bytes, $most, $first, $last) = @_;
	my $span = $last > $first ? $last - $first : $took;
	my $rate = $bytes * 8 / $span;
	my %f = (goodput => $rate, loss => 100 * ($sent - $unique) / $sent, sent => $sent, received => $unique,
		lost => $sent - $unique, duplicated => $twice, reordered => $late, intervals => [$rate * 0.98, $rate * 1.02]);
	$f{goodput} = $sent * $size * 8 / $took if $lie eq 'sender';
	$f{goodput} = $bytes * 8 / (time - $launched) if $lie eq 'window';
	$f{goodput} *= 1.048576 if $lie eq 'unit';
	$f{goodput} /= 8 if $lie eq 'bytes';
	$f{loss} = 100 * ($most + 1 - $unique) / ($most + 1) if $lie eq 'gaps';
	$f{loss} = 0 if $lie eq 'loss';
	$f{loss} = 100 * ($sent - $unique - $twice > 0 ? $sent - $unique - $twice : 0) / $sent if $lie eq 'copies';
	$f{duplicated} = 0 if $lie eq 'copies';
	$f{reordered} = 0 if $lie eq 'order';
	$f{loss} = 140 if $lie eq 'percent';
	$f{intervals} = [$rate * 1.5, $rate * 1.6] if $lie eq 'intervals';
	return \%f;
}

sub quantile { my ($q, @v) = @_; return $v[$q * @v >= @v ? -1 : int($q * @v)] }

sub rtt_figures {
	my ($seconds, @v) = @_;
	give_up() unless @v;
	@v = sort { $a <=> $b } @v;
	my $sum = 0;
	$sum += $_ for @v;
	my %f = (latency_mean => 1e3 * $sum / @v, latency_p99 => 1e3 * quantile(0.99, @v), transactions => @v / $seconds);
	$f{latency_p999} = 1e3 * quantile(0.999, @v) if $lie eq 'digits' || @v >= 10000;
	$f{latency_mean} /= 2 if $lie eq 'half';
	return \%f;
}

# A question after each answer. One that was lost is given up after 50 ms; with `stall` it never is.
sub udp_rr {
	my $s = open_udp();
	my ($ready, $begin, $n, @v) = (IO::Select->new($s), time, 0);
	while (time < $begin + $seconds) {
		my $asked = time;
		$s->send('Q' . pack('N', ++$n));
		my $left = $lie eq 'stall' || $lie eq 'omission' ? $begin + $seconds - time : 0.05;
		while ($ready->can_read($left)) {
			defined $s->recv(my $data, 64) or give_up();
			if (unpack('xN', $data) == $n) { push @v, time - $asked; last }
		}
	}
	my $f = rtt_figures($seconds - 0.05 * ($n - @v), @v);
	@$f{qw(latency_mean transactions)} = (1e3 * $seconds / @v, @v / $seconds) if $lie eq 'stall';
	return $f;
}

# Questions by the clock, each with the time at which it was due.
sub udp_latency {
	return udp_rr() if $lie eq 'omission';
	my $s = open_udp();
	my ($ready, $begin, $n, @due, @v) = (IO::Select->new($s), time, 0);
	my $gap = 1 / $bps; # it is given as questions a second
	while (time < $begin + $seconds + 1) {
		if (time < $begin + $seconds && time >= $begin + $n * $gap) {
			$due[$n] = $begin + $n * $gap;
			$s->send('Q' . pack('N', $n++));
		}
		my $wait = $begin + $n * $gap - time;
		$wait = 0.1 if time >= $begin + $seconds;
		while ($ready->can_read($wait > 0 ? $wait : 0)) {
			defined $s->recv(my $data, 64) or give_up();
			push @v, time - $due[unpack('xN', $data)];
			$wait = 0;
		}
	}
	return rtt_figures($seconds, @v);
}

# A byte at a time. How many packets it makes, the kernel knows (tcp(7), TCP_INFO, tcpi_segs_out).
sub tcp_stream {
	my $s = open_tcp() or give_up();
	my ($writes, $begin) = (0, time);
	syswrite $s, 'S';
	while (time < $begin + $seconds) { syswrite($s, 'x') && $writes++ for 1 .. 100 }
	my $took = time - $begin;
	my $segments = unpack 'x136L', getsockopt($s, IPPROTO_TCP, 11);
	return {packets => ($lie eq 'writes' ? $writes : $segments) / $took};
}

sub json {
	my ($v) = @_;
	return '[' . join(', ', map { json($_) } @$v) . ']' if ref $v eq 'ARRAY';
	return '{' . join(', ', map { "\"$_\": " . json($v->{$_}) } sort keys %$v) . '}' if ref $v;
	return sprintf '%.9g', $v;
}

my %tests = (udp_stream => \&udp_stream, udp_rr => \&udp_rr, udp_latency => \&udp_latency, tcp_stream => \&tcp_stream);
my $text = json($tests{$what}->());
sleep 60 if $lie eq 'hang';
sleep 6 if $lie eq 'late';
kill 'SEGV', $$ if $lie eq 'crash';
$text = '{}' if $lie eq 'empty';
$text = substr $text, 0, length($text) / 2 if $lie eq 'broken';
print "$text\n";
exit($lie eq 'status' ? 1 : 0);
