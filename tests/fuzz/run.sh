#!/bin/sh
# run.sh - builds the fuzzers (clang) and runs them in turn; prints executions and coverage
#
#   sh tests/fuzz/run.sh SECONDS [HARNESS...]     so long for each; all of them where none is named
#   BUILD=/tmp/f sh tests/fuzz/run.sh 900         two hours
#   sh tests/fuzz/run.sh 0 [HARNESS...]           only what share of lines the corpus reaches: grammar, compiler, rewriter
#
# Inputs that found something new are kept in BUILD/corpus from run to run. A minute or more each also prints the lines reached, by a second build
# (but not with SLICE=1: a part of a longer run, by the fuzzers that are there). BUILD/slices gets a line for each harness that ran.
# Less than a minute each is a smoke: built without optimising, always the same mutations, as many harnesses at once as there are processors.
# Exit status 1: an input that crashes, leaks or hangs is in BUILD/found.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build-fuzz}
seconds=${1:-60}
[ $# -gt 0 ] && shift
harnesses=${*:-parse front edit run reduce linear yaml table options}
jobs=$(nproc 2>/dev/null || echo 2)
export OPENBLAS_NUM_THREADS=1
mkdir -p "$build/found"

# build FOLDER TARGETS OPTIONS...
build() {
    folder=$1 targets=$2
    shift 2
    mkdir -p "$folder"
    [ -e "$folder/CMakeCache.txt" ] || ! command -v ninja >/dev/null || set -- "$@" -G Ninja
    # nine large programs are linked
    ! command -v ld.gold >/dev/null || set -- "$@" -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold
    cmake -S "$root" -B "$folder" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DBGC_WERROR=OFF "$@" >"$folder/build.log" 2>&1 ||
        { cat "$folder/build.log"; exit 2; }
    # shellcheck disable=SC2086
    cmake --build "$folder" -j "$jobs" --target $targets >>"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log"; exit 2; }
}

# targets PREFIX: of the harnesses
targets() {
    for h in $harnesses; do printf '%s_%s ' "$1" "$h"; done
}

# seeds HARNESS
seeds() {
    case $1 in
        parse|front|edit|run|linear) echo "$root/tests/fuzz/corpus/model $root/tests/run $root/tests/messages $root/tests/models $root/examples $root/stdlib" ;;
        reduce) echo "$root/tests/fuzz/corpus/model $root/tests/run" ;;
        yaml) echo "$root/tests/fuzz/corpus/yaml $root/tests/import" ;;
        *) echo "$root/tests/fuzz/corpus/$1" ;;
    esac
}

fuzz() {
    corpus=$build/corpus/$1 log=$build/$1.log fault= longest=16384 from=$(seeds "$1")
    mkdir -p "$corpus"
    case $1 in
        reduce) longest=4096 ;;
        linear) longest=8192 ;;
        options) longest=400 ;;
    esac
    # a smoke has no time to read every model of the tests
    [ "$seconds" -ge 60 ] || from=${from%% *}
    # what a slice that read all seeds kept of them is read by the next
    [ -z "${SLICE:-}" ] || [ ! -e "$corpus.seeded" ] || from=
    # shellcheck disable=SC2086
    "$build/tests/fuzz/fuzz_$1" -dict="$root/tests/fuzz/bg.dict" -max_len=$longest -timeout=300 -rss_limit_mb=3000 -max_total_time="$seconds" \
        -seed="$seed" -print_final_stats=1 -artifact_prefix="$build/found/$1-" "$corpus" $from >"$log" 2>&1 || { : >"$build/failed"; fault=yes; tail -n 60 "$log"; }
    ! grep -q INITED "$log" || [ "$seconds" -lt 60 ] || : >"$corpus.seeded"
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -n 1)
    all=$(sed -n 's/^INFO: Loaded 1 modules *(\([0-9]*\) inline.*/\1/p' "$log")
    echo "fuzz $1: ${runs:-?} executions, ${edges:-?} of ${all:-?} edges"
    echo "$(date +%FT%T) $1 $seconds s ${runs:-?} executions ${edges:-?} edges${fault:+ FINDING}" >>"$build/slices"
}

# The corpora once more, by a build that counts lines. The parser's generated code counts as grammar.
lines() {
    build "$build/lines" "$(targets replay)" -DCMAKE_C_FLAGS_DEBUG="-O1 -g1 -fprofile-instr-generate -fcoverage-mapping" -DBGC_FUZZ=OFF
    for h in $harnesses; do
        mkdir -p "$build/corpus/$h"
        # shellcheck disable=SC2046
        LLVM_PROFILE_FILE=$build/lines/$h.profraw "$build/lines/tests/fuzz/replay_$h" $(seeds "$h") "$build/corpus/$h" >"$build/lines/$h.log" 2>&1 ||
            { status=1; tail -n 20 "$build/lines/$h.log"; }
    done
    (
        cd "$build/lines"
        llvm-profdata merge -sparse ./*.profraw -o all.profdata
        # shellcheck disable=SC2046
        llvm-cov report -instr-profile=all.profdata libbgc.so $(for h in $harnesses; do printf ' -object tests/fuzz/replay_%s' "$h"; done) >report.txt 2>/dev/null
        for part in 'grammar (grammar/|generated/)' 'compiler compiler/' 'rewriter runtime/reduce/(rewrite|edit|fold)'; do
            awk -v name="${part%% *}" -v of="${part#* }" '$1 ~ of && $1 ~ /\.[chly]$/ { all += $8; missed += $9 }
                END { if (all) printf "lines of the %s: %.1f %% of %d\n", name, 100 * (all - missed) / all, all }' report.txt
        done
    )
}

if [ "${ONE:-}" ]; then
    seed=1
    fuzz "$harnesses"
    exit 0
fi

status=0 at_once=1 seed=0 optimised=-O1
if [ "$seconds" -lt 60 ] && [ -z "${SLICE:-}" ]; then
    at_once=$jobs seed=1 optimised=-O0
fi
if [ "$seconds" -gt 0 ]; then
    [ "${SLICE:-}" ] && (cd "$build/tests/fuzz" && ls $(targets fuzz)) >/dev/null 2>&1 ||
        build "$build" "$(targets fuzz)" -DCMAKE_C_FLAGS_DEBUG="$optimised -g" -DBGC_SANITIZE=ON -DBGC_FUZZ=ON -DBGC_TESTS=OFF
    rm -f "$build/failed"
    if [ "$at_once" -gt 1 ]; then
        printf '%s\n' $harnesses | xargs -P "$at_once" -n 1 env ONE=yes BUILD="$build" sh "$0" "$seconds"
    else
        for h in $harnesses; do fuzz "$h"; done
    fi
    [ ! -e "$build/failed" ] || status=1
fi
[ "$seconds" -gt 0 ] && { [ "$seconds" -lt 60 ] || [ "${SLICE:-}" ]; } || lines
exit $status
