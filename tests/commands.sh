#!/bin/sh
# Commands that say what there is: explain, doc, new, diff. `sh commands.sh BGC SOURCES`
bgc=$1 src=$2 fail=0
dir=$(mktemp -d) && cd "$dir" || exit 2
trap 'rm -rf "$dir"' EXIT

bad() { echo "commands: $*"; fail=1; }
status() { # STATUS COMMAND...: its output goes to out, errors to err
    want=$1; shift
    "$@" >out 2>err; got=$?
    [ $got = "$want" ] || { bad "\`$*\` ended with $got, not $want"; cat err; }
}

# every code of the sources is explained, and nothing else. What looks like a code and is none: options, metrics, kinds of edits
grep -rhoE '"[a-z][a-z0-9]*(-[a-z0-9]+)+"' "$src/grammar" "$src/compiler" "$src/runtime" --include='*.[chyl]' | tr -d '"' | sort -u >words
# the few of one word, behind what reports them
grep -rhoE '(diag_error|diag_warn|diag_info|parse_error|scan_error)\([^;"]*"[a-z]+"' "$src/grammar" "$src/compiler" "$src/runtime" --include='*.[cyl]' |
    sed 's/.*"\([a-z]*\)"/\1/' | sort -u - words >all && mv all words
for c in $("$bgc" -h | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do "$bgc" "$c" -h; done | grep -oE -- '--[a-z-]+' | sed 's/^--//' | sort -u >others
printf '%s\n' kl-normalised relative-energy drop-bond move-declaration term-delete term-mean | sort -u - others >none
"$bgc" explain | sed 's/ .*//' | sort -u >explained
for c in $(comm -23 words none | comm -23 - explained); do bad "the code $c is not explained in grammar/MESSAGES.md"; done
for c in $(comm -23 explained words); do bad "no message has the code $c, which grammar/MESSAGES.md explains"; done
[ "$(wc -l <explained)" -gt 150 ] || bad "explain lists few codes"
for c in $(cat explained); do
    "$bgc" explain "$c" | sed 1d | grep -q '[a-z]' || bad "the explanation of $c is empty"
done
status 0 "$bgc" explain unit-clash
grep -q "Two units do not fit" out || bad "explain says something else"
status 2 "$bgc" explain unit-clsh
grep -q 'did you mean "unit-clash"' err || bad "explain does not know the nearest code"
status 0 "$bgc" explain --json unit-clash name-twice
grep -q '^\[{"code":"unit-clash","text":"' out || bad "explain --json is something else"

# every model of the library is listed and shown with its ports
status 0 "$bgc" doc
for m in $(cd "$src/stdlib" && find . -name '*.bg' | sed 's|^\./||; s|/|.|; s|\.bg$||'); do
    grep -q "^$m  " out || bad "doc does not list $m"
done
status 0 "$bgc" doc hydraulic.Cylinder
for line in '  0:head in hydraulic' '  area = 20 \[cm^2\]' '  Force on the rod: area\*e_head - area_rod\*e_rod_side.' 'import hydraulic;'; do
    grep -q "^$line" out || bad "doc hydraulic.Cylinder lacks: $line"
done
cp out whole
status 0 "$bgc" doc Cylinder && cmp -s out whole || bad "doc Cylinder is not hydraulic.Cylinder"
status 0 "$bgc" doc hydraulic Cylinder && cmp -s out whole || bad "doc hydraulic Cylinder is not hydraulic.Cylinder"
status 0 "$bgc" doc "$src/stdlib/hydraulic.bg" Tank && grep -q '  signal\|^  level \[m\]' out || bad "doc of a file"
status 2 "$bgc" doc hydraulic.Cylindr && grep -q 'did you mean "Cylinder"' err || bad "doc does not know the nearest model"
status 2 "$bgc" doc hydraulics && grep -q 'did you mean "hydraulic"' err || bad "doc does not know the nearest module"
status 4 "$bgc" doc no_such_file.bg
status 0 "$bgc" doc vehicle --json && grep -q '"name":"Tire"' out || bad "doc --json"

# a first file runs without a warning, and nothing is overwritten
for name in slider.bg 2nd-try.bg model.bg; do
    status 0 "$bgc" new $name
    status 0 "$bgc" check --werror $name
    status 0 "$bgc" fmt --check $name
    status 0 "$bgc" run $name && grep -q '^2,' out || bad "the first model of $name does not run to its end"
    cp $name before
    status 4 "$bgc" new $name && cmp -s $name before || bad "new changed $name"
done
ln -s nowhere link.bg
status 4 "$bgc" new link.bg

# pages of the manual and completion have every command and option of the help
status 0 "$bgc" man -o pages
for c in $("$bgc" -h | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    [ -s pages/bgc-$c.1 ] || bad "no page bgc-$c.1"
    grep -q "bgc..$c " pages/bgc.1 || bad "bgc.1 does not name $c"
    "$bgc" man $c >one; cmp -s one pages/bgc-$c.1 || bad "man $c is not what man -o writes"
    for o in $("$bgc" $c -h | sed -n '/^options/,/^examples/s/^  [ -][a-zA-Z ][, ] --\([a-z-]*\).*/\1/p'); do
        tr -d '\\' <pages/bgc-$c.1 | grep -q "^\.B .*--$o" || bad "bgc-$c.1 lacks --$o"
    done
done
status 2 "$bgc" man chek
command -v groff >/dev/null && { groff -man -Tutf8 -ww pages/bgc-reduce.1 2>&1 >/dev/null | grep . && bad "groff complains of bgc-reduce.1"; }
status 0 "$bgc" completion bash -o completion
if command -v bash >/dev/null; then
    bash -c '. ./completion; COMP_WORDS=(bgc ch); COMP_CWORD=1; _bgc; echo "${COMPREPLY[*]}"
             COMP_WORDS=(bgc reduce --thr); COMP_CWORD=2; _bgc; echo "${COMPREPLY[*]}"
             COMP_WORDS=(bgc run slid); COMP_CWORD=2; _bgc; echo "${COMPREPLY[*]}"' >out 2>err
    printf 'check\n--threshold\nslider.bg\n' | cmp -s - out || { bad "completion in bash gives"; cat out err; }
fi
status 0 "$bgc" completion zsh -o _bgc
grep -q "^    'reduce:Takes the least important parts out" _bgc && grep -q "'\*--threshold=\[" _bgc || bad "completion for zsh"
command -v zsh >/dev/null && { zsh -n _bgc || bad "zsh does not read its completion"; }
status 2 "$bgc" completion fish

# a figure has smooth curves, however few rows the table has
if command -v gnuplot >/dev/null; then
    status 0 "$bgc" run slider.bg --plot usual.svg
    status 0 "$bgc" run slider.bg --points 3 --plot few.svg -o few.csv
    cmp -s usual.svg few.svg || bad "a figure of a table of three rows is not drawn like that of a long one"
    "$bgc" run slider.bg --points 3 -o alone.csv 2>/dev/null
    cmp -s alone.csv few.csv || bad "a figure changes the table"
fi

# an option that is wrong is shown as it was written, with the place of the mistake; a name or a value is never empty
wrong() { # STATUS PLACE COMMAND...: the line with the option, and below it the mark
    place=$2; status "$1" "$bgc" "$3" slider.bg "$4" "$5"
    grep -F -A1 "      | $4 $5" err | grep -q "^      | $place\$" || { bad "$4 $5 is not shown as it was written"; cat err; }
}
wrong 2 '          ^~' run --set 'm=2*xx'
wrong 2 '          ^' run --set 'm=2+'
wrong 2 '      ^' run --set 'x=2'
wrong 2 '      ^~~~~~~~~' check --set 'mass.q(0)=2'
wrong 2 '                ^~' run --set 'mass.p(0)=xx'
wrong 2 '        ^~~~~~~~~~~' run --input 'x=slider.bg'
wrong 2 '       ^~' run --stop -1
status 0 "$bgc" run slider.bg --set 'm = 3 [kg]' --points 2
for o in -o --plot -e --set --stop; do status 2 "$bgc" run slider.bg $o ''; done
grep -q -- '--stop needs a value: T' err || bad "an empty value is not said"
status 2 "$bgc" run '' && grep -q 'is empty' err || bad "an empty name is not said"
status 2 "$bgc" completion && grep -q 'bash|zsh is needed' err || bad "completion does not say what it needs"
status 0 "$bgc" help run && cp out helped && status 0 "$bgc" run -h && cmp -s out helped || bad "help run is not run -h"
status 2 "$bgc" help runn && grep -q 'did you mean "run"' err || bad "help does not know the nearest command"

# the first column of an input's file is the time
printf 'x [m],F [N]\n0,1\n5,2\n' >force.csv
status 2 "$bgc" run slider.bg --input F=force.csv
grep -q 'first column of "force.csv" must be the time; it is in \[m\]' err || bad "a force over a path is taken for one over time"
sed 's/x \[m\]/time [ms]/' force.csv >timed.csv
status 0 "$bgc" run slider.bg --input F=timed.csv --points 2

# identify says that a model cannot follow its data: the slider is pushed the other way
printf 'time,x [mm]\n0.1,-50\n0.5,-20\n1,-80\n1.5,-40\n' >pulled.csv
"$bgc" identify slider.bg --data pulled.csv --parameters b --dry-run >out 2>err
grep -q '"x" does not fit its data: its root mean square error is .* mm, that of their mean would be' err || { bad "identify does not say that nothing fits"; cat err; }

# -h of a command does not speak of another command's options
"$bgc" run -h | grep -q -- --mdk && bad "run -h speaks of --mdk"
"$bgc" partition -h | grep -q -- '--output DIR' || bad "partition -h does not say that -o is a folder"

# check --json: an object a line for each file that can be read
status 4 "$bgc" check --json slider.bg missing.bg 2nd-try.bg
[ "$(grep -c '^{"model":' out)" = 2 ] && sed -n 2p out | grep -q '"file":"2nd-try.bg"' || bad "check --json of several files"

# diff: 0 the same, however it is laid out; 1 where something differs, experiments too
status 0 "$bgc" diff slider.bg slider.bg && [ ! -s out ] || bad "a file differs from itself"
sed 's/stop = 2 \[s\];/stop=2[s]; \/\/ short/; s/10 \[N\]/10[N]/' slider.bg >laid.bg
status 0 "$bgc" diff slider.bg laid.bg
sed 's/stop = 2/stop = 3/; s/10 \[N\] else/20 [N] else/' slider.bg >longer.bg
status 1 "$bgc" diff slider.bg longer.bg
grep -q '^~ experiment push: stop = 2 \[s\] -> stop = 3 \[s\]; let F = .*10 \[N\].* -> let F = .*20 \[N\]' out || bad "diff does not say what the experiments differ in"
sed 's/^experiment push/experiment pull/' slider.bg >renamed.bg
status 1 "$bgc" diff slider.bg renamed.bg
grep -q '^- experiment push' out && grep -q '^+ experiment pull' out || bad "diff does not see another experiment"
{ cat slider.bg; echo 'experiment more of slider { stop = 1; keep mass; }'; } >more.bg
status 1 "$bgc" diff slider.bg more.bg
sed 's/stop = 1;/stop = 1; rtol = 1e-9;/; s/ keep mass;//' more.bg >other.bg
status 1 "$bgc" diff more.bg other.bg --json
grep -q '"kind":"experiment","what":"- keep mass; + rtol = 1e-9"' out || bad "diff --json does not say what the experiments differ in"
sed 's/b = 8 /b = 9 /' slider.bg >damped.bg
status 1 "$bgc" diff slider.bg damped.bg -e push

# a folder's run replaces no table beside a model that partition did not write
mkdir measured && cp slider.bg measured/slider.bg
echo 'time [s],x' >measured/slider_push.csv && cp measured/slider_push.csv kept
status 4 "$bgc" run measured && cmp -s measured/slider_push.csv kept || bad "run of a folder replaced a table"
grep -q 'slider_push.csv exists' err || bad "run of a folder does not name the table"
rm measured/slider_push.csv
status 0 "$bgc" run measured && [ -s measured/slider_push.csv ] || bad "run of a folder wrote no table"
exit $fail
