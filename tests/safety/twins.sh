#!/bin/sh
# twins.sh - what was found once, in other words: another command, another name of the file, another quoting, another order; and what people
# complained of in other programs
#
#   sh tests/safety/twins.sh BGC
set -u
bgc=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0

# try STATUS-OR-STATUS ARGUMENTS...: and nothing that a model would create, no crash, no hang
try() {
    want=$1
    shift
    timeout 60 "$bgc" "$@" >out 2>err
    status=$?
    case "|$want|" in *"|$status|"*) ;; *) echo "FAILED: bgc $*: status $status, not $want"; head -n 5 err; failed=1 ;; esac
    for made in created_*; do [ ! -e "$made" ] || { echo "FAILED: bgc $*: $made"; failed=1; rm -f "$made"; }; done
}
# stays FILE: it is what FILE.was is
stays() { cmp -s "$1" "$1.was" || { echo "FAILED: $1 has changed"; failed=1; cp "$1.was" "$1"; }; }
says() { grep -q "$1" err out || { echo "FAILED: it does not say \"$1\":"; cat err; failed=1; }; }

# ---- results over what is read
printf 'time,o\n0,0\n0.5,0.3\n1,0.8\n' >d.csv
printf 'time,u\n0,0\n1,1\n' >in.csv
cat >m.bg <<'END'
model m { parameter k = 1; input u = 0; MSe:s = u -> 1:v; v -> I:mass = k; v -> R:small = 1e-9; output o = v.f; }
experiment e of m { stop = 1; observe o within 0.1; expect o from "d.csv" within 2; }
END
printf 'version: "0.1"\nmodels:\n  /:\n    components:\n      C: base:C?C=1\n      R: base:R?r=1\n    netlist:\n      - [C, R]\nroot: /\n' >y.yaml
for f in d.csv in.csv m.bg y.yaml; do cp $f $f.was; ln -s $f soft_$f; ln $f hard_$f; done
for to in in.csv soft_in.csv hard_in.csv; do
    for from in in.csv soft_in.csv hard_in.csv; do try '2|4' run m.bg --input u=$from -o $to; stays in.csv; done
done
for to in d.csv soft_d.csv hard_d.csv; do
    try '2|4' identify m.bg --data d.csv --parameters k -o $to
    try '2|4' test m.bg -o $to
    stays d.csv
done
for to in y.yaml soft_y.yaml hard_y.yaml; do try '2|4' import y.yaml -o $to; try '2|4' import soft_y.yaml -o $to; stays y.yaml; done
try '2|4' diff m.bg m.bg.was -o m.bg; stays m.bg
try '2|4' identify m.bg --data d.csv --weight in.csv --parameters k -o in.csv; stays in.csv
try '2|4' run m.bg -o x.svg --plot x.svg
try '2|4' run m.bg -o ''
try '2|4' run m.bg -o .
try 0 run m.bg -o /dev/null
[ -c /dev/null ] || { echo "FAILED: /dev/null is gone"; failed=1; }
cp m.bg r.bg
chmod 444 r.bg
try '2|4' identify r.bg --data d.csv --parameters k --in-place
cmp -s r.bg m.bg || { echo "FAILED: a read-only file was fitted"; failed=1; }
printf '\n\n' >>r2.bg
cat m.bg >>r2.bg
ln -s r2.bg r3.bg
ln r2.bg r4.bg
try 0 fmt --in-place r2.bg r3.bg r4.bg
{ [ -L r3.bg ] && [ r2.bg -ef r4.bg ]; } || { echo "FAILED: a link was broken"; failed=1; }
printf 'v -> R:r = 1;\n' >bare.bg           # falco 649: a text that cannot be formatted was emptied
cp bare.bg bare.bg.was
try 1 fmt --in-place bare.bg
stays bare.bg

