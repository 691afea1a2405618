#!/bin/sh
# refit_to_order.sh BGC FILE EXPERIMENT - a system of 100 states is brought down to 10, elements and numbers searched together: H-infinity error at most five
# times that of balanced truncation, which keeps no elements; numbers positive; the transfer takes energy only; seen again in the text, and in time
set -eu
bgc=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$1"
    exit 1
}
number() { # the first number behind a key of the report
    sed -n "s/.*\"$1\":\\([-+.0-9e]*\\).*/\\1/p" "$work/report"
}

"$bgc" reduce "$2" -e "$3" --order 10 --refit --json -o "$work/small.bg" >"$work/report"
echo "error $(number error), balanced truncation $(number balanced_truncation), ratio $(number ratio)"
awk -v r="$(number ratio)" -v n="$(number states_after)" 'BEGIN { exit !(r > 0 && r <= 5 && n == 10) }' || fail "not 10 states, or more than five times"
grep -q '"refit":.*"passive":"yes"' "$work/report" || fail "not passive"
grep -q '"errors":\[{' "$work/report" || fail "not run"
tr '{' '\n' <"$work/report" | sed -n 's/.*"from":.*"to":\([-+.0-9e]*\).*/\1/p' >"$work/to"
[ "$(awk '$1 > 0' "$work/to" | wc -l)" -ge 10 ] && [ -z "$(awk '!($1 > 0)' "$work/to")" ] || fail "fewer than ten numbers, or not all positive"
"$bgc" linearize "$2" -e "$3" --json --truncate 10 --against "$work/small.bg" >"$work/report"
tr '{' '\n' <"$work/report" | sed -n 's/.*"name":.*"relative":\([-+.0-9e]*\).*"passive":\([a-z]*\).*/\1 \2/p' |
    awk 'NR == 1 { truncated = $1 } NR == 2 { good = $1 <= 5 * truncated && $2 == "true" } END { exit !(NR == 2 && good) }' || fail "the text does not keep to it"
