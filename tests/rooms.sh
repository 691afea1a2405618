#!/bin/sh
# rooms.sh - folders of grammar/, compiler/ and runtime/ include each other without circles, and no header has the name of another
#
#   sh tests/rooms.sh ROOT
#
# Ends with 1 and the folders of a circle where there is one. A room of compiler/ never includes one of runtime/.
set -eu
cd "$1"

sources=$(find grammar compiler runtime -name '*.[chly]' | sort)
# shellcheck disable=SC2086
twice=$(printf '%s\n' $sources | sed -n 's|.*/\([^/]*\.h\)$|\1|p' | sort | uniq -d)
[ -z "$twice" ] || { echo "two headers are called $twice"; exit 1; }

# "folder that includes, folder of the header", once each
# shellcheck disable=SC2086
pairs=$(grep -n '^#include "' $sources | sed 's|^\([^:]*\)/[^/:]*:[0-9]*:#include "\([^"]*\)".*|\1 \2|' | sort -u |
    awk -v list="$sources" '
        BEGIN { n = split(list, path, "\n"); for (i = 1; i <= n; i++) { name = path[i]; sub(/.*\//, "", name); dir = path[i]; sub(/\/[^\/]*$/, "", dir); of[name] = dir } }
        ($2 in of) && of[$2] != $1 { print $1, of[$2] }' | sort -u)
printf '%s\n' "$pairs" | grep '^compiler[^ ]* runtime' && { echo "the compiler includes the runtime"; exit 1; }
printf '%s\n' "$pairs" | grep '^grammar runtime' && { echo "the grammar includes the runtime"; exit 1; }
circle=$(printf '%s\n' "$pairs" | tsort 2>&1 >/dev/null) || { echo "folders include each other in a circle:"; echo "$circle"; exit 1; }
