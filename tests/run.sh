#!/bin/sh
# run.sh - installs what is missing, builds twice (optimised; with the address and undefined behaviour sanitizers), runs all tests on both
#
#   sh tests/run.sh            from anywhere
#   BUILD=/tmp/b sh tests/run.sh
#   FUZZ=0 sh tests/run.sh     without the fuzzers' smoke: two seconds of each, by clang
#
# Ends with CTest's summary; the exit status is 0 when every test of both builds passed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build}
with_analyzer=1
[ "${FUZZ:-1}" = 0 ] || with_fuzzers=1
. "$root/tests/setup.sh"

# a hundred small programs are linked in each of the two builds: half a second less for each
quick_link=
if command -v ld.gold >/dev/null; then
    for kind in EXE SHARED MODULE; do
        quick_link="$quick_link -DCMAKE_${kind}_LINKER_FLAGS=-fuse-ld=gold"
    done
fi

configure_and_build() {
    dir=$1
    shift
    mkdir -p "$dir"
    log=$dir/build.log
    # a folder goes on with what it was begun with
    [ -e "$dir/CMakeCache.txt" ] || ! command -v ninja >/dev/null || set -- "$@" -G Ninja
    # shellcheck disable=SC2086
    cmake -S "$root" -B "$dir" $quick_link "$@" >"$log" 2>&1 || { cat "$log"; return 1; }
    cmake --build "$dir" -j "$jobs" >>"$log" 2>&1 || { tail -n 60 "$log"; return 1; }
}

echo "== building $build and $build-sanitize"
configure_and_build "$build" -DCMAKE_BUILD_TYPE=Release -DBGC_TESTS=ON
# -Og: built in two thirds of the time of -O1, its tests as fast; what it takes for uninitialised the optimised build knows better
configure_and_build "$build-sanitize" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-Og -g1 -Wno-maybe-uninitialized" -DBGC_SANITIZE=ON -DBGC_TESTS=ON


status=0
if [ "${FUZZ:-1}" != 0 ]; then
    echo "== fuzzers, for seconds"
    BUILD="$build-fuzz" sh "$root/tests/fuzz/run.sh" 2 || status=1
fi
echo "== tests with the sanitizers"
# freed memory is held back by 16 MB, not by 256, and known by the 8 calls nearest to it: a quarter of the time of these tests less
ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=8:quarantine_size_mb=16} \
    ctest --test-dir "$build-sanitize" -j "$jobs" --output-on-failure || status=1
echo "== tests of the optimised build"
ctest --test-dir "$build" -j "$jobs" --output-on-failure || status=1
exit $status
