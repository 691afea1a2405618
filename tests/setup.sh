# setup.sh - installs what building and testing need, where it is missing; sourced by examples/demo.sh and tests/run.sh
#
# Debian 12 packages, all from its main section (libarpack2: eigenvalues of models too large for dense matrices). Nothing is installed, and no rights are asked for, when all of them are there.

packages="
    make cmake gcc libc6-dev flex bison
    llvm-19-dev
    libsundials-dev libsuitesparse-dev liblapacke-dev libopenblas-dev
    libarpack2-dev
    libudunits2-dev libcjson-dev
    graphviz gnuplot-nox
    libcmocka-dev
"

# an analyzer that is one of the tests, what builds several times in less of it, and the fuzzers' compiler, for who asks for them
[ -z "${with_analyzer:-}" ] || packages="$packages clang-tidy-14 ninja-build"
[ -z "${with_fuzzers:-}" ] || packages="$packages clang libclang-rt-14-dev llvm"

missing=
if command -v dpkg-query >/dev/null 2>&1; then
    for package in $packages; do
        if ! dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed'; then
            missing="$missing $package"
        fi
    done
else
    echo "setup: this is no Debian system; these packages are needed under whatever names they have here:" $packages >&2
fi

if [ -n "$missing" ]; then
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    echo "setup: installing$missing" >&2
    $as_root apt-get update -qq >&2
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
fi

jobs=$(nproc 2>/dev/null || echo 2)
