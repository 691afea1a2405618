#!/bin/sh
# read_stays.sh - no command writes over a file that the model reads: the model itself, an import, a table, by any name or link
#
#   sh tests/safety/read_stays.sh BGC
set -u
bgc=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0
mkdir sub
printf 'time,force,o\n0,0,0\n0.5,1,0.3\n1,2,0.8\n' >t.csv
echo 'model part { port 0:p; p -> R:r = 1; }' >part.bg
cat >m.bg <<'END'
import "part.bg";
model m { parameter k = 1; MSe:s = table("t.csv", "force", time) -> 1:v; v -> I:mass = k; v -> R:small = 1e-9; part:x; v -> x.p; output o = v.f; }
experiment e of m { stop = 1; observe o within 0.1; }
END
for f in t.csv part.bg m.bg; do
    ln -s "$f" "soft_$f"
    ln "$f" "hard_$f"
done
find . -type f | sort | xargs cat >"$dir.before"

# try FILE COMMAND...
try() {
    target=$1
    shift
    "$bgc" "$@" >out 2>messages
    status=$?
    rm -f out
    case $status in 2|4) grep -q ' reads\|the input' messages ;; *) false ;; esac || { echo "FAILED: bgc $*: status $status"; cat messages; failed=1; }
    rm -f messages
    find . -type f | sort | xargs cat | cmp -s - "$dir.before" || { echo "FAILED: bgc $*: $target or another file has changed"; failed=1; }
}

for f in t.csv part.bg m.bg; do
    for name in "$f" "./$f" "sub/../$f" "soft_$f" "hard_$f" "$dir/$f"; do
        try "$name" run m.bg -o "$name"
        try "$name" run m.bg --json -o "$name"
        try "$name" reduce m.bg --threshold 99% -o "$name"
        try "$name" rank m.bg -o "$name"
        try "$name" linearize m.bg -o "$name"
        try "$name" sensitivity m.bg -o "$name"
        try "$name" identify m.bg --data t.csv --parameters k -o "$name"
        try "$name" check --dump ir m.bg -o "$name"
    done
    try "$f" reduce m.bg --within 1% -o "$f"
done
# standard output may lead there too
"$bgc" fmt m.bg >>m.bg 2>/dev/null && { echo "FAILED: bgc fmt m.bg >>m.bg"; failed=1; }
find . -type f | sort | xargs cat | cmp -s - "$dir.before" || { echo "FAILED: >>m.bg changed it"; failed=1; }
# pictures by a name that a picture has
for form in svg png pdf; do
    cp t.csv "t.$form"
    sed "s/t.csv/t.$form/" m.bg >"with_$form.bg"
    cp "t.$form" before
    "$bgc" run "with_$form.bg" --plot "t.$form" >/dev/null 2>messages
    [ $? != 0 ] && cmp -s before "t.$form" || { echo "FAILED: a table by the name of a picture, .$form"; cat messages; failed=1; }
    "$bgc" graph "with_$form.bg" -o "t.$form" >/dev/null 2>messages
    [ $? != 0 ] && cmp -s before "t.$form" || { echo "FAILED: a table by the name of a drawing, .$form"; cat messages; failed=1; }
done
rm -f "$dir.before"
exit $failed
