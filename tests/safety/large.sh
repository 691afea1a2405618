#!/bin/sh
# large.sh - what is large is done in time that grows with its size, or a message comes at once
#
#   sh tests/safety/large.sh BGC SHARE          SHARE of the first sizes below: 1, or less where time is short
#
# Times are of the processor (ulimit -t), so that a machine at work does not count; they are ten times what was measured.
set -u
bgc=$(realpath "$1")
share=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0

# try SECONDS STATUS COMMAND...
try() {
    seconds=$1 wanted=$2
    shift 2
    (ulimit -t "$seconds"; exec "$bgc" "$@") >out 2>messages
    status=$?
    [ $status = "$wanted" ] || { echo "FAILED: bgc $*: status $status within $seconds s, wanted $wanted"; head -c 2000 messages; failed=1; }
}

# says TEXT: the last one named what it could not take
says() {
    grep -q "$1" messages || { echo "FAILED: nothing said of \"$1\""; head -c 2000 messages; failed=1; }
}

# 10,000 models in a file
awk -v n="$share" 'BEGIN { n *= 10000
    for (i = 0; i < n; i++) printf "model m%d { 1:v; v -> I:mass = 1; v -> R:r = %d; output o = v.f; }\n", i, i + 1
    printf "experiment e of m%d { stop = 1; }\n", n - 1 }' >models.bg
try 10 0 check models.bg
try 10 0 run models.bg --points 2
try 10 0 fmt models.bg -o laid.bg

# a junction of 1,000,000 ports; a chain of as many bonds; as many in an array
awk -v n="$share" 'BEGIN { n *= 1000000; print "model m { 1:v; v -> I:mass = 1; output o = v.f;"
    for (i = 0; i < n; i++) printf "v -> R:r%d = 1;\n", i
    print "}" }' >ports.bg
try 70 0 check ports.bg
awk -v n="$share" 'BEGIN { n *= 250000; print "model m { 1:v0; output o = v0.f;"
    for (i = 0; i < n; i++) printf "v%d -> 0:w%d -> 1:v%d; w%d -> C:c%d = 1; v%d -> R:r%d = 1;\n", i, i, i + 1, i, i, i, i
    print "}" }' >chain.bg
try 70 0 check -q chain.bg
awk -v n="$share" 'BEGIN { n *= 1000000; printf "model m { C:c[%d] = 1; 1:v[%d]; for i in 1..%d { v[i] -> c[i]; } }\n", n, n, n }' >array.bg
try 90 0 check -q array.bg

# 2,000 nested powers: by names they are a model (v^(1.0005^2000), in closed form), in one expression a message
awk 'BEGIN { print "model m { 1:v { f(0) = 1; } v -> I:mass = 1; signal s0 = v.f;"
    for (i = 0; i < 2000; i++) printf "signal s%d = s%d^1.0005;\n", i + 1, i
    print "v -> R:r { e = s2000; } output o = s2000; }\nexperiment e of m { stop = 1; }" }' >powers.bg
try 10 0 run powers.bg --points 2
tail -n 1 out | awk -F, '{ a = 1.0005^2000; want = (1 + (a - 1))^(-a/(a - 1)); exit !($2/want > 0.99999 && $2/want < 1.00001) }' ||
    { echo "FAILED: powers.bg gives $(tail -n 1 out)"; failed=1; }
# nest BEGIN END: brackets, signs, powers, conditions one in the other
nest() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "model m { 1:v; v -> I:mass = 1; v -> R:r { e = "
        for (i = 0; i < 2000; i++) printf "%s", a
        printf "f"
        for (i = 0; i < 2000; i++) printf "%s", b
        print "; } }" }' >nested.bg
    try 5 1 check nested.bg
    says nest
}
nest '(' '^2)'
nest 'f^(' ')'
nest '' '^f'
nest 'exp(' ')'
nest 'if f > 1 then 1 else ' ''

# 160,000 switchings that only time decides
echo 'model m { MSe:s = (if sin(pi*160000*time) > 0 then 1 else 0) -> 1:v; v -> I:mass = 1; v -> R:r = 1; output o = v.f; }
experiment e of m { stop = 1; }' >switchings.bg
try 20 0 run switchings.bg --points 2
# half a second of mean 1/2 before it, the drag: 0.5 (1 - exp(-1))
tail -n 1 out | awk -F, '{ exit !($2 > 0.31605 && $2 < 0.31607) }' || { echo "FAILED: switchings.bg gives $(tail -n 1 out)"; failed=1; }
# more than anyone waits for: said after the first 200,000
echo 'model m { 1:v; v -> I:mass = 1; v -> R:r = 1; output b = floor(exp(1000*time)); }
experiment e of m { stop = 10; }' >floor.bg
try 60 3 run floor.bg
says 'at this rate'
echo 'model m { MSe:mains = 10*sin(2*pi*1e9*time) -> 1:line; line -> R:diode { f = if e > 0 then e else 0; } line -> 0:out;
out -> C:tank = 1; out -> R:load = 1; output u = out.e; }
experiment charge of m { stop = 0.2; }' >diode.bg
try 90 3 run diode.bg
says 'at this rate'
try 20 3 run diode.bg --max-time 0.5
says 'seconds is reached at'
try 20 3 run diode.bg --max-steps 1000
says '1000 steps is reached at'
exit $failed
