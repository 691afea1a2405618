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
        try "$name" linearize m.bg --latex -o "$name"
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
    "$bgc" linearize "with_$form.bg" --bode "t.$form" >/dev/null 2>messages
    [ $? != 0 ] && cmp -s before "t.$form" || { echo "FAILED: a table by the name of a frequency response, .$form"; cat messages; failed=1; }
    "$bgc" graph "with_$form.bg" -o "t.$form" >/dev/null 2>messages
    [ $? != 0 ] && cmp -s before "t.$form" || { echo "FAILED: a table by the name of a drawing, .$form"; cat messages; failed=1; }
done
cp t.csv before
for form in t.csv ./soft_t.csv hard_t.csv; do
    "$bgc" linearize m.bg --export "$form" >/dev/null 2>messages
    [ $? != 0 ] && cmp -s before t.csv || { echo "FAILED: linearize --export $form"; cat messages; failed=1; }
done
# what another experiment, another model or an import names, though this run does not read it
cp t.csv other.csv
cp t.csv wanted.csv
cp t.csv far.csv
cat >named.bg <<'END'
import "names.bg";
model m { parameter k = 1; MSe:s = 1 -> 1:v; v -> I:mass = k; v -> R:small = 1e-9; output o = v.f; }
model n { MSe:s = table("other.csv", 2, time) -> 1:v; v -> I:mass = 1; output o = v.f; }
experiment e of m { stop = 1; }
experiment f of m { stop = 1; expect o from "wanted.csv" within 1; }
END
echo 'model far { port 0:p; Se:s = table("far.csv", 2, time) -> 1:v; v -> I:mass = 1; v -> p; }' >names.bg
ln -s wanted.csv soft.csv
for name in other.csv wanted.csv far.csv soft.csv; do
    for command in "run named.bg -e e" "rank named.bg -e e" "linearize named.bg -e e --latex" "reduce named.bg -e e --threshold 99%" "check named.bg --dump ir"; do
        # shellcheck disable=SC2086
        "$bgc" $command -o $name >/dev/null 2>messages
        [ $? != 0 ] && cmp -s before $name || { echo "FAILED: bgc $command -o $name"; cat messages; failed=1; cp before $name; }
    done
done
"$bgc" fmt named.bg -o wanted.csv >/dev/null 2>messages
[ $? != 0 ] && cmp -s before wanted.csv || { echo "FAILED: bgc fmt named.bg -o wanted.csv"; failed=1; }
rm -f "$dir.before"
exit $failed
