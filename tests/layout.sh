#!/bin/sh
# layout.sh - every C file is laid out as .clang-format says
#
#   sh tests/layout.sh          ends with 1 and the names of the files that are not
#   sh tests/layout.sh fix      lays them out
#
# Versions of clang-format differ in details: only version 14, that of Debian 12, decides; without it the test is skipped (77).
set -eu
cd "$(dirname "$0")/.."

tool=$(command -v clang-format-14 || true)
[ -n "$tool" ] || { echo "clang-format-14 is not installed"; exit 77; }
files() { find compiler grammar runtime tests -name '*.[ch]' -print0; }

if [ "${1:-}" = fix ]; then
    files | xargs -0 "$tool" -i
    exit 0
fi
wrong=$(files | xargs -0 "$tool" --dry-run 2>&1 | sed -n 's/^\([^:]*\):.*warning:.*/\1/p' | sort -u)
[ -z "$wrong" ] || { echo "not as .clang-format says (sh tests/layout.sh fix):"; echo "$wrong"; exit 1; }
