#!/bin/sh
# little_memory.sh BGC MODEL - under limits of memory: it works, or ends with status 5 and says so; it never waits for a thread that did not start
set -u
bgc=$1 model=$2 failures=0
unset OPENBLAS_NUM_THREADS

try() {
    limit=$1 wanted=$2
    shift 2
    said=$( (ulimit -v "$limit"; timeout 50 "$bgc" "$@" 2>&1 >/dev/null) )
    status=$?
    case " $wanted " in
        *" $status "*) ;;
        *) echo "bgc $* under $limit KiB: status $status, wanted $wanted: $said"; failures=1 ;;
    esac
    case $status:$said in
        5:*memory*) ;;
        127:*"shared librar"*) ;;
        127:*) echo "bgc $* under $limit KiB: status 127: $said"; failures=1 ;;
        5:*) echo "bgc $* under $limit KiB: nothing said of memory: $said"; failures=1 ;;
    esac
}

try 350000 0 check "$model"
try 350000 0 run "$model" -e smooth_curb
# a table of 1e8 points does not fit
try 500000 5 run "$model" -e smooth_curb --points 100000000 --max-time 30
# from hardly enough for the libraries to enough: done, or said; 127: they do not even load
for limit in 220000 230000 240000 250000 260000 280000 300000 400000 500000; do
    for command in "check" "run -e smooth_curb" "rank -e smooth_curb" "reduce -e smooth_curb --threshold 99% --dry-run" "linearize -e smooth_curb"; do
        # shellcheck disable=SC2086
        try $limit "0 5 127" $command "$model"
    done
done
exit $failures
