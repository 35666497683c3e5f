#!/bin/bash
# SPDX-FileCopyrightText: Sporades contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A real sparse tensor with a name on every index, from the package index of this machine's apt:
#   (package x name it relates to x kind of relation)
#
#   package_tensor.sh OUT_DIR            OUT_DIR/packages.tns
#   package_tensor.sh OUT_DIR --small    OUT_DIR/packages-small.tns.gz, a part that shows the same
#
# and OUT_DIR/labels/mode-{0,1,2}.txt, whose line i is the name of index i (from 1, as in .tns).
#
# Definition: each name in a package's fields Depends, Pre-Depends, Recommends, Suggests, Enhances,
# Conflicts, Breaks, Replaces and Provides is a nonzero of value 1.
#   - Every alternative of "a | b" counts.
#   - Versions "(>= 1)" and architectures ":any" are dropped, and names that are then equal count once.
#   - A package without relations has no row. A name that no package has (a virtual package, or one of
#     an earlier release) has a column.
# Debian 12 gives 59621 x 87388 x 9 with 411327 nonzeros.
#
# Indices are numbered in alphabetical order (of bytes), and lines are sorted by index, so that the same
# package index gives the same files. Needs only what every Debian has: bash, apt, perl-base, gzip.
set -euo pipefail
export LC_ALL=C

# --small takes only packages of these sections of the archive, and of their nonzeros only those whose
# two names have at least three each: rarer names make files larger and show in no component.
small_sections='perl gnu-r python rust kde javascript'

fail() { # status, sentence
  echo "package_tensor.sh: $2" >&2
  exit "$1"
}

usage='expected package_tensor.sh OUT_DIR [--small]'
(($# == 1 || $# == 2)) && [[ -n $1 && $1 != -* && ${2:---small} == --small ]] || fail 2 "$usage"
out=$1
sections= tensor=packages.tns other=packages-small.tns.gz
if (($# == 2)); then
  sections=$small_sections tensor=packages-small.tns.gz other=packages.tns
fi
[[ ! -e $out/$other ]] || fail 2 "$out holds $other, which has other labels: choose another folder."
command -v apt-cache > /dev/null ||
  fail 1 'this machine has no apt; take tests/data/packages-small.tns.gz, made on one that has it.'

mkdir -p "$out"
scratch=$(mktemp -d "$out/.package_tensor.XXXXXX") # beside the results, so that mv only renames
trap 'rm -rf "$scratch"' EXIT

# dumpavail prints each package in the version that apt would install. Without downloaded lists these
# are only the installed packages, which have no Filename. Then the lists themselves are read. (If they
# hold two versions of a package, such as a security update, it gets the relations of both.)
index=$scratch/index
apt-cache dumpavail > "$index" || : > "$index"
if ! grep -q '^Filename:' "$index"; then
  lists=/var/lib/apt/lists/
  eval "$(apt-config shell lists Dir::State::lists/d)"
  for list in "$lists"*_Packages "$lists"*_Packages.{lz4,zst,xz,bz2,gz}; do
    [[ -s $list ]] || continue
    /usr/lib/apt/apt-helper cat-file "$list" # decompresses
    echo
  done > "$index"
fi
grep -q '^Filename:' "$index" ||
  fail 1 "this machine's package index is empty: run 'apt-get update' as root, then this again."

perl -s - -sections="$sections" -scratch="$scratch" "$index" <<'PERL' || exit 1
use strict;
use warnings;
our ($sections, $scratch);
my %section_is_taken = map { $_ => 1 } split ' ', $sections;
my $kinds = qr/Pre-Depends|Depends|Recommends|Suggests|Enhances|Conflicts|Breaks|Replaces|Provides/;

# A nonzero is the string "package relative kind". The space is below every character of a name,
# so these strings sort as their triples of indices do.
my %nonzeros;
$/ = '';    # read paragraphs: one a package
while (my $paragraph = <>) {
  $paragraph =~ s/\n[ \t]+/ /g;    # unfold long fields
  my ($package) = $paragraph =~ /^Package: (\S+)/m or next;
  my ($section) = $paragraph =~ m{^Section: (?:\S+/)?(\S+)}m;    # contrib/perl is perl
  next if %section_is_taken && !$section_is_taken{$section // ''};
  while ($paragraph =~ /^($kinds): (.*)/mg) {
    my ($kind, $relatives) = ($1, $2);
    for (split /[,|]/, $relatives) {
      $nonzeros{"$package $1 $kind"} = 1 if /^\s*([^\s:(]+)/;
    }
  }
}
my @nonzeros = sort keys %nonzeros;

sub count_names {    # by mode: name => number of nonzeros
  my @counts = ({}, {}, {});
  for my $nonzero (@_) {
    my @names = split ' ', $nonzero;
    ++$counts[$_]{$names[$_]} for 0 .. 2;
  }
  return @counts;
}
if (%section_is_taken) {
  my @counts = count_names(@nonzeros);
  @nonzeros = grep { my @n = split; $counts[0]{$n[0]} >= 3 && $counts[1]{$n[1]} >= 3 } @nonzeros;
}
@nonzeros or die "package_tensor.sh: no package of the index has the relations looked for.\n";

sub write_lines {
  my ($name, @lines) = @_;
  my $path = "$scratch/$name";
  open my $file, '>', $path or die "package_tensor.sh: $path: $!\n";
  print $file map { "$_\n" } @lines;
  close $file or die "package_tensor.sh: $path: $!\n";    # fails if a print has failed
}
my @number = count_names(@nonzeros);    # its values become indices
for my $mode (0 .. 2) {
  my @names = sort keys %{$number[$mode]};
  @{$number[$mode]}{@names} = 1 .. @names;
  write_lines("mode-$mode.txt", @names);
}
sub line_of {    # "i j k 1"
  my @names = split ' ', shift;
  return join ' ', (map { $number[$_]{$names[$_]} } 0 .. 2), 1;
}
write_lines('tensor', map { line_of($_) } @nonzeros);
printf "%s, %d nonzeros\n", join(' x ', map { scalar keys %$_ } @number), scalar @nonzeros;
PERL

if [[ $tensor == *.gz ]]; then
  gzip -9n "$scratch/tensor" # n: without the time, so that the bytes are the same
  mv "$scratch/tensor.gz" "$scratch/tensor"
fi
rm -f "$out/$tensor" # removed first and written last, so that a tensor never has the labels of another
mkdir -p "$out/labels"
mv -f "$scratch"/mode-{0,1,2}.txt "$out/labels/"
mv -f "$scratch/tensor" "$out/$tensor"
echo "$out/$tensor"
