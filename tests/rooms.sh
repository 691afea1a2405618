#!/bin/sh
# rooms.sh - folders of grammar/, compiler/ and runtime/ include each other without circles, no header has the name of
# another, and the READMEs name every file
#
#   sh tests/rooms.sh [ROOT]      without one: the repository it lies in
#
# Ends with 1 and the folders of a circle where there is one. A room of compiler/ never includes one of runtime/. The
# rooms that run, measure, linearize and identify include no header of the stages before the image, directly or through
# other headers; nor do the image and its instances. What derives expressions or edits texts has rooms of its own:
# runtime/structure, runtime/symbolic, runtime/reduce, runtime/refit.
set -eu
cd "${1:-$(dirname "$0")/..}"

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

# Of the compiler's last stage these make the image from the stages before, or hand both out together; the rest is the
# image and what an instance runs with
makers='maker|program|compiled|(bounds_form|curvature|expressions|initial_program|interpret|jacobian|moves|net_form|parameter_store|partials|project|storage)\.c'
numeric=$(printf '%s\n' $sources | grep -E '^runtime/(run|measure|linear|matrix|identify|system)/'
    printf '%s\n' $sources | grep "^compiler/code/" | grep -vE "/($makers)"
    echo compiler/code/maker.h)
seen=$(grep -n '^#include "' $sources | sed 's|^\([^:]*\):[0-9]*:#include "\([^"]*\)".*|\1 \2|' | awk -v list="$sources" -v roots="$numeric" '
    function visit(path, from,   i, n, name) {
        if ((path, from) in done) return
        done[path, from] = 1
        if (path ~ /^(grammar|compiler\/(graph|causality|equations|elaborate))\//) { print from, path; return }
        n = split(includes[path], name, " ")
        for (i = 1; i <= n; i++) if (name[i] in of) visit(of[name[i]], from)
    }
    BEGIN { n = split(list, path, "\n"); for (i = 1; i <= n; i++) { name = path[i]; sub(/.*\//, "", name); of[name] = path[i] } }
    { includes[$1] = includes[$1] " " $2 }
    END { n = split(roots, root, "\n"); for (i = 1; i <= n; i++) visit(root[i], root[i]) }')
[ -z "$seen" ] || { echo "who only runs a model sees what it was compiled from:"; echo "$seen"; exit 1; }

# a file stands in its README by its name or, with its header, without an ending; what modules share inside does not
# shellcheck disable=SC2086
for f in $sources; do
    name=$(basename "$f")
    case $name in *_inside.h) continue ;; esac
    grep -qE "\`(${name%.*}|$name)\`" "${f%%/*}/README.md" || { echo "${f%%/*}/README.md does not name $name"; exit 1; }
done

# what the tables "Where is it?" name stands where they say: files, and functions in one of them
for room in compiler runtime; do
    table=$(sed -n '/^## Where is it?/,/^## [^W]/p' $room/README.md)
    for name in $(echo "$table" | grep -oE '`[a-z_/]+(\.[ch])?`' | tr -d '`'); do
        case $name in
        *.[ch]) [ -f "$room/$name" ] || { echo "$room/README.md: there is no $name"; exit 1; } ;;
        *_*) grep -rqE "^$name\(" "$room" || [ -n "$(find "$room" -name "$name.c")" ] ||
            { echo "$room/README.md: there is no function $name"; exit 1; } ;;
        esac
    done
done
