#!/bin/sh
# benchmarks.sh [BGC [quick]] - three public systems of 100 states, reduced to 10 and to 20: relative H-infinity errors in one table
#
# Balanced truncation, which changes the realisation, is the yardstick; beside it stands what keeps elements: the most active ones (that share of the
# activity which gives as many states), and, to 10 states, those that a search finds together with their numbers
# (a minute; not with `quick`). "passive": the transfer takes energy only.
set -eu
bgc=${1:-$(dirname "$0")/../build/bgc}
quick=${2:-}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

one() {
    "$bgc" reduce "$here/$2" -e "$3" --threshold "$4" -q -o "$work/elements_10.bg" >"$work/log" 2>&1
    "$bgc" reduce "$here/$2" -e "$3" --threshold "$5" -q -o "$work/elements_20.bg" >"$work/log" 2>&1
    refitted=
    if [ -z "$quick" ]; then
        if "$bgc" reduce "$here/$2" -e "$3" --order 10 --refit -q -o "$work/refitted_10.bg" >"$work/log" 2>&1; then
            refitted="--against $work/refitted_10.bg"
        else
            sed "s/^bgc: /$1: /" "$work/log" >&2
        fi
    fi
    "$bgc" linearize "$here/$2" -e "$3" --truncate 10 --truncate 20 --against "$work/elements_10.bg" --against "$work/elements_20.bg" $refitted -q -o "$work/table"
    awk -v name="$1" '
        /^H-infinity norm/ { norm = $3; sub(",", "", norm) }
        /^  balanced truncation|elements_[12]0|refitted_10/ {
            printf "%-18s %10s  %-20s %6s %12s %12s %8s\n", name, norm, /balanced/ ? "balanced truncation" : /refitted/ ? "elements, refitted" : "most active elements", $(NF - 4), $(NF - 2), $(NF - 1), $NF
        }' "$work/table"
}

printf '%-18s %10s  %-20s %6s %12s %12s %8s\n' system norm "reduced by" states "rel. error" "rel. bound" passive
one "damped chain" damped_chain.bg push 68% 87%
one "chain, two forces" damped_chain.bg push_two 73.5% 87%
one "RCL ladder" rcl_ladder.bg current 65% 87%
