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
        5:*) echo "bgc $* under $limit KiB: nothing said of memory: $said"; failures=1 ;;
    esac
}

try 350000 0 check "$model"
try 350000 0 run "$model" -e smooth_curb
# a table of 1e8 points does not fit
try 500000 5 run "$model" -e smooth_curb --points 100000000 --max-time 30
exit $failures
