#!/bin/sh
# twice.sh - no block of more than 12 lines stands twice in compiler/ and runtime/, no function has the name of one in
# another file, and no file has more than 800 lines
#
#   sh tests/twice.sh [ROOT]      without one: the repository it lies in
#
# Lines are compared without their spaces; empty ones, comments, lone brackets and includes do not count. Files that fill
# one table, or follow a run in two ways, share names. Ends with 1 and the places.
set -eu
cd "${1:-$(dirname "$0")/..}"

find grammar compiler runtime -name '*.[chly]' | sort | xargs awk -v longest=800 '
    function group(path) {
        sub(/.*\//, "", path)
        if (path ~ /^codegen_(c|llvm)\.c$/) return "backends"
        if (path ~ /^(print|latex)\.c$/) return "writers"
        if (path ~ /^(forward|adjoint)\.c$/) return "followers"
        return path
    }
    FNR == longest + 1 { print FILENAME " has more than " longest " lines"; bad = 1 }
    FILENAME ~ /\.c$/ && match($0, /^[a-z_][a-z_0-9]*\(/) && !/;$/ {
        name = substr($0, 1, RLENGTH - 1)
        if (name in file && group(file[name]) != group(FILENAME)) {
            print name " is a function in " file[name] " and in " FILENAME
            bad = 1
        }
        file[name] = FILENAME
    }
    END { exit bad }'

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
