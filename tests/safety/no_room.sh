#!/bin/sh
# no_room.sh - results that do not fit: exit status 4, the file that was there is there as it was, nothing stays behind
#
#   sh tests/safety/no_room.sh BGC MODEL
#
# Twice: with a limit of 1 KiB a file, and on a disk that is full to the last byte (one in memory, where the system lets a user mount it: `no_room.sh BGC
# MODEL DIR` fills up DIR). gnuplot and dot write into pipes, which neither touches.
set -u
bgc=$(realpath "$1")
model=$(realpath "$2")
disk=${3:-}
failed=0
if [ -z "$disk" ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    if unshare -rm sh -c "mount -t tmpfs -o size=1M none '$dir'" 2>/dev/null; then
        unshare -rm sh -c "mount -t tmpfs -o size=1M none '$dir' && sh '$(realpath "$0")' '$bgc' '$model' '$dir'" || failed=1
    else
        echo "no disk in memory for this user: only the limit is tried"
    fi
else
    dir=$disk
fi
cd "$dir" || exit 2
cp "$model" m.bg
printf '\n\n\n' >>m.bg                  # something to format
cp m.bg linked.bg
ln linked.bg other.bg

try() {
    result=$1
    shift
    [ -e "$result" ] || echo "what stood here" >"$result"
    cp "$result" "$dir.before"
    [ -z "$disk" ] || cat /dev/zero >filler 2>/dev/null
    before=$(ls)
    if [ -n "$disk" ]; then "$bgc" "$@" >/dev/null 2>"$dir.messages"; else (ulimit -f 2; exec "$bgc" "$@") >/dev/null 2>"$dir.messages"; fi
    status=$?
    [ $status = 4 ] || { echo "FAILED: bgc $*: status $status"; cat "$dir.messages"; failed=1; }
    cmp -s "$result" "$dir.before" || { echo "FAILED: bgc $*: $result has changed"; failed=1; }
    [ "$before" = "$(ls)" ] || { echo "FAILED: bgc $*: there are other files:" *; failed=1; }
    rm -f "$dir.before" "$dir.messages" filler
}

try p.svg run m.bg -e smooth_curb --plot p.svg
try p.png run m.bg -e smooth_curb --plot p.png
try t.csv run m.bg -e smooth_curb -o t.csv --points 501
try t.json run m.bg -e smooth_curb -o t.json --json
try g.svg graph m.bg -o g.svg
try g.dot graph m.bg -o g.dot
try r.bg reduce m.bg -e smooth_curb --threshold 99% -o r.bg
try m.bg reduce m.bg -e smooth_curb --threshold 99% --in-place
try m.bg fmt --in-place m.bg
# what has two names is written into; with fewer bytes than before it has room on a full disk
[ -n "$disk" ] || try linked.bg fmt --in-place linked.bg
try b.svg linearize m.bg -e smooth_curb --bode b.svg
try l.npz linearize m.bg -e smooth_curb --export l.npz
try l.tex linearize m.bg -e smooth_curb --latex -o l.tex
try k.json rank m.bg -e smooth_curb --json -o k.json
try i.ll check m.bg --dump ir -o i.ll
[ -z "$disk" ] || exit $failed

for command in "check m.bg" "run m.bg -e smooth_curb" "run m.bg -e smooth_curb --json" "rank m.bg -e smooth_curb" "graph m.bg" "fmt m.bg" "-h" "run -h" "--version"; do
    # shellcheck disable=SC2086
    "$bgc" $command >/dev/full 2>/dev/null
    status=$?
    [ $status = 4 ] || { echo "FAILED: bgc $command >/dev/full: status $status"; failed=1; }
done
exit $failed
