#!/bin/sh
# Models written out part by part are the models: every experiment of every file is partitioned with nothing conditioned, and what was written is run beside
# what was given. Each output and recorded expression must agree to 1e-6 of its greatest value.
# sh tests/written_out.sh BGC [FILE.bg ...]      without files: examples, tests/run, tests/models and, where it lies beside the repository, shared/cases
bgc=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
if [ $# -eq 0 ]; then
    set -- "$root"/examples/*.bg "$root"/examples/*/*.bg "$root"/tests/models/*.bg "$root"/tests/run/*.bg "$root"/../shared/cases/models/*.bg "$root"/../shared/cases/faults/*.bg
fi
seconds=${SECONDS_EACH:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
agree=0 differ=0 refused=0 given=0

# so long of a processor, however busy the machine
limited() {
    (ulimit -t "$seconds"; exec "$@")
}

# Greatest difference of columns of one name, as a share of the column's greatest value; "rows" where there are not as many rows. A name that the text that is
# written out says otherwise (v[1..2].f[1], of which it has one column only) is any column's that is nearest.
distance() {
    paste -d ';' "$1" "$2" | awk -F ';' '
        function plain(name) { sub(/ \[[^]]*\]$/, "", name); gsub(/[.,[]/, "_", name); gsub(/\]/, "", name); return name }
        # names with commas stand in quotes
        function names(heading, out,   i, quoted, k, c) {
            k = 1; out[1] = ""
            for (i = 1; i <= length(heading); i++) {
                c = substr(heading, i, 1)
                if (c == "\"") quoted = !quoted
                else if (c == "," && !quoted) out[++k] = ""
                else out[k] = out[k] c
            }
            return k
        }
        NR == 1 { n = names($1, a); m = names($2, b) }
        NR > 1 { n = split($1, a, ","); m = split($2, b, ",") }
        NR == 1 {
            for (j = 2; j <= m; j++) at[plain(b[j])] = j
            for (k = 2; k <= n; k++) is[k] = plain(a[k]) in at ? at[plain(a[k])] : 0
            columns = n; others = m
            next
        }
        n != columns || m != others { print "rows"; bad = 1; exit }
        { for (k = 2; k <= n; k++) {
              v = a[k] < 0 ? -a[k] : a[k] + 0
              if (v > size[k]) size[k] = v
              for (j = is[k] ? is[k] : 2; j <= (is[k] ? is[k] : m); j++) {
                  d = a[k] - b[j]; d = d < 0 ? -d : d
                  if (d > far[k, j]) far[k, j] = d
              }
          } }
        END { if (bad) exit
              for (k = 2; k <= columns; k++) {
                  least = ""
                  for (j = is[k] ? is[k] : 2; j <= (is[k] ? is[k] : others); j++)
                      if (least == "" || far[k, j] + 0 < least) least = far[k, j] + 0
                  if (least > 1e-12 && least > worst * size[k]) worst = size[k] > 0 ? least / size[k] : 1
              }
              printf "%.3g\n", worst }'
}

for file; do
    [ -f "$file" ] || continue
    for experiment in $(sed -n 's/^experiment \([A-Za-z_0-9]*\).*/\1/p' "$file" | sort -u); do
        tight="--rtol 1e-9 --allow-read $root"
        # what cannot be run as it is, or takes long, says nothing about what is written
        if ! limited "$bgc" run "$file" -e "$experiment" $tight -q -o "$work/a.csv" 2>/dev/null; then
            given=$((given + 1))
            continue
        fi
        rm -rf "$work/out"
        if ! limited "$bgc" partition "$file" -e "$experiment" --threshold 0% --allow-read "$root" -q -o "$work/out" >/dev/null 2>"$work/why"; then
            echo "$file $experiment: not written: $(grep -v '^$' "$work/why" | head -2 | tr '\n' ' ')"
            refused=$((refused + 1))
        elif ! limited "$bgc" run "$work/out/conditioned.bg" -e "$experiment" $tight -q -o "$work/b.csv" 2>"$work/why"; then
            echo "$file $experiment: what was written does not run: $(head -1 "$work/why")"
            differ=$((differ + 1))
        else
            far=$(distance "$work/a.csv" "$work/b.csv")
            if [ "$far" = rows ] || awk "BEGIN { exit !($far > 1e-6) }"; then
                echo "$file $experiment: off by $far"
                differ=$((differ + 1))
            else
                agree=$((agree + 1))
            fi
        fi
    done
done
echo "$agree runs agree, $differ differ, $refused were not written, $given do not run as given or within $seconds s of a processor"
[ "$differ" -eq 0 ]
