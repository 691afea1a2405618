#!/bin/sh
# analyze.sh - clang-tidy (.clang-tidy says what it looks for) and gcc's analyzer over every source
#
#   sh tests/analyze.sh               all of them; BUILD names the configured build (default: build)
#   sh tests/analyze.sh FILE...       these
#   TOOLS=gcc sh tests/analyze.sh     one of the two: clang, gcc
#   LATEST=10 sh tests/analyze.sh     the ten that commits changed last
#
# Both are tests of what changed last: clang-tidy (`analyze`, a fifth of a second a file) of a hundred files, gcc's analyzer
# (`analyze.gcc`), which takes thrice as long, of ten.
# Exit status 1: one of them found something; 2: one of them is not here.
set -eu

cd "$(dirname "$0")/.."
build=${BUILD:-build}
tools=${TOOLS:-clang gcc}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046
    set -- $(find grammar compiler runtime -name '*.c' | sort)
    latest=$(git log --name-only --pretty=format: -- grammar compiler runtime 2>/dev/null | grep '\.c$' | awk '!seen[$0]++' |
        while read -r file; do [ ! -e "$file" ] || echo "$file"; done | head -n "${LATEST:-0}")
    # shellcheck disable=SC2086
    [ -z "$latest" ] || set -- $latest
fi
[ -f "$build/compile_commands.json" ] || { echo "analyze: $build is not configured (cmake -S . -B $build)"; exit 2; }

# gcc's analyzer knows neither what the builder of a list left in it nor that an allocation here never fails: of what it
# says of null pointers and of memory that was not set, nothing was right. The sanitizers look for these while tests run.
gcc_checks="-fanalyzer -Wno-analyzer-null-dereference -Wno-analyzer-null-argument -Wno-analyzer-possible-null-argument
    -Wno-analyzer-possible-null-dereference -Wno-analyzer-use-of-uninitialized-value -fanalyzer-verbosity=0"

# except FILE: what is not asked of a file
except() {
    case $1 in
    compiler/base/base.c) echo -Wno-analyzer-malloc-leak ;; # a name is kept in an arena, which the list of names frees
    runtime/command/memory.c) echo -Wno-analyzer-malloc-leak ;; # the allocator itself
    runtime/output/files.c) echo -Wno-analyzer-malloc-leak -Wno-analyzer-file-leak ;; # outfile_open is false where it has no file
    esac
}

# analyze FILE: by gcc
analyze() {
    # shellcheck disable=SC2046,SC2086
    gcc -std=c11 -O0 -Werror $gcc_checks $(except "$1") $flags -c -o /dev/null "$1"
}

status=0
for tool in $tools; do
    case $tool in
    clang)
        tidy=$(command -v clang-tidy || command -v clang-tidy-19 || command -v clang-tidy-14) || { echo "analyze: no clang-tidy"; exit 2; }
        printf '%s\n' "$@" | xargs -P "$jobs" -n 1 "$tidy" -p "$build" --quiet --extra-arg=-w 2>/dev/null || status=1
        ;;
    gcc)
        flags=$(grep -m 1 'bgc_objects' "$build/compile_commands.json" | sed 's/.*cc \(-D.* -isystem [^ ]*\) -.*/\1/; s/\\\\\\"/"/g')
        if [ "$jobs" -gt 1 ]; then
            printf '%s\n' "$@" | BUILD=$build JOBS=1 TOOLS=gcc xargs -P "$jobs" -n 8 sh tests/analyze.sh || status=1
        else
            for file in "$@"; do analyze "$file" || status=1; done
        fi
        ;;
    *) echo "analyze: $tool is clang or gcc"; exit 2 ;;
    esac
done
exit $status
