#!/bin/sh
# long_lists.sh - lists of many thousand entries in a text are read whole, and mistakes in them are named: the parser gives the memory of long lists back
#
#   sh tests/safety/long_lists.sh BGC
set -u
bgc=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0

# try STATUS TEXT FILE: checked, it ends so and says so
try() {
    "$bgc" check "$3" >out 2>&1
    status=$?
    [ $status = "$1" ] && grep -q "$2" out || { echo "FAILED: bgc check $3: status $status"; head -c 2000 out; failed=1; }
}

# junctions in a row; the same with a resistor as the last of them
row() {
    awk -v end="$1" 'BEGIN { n = 20000; printf "model m { "
        for (i = 0; i < n; i++) printf "%s0:j%d", i ? ", " : "", i
        printf "%s Se:s = 1 -> j0; ", end
        for (i = 1; i < n; i++) printf "j0 -> j%d;\n", i
        print "}" }'
}
row ';' >row.bg
try 0 '20000 bonds' row.bg
row ', R:last;' >last.bg
try 1 'a statement ends with `;`' last.bg

# sizes of a port
awk 'BEGIN { printf "model m { R:r { port p[1"
    for (i = 0; i < 20000; i++) printf ", 1"
    print "]; p.e = p.f; } Se:s = 1 -> r.p; }" }' >sizes.bg
try 1 'a port has one size' sizes.bg
exit $failed
