#!/bin/sh
# run.sh - builds the fuzzers (clang) and runs them in turn; prints executions and coverage
#
#   sh tests/fuzz/run.sh SECONDS [HARNESS...]     so long for each; all of them where none is named
#   BUILD=/tmp/f sh tests/fuzz/run.sh 900         two hours
#
# Inputs that found something new are kept in BUILD/corpus from run to run. Exit status 1: an input that crashes, leaks or hangs is in BUILD/found.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build-fuzz}
seconds=${1:-60}
[ $# -gt 0 ] && shift
harnesses=${*:-parse front edit run reduce yaml table options}
jobs=$(nproc 2>/dev/null || echo 2)
export OPENBLAS_NUM_THREADS=1

mkdir -p "$build/found"
cmake -S "$root" -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DBGC_SANITIZE=ON -DBGC_FUZZ=ON \
    -DBGC_TESTS=OFF -DBGC_WERROR=OFF >"$build/build.log" 2>&1 || { cat "$build/build.log"; exit 2; }
targets=
for h in $harnesses; do targets="$targets fuzz_$h"; done
# shellcheck disable=SC2086
cmake --build "$build" -j "$jobs" --target $targets >>"$build/build.log" 2>&1 || { tail -n 40 "$build/build.log"; exit 2; }

status=0
for h in $harnesses; do
    corpus=$build/corpus/$h
    mkdir -p "$corpus"
    longest=16384
    case $h in
        parse|front|edit|run) seeds="$root/tests/fuzz/corpus/model $root/tests/run $root/tests/messages $root/tests/models $root/examples $root/stdlib" ;;
        reduce) seeds="$root/tests/fuzz/corpus/model $root/tests/run"; longest=4096 ;;
        yaml) seeds="$root/tests/fuzz/corpus/yaml $root/tests/import" ;;
        options) seeds="$root/tests/fuzz/corpus/options"; longest=400 ;;
        *) seeds="$root/tests/fuzz/corpus/$h" ;;
    esac
    # a smoke has no time to read every model of the tests
    [ "$seconds" -ge 60 ] || seeds=${seeds%% *}
    log=$build/$h.log
    # shellcheck disable=SC2086
    "$build/tests/fuzz/fuzz_$h" -dict="$root/tests/fuzz/bg.dict" -max_len=$longest -timeout=60 -rss_limit_mb=3000 -max_total_time="$seconds" \
        -print_final_stats=1 -artifact_prefix="$build/found/$h-" "$corpus" $seeds >"$log" 2>&1 || { status=1; tail -n 60 "$log"; }
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    all=$(sed -n 's/^INFO: Loaded 1 modules *(\([0-9]*\) inline.*/\1/p' "$log")
    echo "fuzz $h: ${runs:-?} executions, ${edges:-?} of ${all:-?} edges"
done
exit $status