# ---- what is read: pipes, devices, folders, and what lies outside
mkfifo pipe
mkdir folder
ln -s /dev/zero zero.csv
for table in zero.csv folder pipe /etc/passwd ../../etc/passwd; do
    printf 'model a { MSe:s = table("%s", 2, time) -> 1:v; v -> I:m = 1; output o = v.f; } experiment e of a { stop = 1; }\n' $table >t.bg
    try 1 run t.bg
    printf 'import "%s";\nmodel a { 1:v -> I:i = 1; }\n' $table >t.bg
    try 1 check t.bg
done
mkdir proj proj-evil                        # one name begins with the other
echo 'model part { port 0:p; p -> R:r = 1; }' >proj-evil/x.bg
printf 'import "../proj-evil/x.bg";\nmodel a { 1:v -> I:i = 1; }\n' >proj/m.bg
for name in proj/m.bg ./proj/../proj/m.bg; do try 1 check $name; says 'lies outside'; done
try 0 check proj/m.bg --allow-read proj-evil
ln -s ../proj-evil proj/sub
printf 'import "sub/x.bg";\nmodel a { 1:v -> I:i = 1; }\n' >proj/m.bg
try 1 check proj/m.bg
says 'leads outside\|lies outside'

# ---- text that others interpret
cat >g.bg <<'END'
model m "`touch created_1` <lambda> <map>" { 1:v { f(0) = 1; } v -> I:mass = 1; v -> R:r = 1; output o = v.f "  =1+1 `touch created_2`"; output p = v.f "$(touch created_3)"; }
experiment e of m { stop = 1; }
END
try 0 run g.bg --plot p.svg
grep -q '&lt;lambda>' p.svg || { echo "FAILED: the title of p.svg"; failed=1; }
try 0 graph g.bg -o g.svg
try 0 linearize g.bg --poles l.svg

