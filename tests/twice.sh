#!/bin/sh
# twice.sh - no block of more than 12 lines stands twice in compiler/ and runtime/
#
#   sh tests/twice.sh [ROOT]      without one: the repository it lies in
#
# Lines are compared without their spaces; empty ones, comments, lone brackets and includes do not count. Ends with 1
# and the places.
set -eu
cd "${1:-$(dirname "$0")/..}"

find compiler runtime -name '*.[ch]' | sort | xargs awk -v most=12 '
    FNR == 1 { n = 0 }
    {
        line = $0
        gsub(/[ \t]/, "", line)
        if (line == "" || line ~ /^[{}();,]*$/ || line ~ /^(\/\*|\*)/ || line ~ /^#include/) next
        n++
        held[n % (most + 1)] = line
        at[n % (most + 1)] = FNR
        if (n <= most) next
        block = ""
        for (i = n - most; i <= n; i++) block = block held[i % (most + 1)] "\n"
        place = FILENAME ":" at[(n - most) % (most + 1)]
        if (!(block in first)) first[block] = place
        else { print first[block] " stands again at " place; twice = 1 }
    }
    END { exit twice }'
