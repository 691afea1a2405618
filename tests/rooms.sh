#!/bin/sh
# rooms.sh - folders of grammar/, compiler/ and runtime/ include each other without circles, and no header has the name of another
#
#   sh tests/rooms.sh ROOT
#
# Ends with 1 and the folders of a circle where there is one. A room of compiler/ never includes one of runtime/. What
# runs, measures, linearizes by numbers or identifies sees no header of the stages before the image, by whatever way; nor
# do an image and its instances.
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

# Files of these folders that write texts or derive expressions look at what a model was compiled from
of_texts='linear/linear_symbolic|linear/mode_reduction|linear/output_lines|linear/passive_model|linear/second_order|linear/coefficient_rates|linear/structure_(inside|laws|pencil|relations|solve)|linear/structure\.c|identify/numbers'
# nor does an image, what makes its parts known to others, or an instance
instances='image|maker\.h|model|evaluate|block_room|routine|factor|staircase|net|initial\.|solutions|bounds\.|course|interpret\.h|storage\.h|jacobian\.h|partials\.h|curvature\.h|moves\.h|expressions\.h|initial_program\.h|parameter_store\.h|project\.h'
makers='image_graph|model_parts|net_form\.c'
numeric=$(printf '%s\n' $sources | grep -E '^runtime/(run|measure|linear|identify)/' | grep -vE "$of_texts"
    printf '%s\n' $sources | grep -E "^compiler/code/($instances)" | grep -vE "/($makers)")
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
