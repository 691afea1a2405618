#!/bin/sh
# demo.sh - builds bgc and shows what it is for on the quarter car: which elements matter, the model without those that do not, and how
# little of the text (and of the movement) changes. Pictures and files are left in build/demo.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=${BUILD:-$root/build}
. tests/setup.sh

echo "== building bgc"
mkdir -p "$build"
log=$build/build.log
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DBGC_WERROR=OFF >"$log" 2>&1 || { cat "$log"; exit 1; }
cmake --build "$build" --target bgc -j "$jobs" >>"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
bgc=$build/bgc
demo=$build/demo
full=examples/quarter_car.bg
reduced=$demo/quarter_car_reduced.bg
mkdir -p "$demo"

show() {
    echo
    echo "\$ bgc $*"
    "$bgc" "$@"
}

show check $full
show rank $full -e smooth_curb
show reduce $full -e smooth_curb --metric activity --threshold 99% -o "$reduced"

echo
echo "\$ diff -u $full $reduced"
diff -u --label $full --label "$reduced" $full "$reduced" || [ $? -eq 1 ]

"$bgc" run $full -e smooth_curb -o "$demo/full.csv"
"$bgc" run "$reduced" -e smooth_curb -o "$demo/reduced.csv"
"$bgc" graph $full -o "$demo/bond_graph.svg"
"$bgc" graph "$reduced" -o "$demo/bond_graph_reduced.svg"
gnuplot <<PLOT
set terminal pngcairo size 1000,600 font "sans,11"
set output "$demo/full_and_reduced.png"
set datafile separator ","
set xlabel "time / s"
set ylabel "height / m"
set grid
set key bottom right
plot [0:5] "$demo/full.csv" using "time [s]":"y_s [m]" with lines lw 2 title "body, full", \
     "$demo/reduced.csv" using "time [s]":"y_s [m]" with lines lw 2 dt 2 title "body, reduced", \
     "$demo/full.csv" using "time [s]":"y_t [m]" with lines lw 2 title "wheel, full", \
     "$demo/reduced.csv" using "time [s]":"y_t [m]" with lines lw 2 dt 2 title "wheel, reduced"
PLOT

echo
echo "== left in $demo:"
ls -1 "$demo"