# ---- expansions (YAML aliases, components, functions, values) and depth
{ printf 'version: "0.1"\na: &a [lol,lol,lol,lol,lol,lol,lol,lol]\n'; for p in ab bc cd de ef fg gh hi; do printf '%s: &%s [*%s,*%s,*%s,*%s,*%s,*%s]\n' ${p#?} ${p#?} ${p%?} ${p%?} ${p%?} ${p%?} ${p%?} ${p%?}; done; printf 'models: *i\nroot: /\n'; } >laugh.yaml
try 1 import laugh.yaml
printf 'version: "0.1"\na: &a [*a]\nmodels: *a\nroot: /\n' >laugh.yaml
try 1 import laugh.yaml
awk 'BEGIN { for (i = 0; i < 60; i++) printf "function f%d(x) = f%d(x) + f%d(x);\n", i, i + 1, i + 1; print "function f60(x) = x;\nmodel m { parameter p = f0(1); 1:v -> I:i = p; v -> R:r { e = f0(f); } }" }' >deep.bg
try '0|1' check deep.bg
awk 'BEGIN { printf "model m { signal p0 = v.f; "; for (i = 0; i < 3000; i++) printf "signal p%d = p%d*p%d; ", i + 1, i, i; print "1:v -> I:i = 1; v -> R:r = 1; output o = p3000; } experiment e of m { stop = 1; }" }' >deep.bg
try 0 run deep.bg --points 3
try 0 linearize deep.bg
for nest in 'if 1 > 0 { ' 'for i in 1..2 { '; do
    awk -v n="$nest" 'BEGIN { printf "model a { "; for (i = 0; i < 20000; i++) printf "%s", n; print "1:v;" }' >deep.bg
    try 1 check deep.bg
done
for nest in 'if b > 1 then 1 else ' 'b[' '-(' 'not '; do
    awk -v n="$nest" 'BEGIN { printf "model a { parameter b[3] = 1; parameter c = "; for (i = 0; i < 20000; i++) printf "%s", n; print "1; }" }' >deep.bg
    try 1 check deep.bg
done

# ---- numbers
value() { printf 'model m { parameter k = 1; 1:v { f(0) = k; } v -> I:mass = 1; v -> R:r = 1; output o = %s; }\nexperiment e of m { stop = 2; observe o within 0.1; }\n' "$1" >v.bg; }
for x in 'ln(v.f - 0.5)' 'asin(2*v.f)' 'v.f/(v.f - v.f)' 'exp(1000*v.f) - exp(1000*v.f)' 'sqrt(v.f - 0.5)' '(v.f - 0.5)^0.5' '1/time' 'sqrt(1.9 - time)'; do
    value "$x"
    try 3 run v.bg
    try 3 run v.bg --json --points 11
    if grep -iq 'nan\|inf[,}]' out; then echo "FAILED: JSON of $x"; failed=1; fi
    try 3 run v.bg --plot p.svg
    if grep -q 'gnuplot' err; then echo "FAILED: the picture of $x"; cat err; failed=1; fi
done
value 'ln(v.f - 0.5)'
try 3 sensitivity v.bg
try 3 reduce v.bg --within 10% --dry-run
for solver in auto bdf explicit; do
    printf 'model m { 1:v { f(0) = 1; } v -> I:mass = 1; Se:s = v.f^2 -> v; output o = v.f; } experiment e of m { stop = 2; }\n' >b.bg
    try 3 run b.bg --solver $solver --points 2
    try 3 rank b.bg --solver $solver
    printf 'model m { 0:c -> C:tank = 1 { q(0) = 0.1; } c -> R:r { f = 1 + e^0.5; } output o = c.e; } experiment e of m { stop = 10; }\n' >b.bg
    try 3 run b.bg --solver $solver --points 2
done
for cell in inf -inf 1e999 '"=1"' '1;2'; do
    printf 'time,o\n0,1\n0.5,%s\n1,0.3\n' "$cell" >x.csv
    try 2 identify v.bg --data x.csv --parameters k --dry-run
done
# two that slide along each other (OpenModelica 12190); a ship that fills up to a leak (12621): h = 5 + (0.1/3)^2
printf 'model m { Sf:sx = if cx.q > cy.q then -2 else 2 -> 0:x -> C:cx = 1 { q(0) = 1.5; } Sf:sy = if cy.q > cx.q then -3 else 1.5 -> 0:y -> C:cy = 1 { q(0) = 1; } output a = x.e; } experiment e of m { stop = 1; }\n' >b.bg
try 3 run b.bg
printf 'model m { 0:h -> C:tank = 1 { q(0) = 4.9; } Sf:leak = if h.e > 5 then -3*sign(h.e - 5)*sqrt(abs(h.e - 5)) else 0 -> h; Sf:fill = 0.1 -> h; output a = h.e; } experiment e of m { stop = 200; }\n' >b.bg
try 0 run b.bg --points 3
says '^200,5.00111111'

# ---- files with parts only
for text in 'function f(x) = x;' 'domain d { effort e [V]; flow f [A]; }' 'constant c = 1;' '' 'experiment e of m { stop = 1; }' 'model m { }' 'model m { port 0:p; }' 'model m { for i in 1..3 { } }'; do
    printf '%s\n' "$text" >only.bg
    for command in check run rank 'reduce --threshold 90% --dry-run' graph linearize fmt doc test sensitivity partition; do
        # shellcheck disable=SC2086
        try '0|1|2|3' $command only.bg
    done
done
for size in 0 -1 1e9 2.5 1e300 n 1/0 '[1,2]'; do
    printf 'model m { parameter n; C:f { port x[%s]; e = 1; } 1:v -> f.x[1]; output o = v.f; }\n' "$size" >s.bg
    try 1 check s.bg
    printf 'model m { port 0:p[%s]; p[1] -> R:r = 1; 1:v[%s] -> I:i[%s] = 1; }\n' "$size" "$size" "$size" >s.bg
    try 1 check s.bg
done
exit $failed
