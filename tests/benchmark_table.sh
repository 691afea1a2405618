#!/bin/sh
# benchmark_table.sh SCRIPT BGC - the table of examples/benchmarks.sh has the numbers that are published for balanced truncation to order 10
set -eu
table=$(sh "$1" "$2" quick)
printf '%s\n' "$table"
expect() {
    printf '%s\n' "$table" | grep -q "$1" || { echo "there is no line \"$1\""; exit 1; }
}
expect '^damped chain  *0\.22922[56].*balanced truncation  *10  *8\.165[0-9]e-04'
expect '^chain, two forces  *0\.46825[12].*balanced truncation  *10  *2\.982[0-9]e-03'
expect '^RCL ladder  *10\.4  *balanced truncation  *10  *1\.232[0-9]e-04'
[ "$(printf '%s\n' "$table" | grep -c 'most active elements  *[12]0 .*yes$')" -eq 6 ] || { echo "six reductions that keep elements, all passive, are missing"; exit 1; }
