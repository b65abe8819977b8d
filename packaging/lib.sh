# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the scripts of this folder: what they install, and how. Source it; it starts nothing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# Compiler cache that also hits in another clone: paths relative to the source, build folder inside it.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros
missing=()

say() { printf '%s\n' "loadline: $*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
        say "'$*' needs root: run this script as root, or install sudo"
        exit 2
    fi
}

# need PACKAGE WHY: remembers a Debian package that is not installed yet, and says in one line why it is wanted.
need() {
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" != installed ]; then
        say "installs $1: $2"
        missing+=("$1")
    fi
}

need_core() {
    need g++ "C++20 compiler"
    need cmake "build description"
    need ninja-build "build runner"
    need ccache "repeated builds in seconds"
    need nlohmann-json3-dev "reads and writes JSON"
    need libfmt-dev "formats text (this compiler has no std::format)"
    need libsqlite3-dev "keeps sessions and runs in one file"
    need libcli11-dev "command line of loadline-plan"
    need libyaml-cpp-dev "reads Accelerate configurations for 'price --config'"
    need libtomlplusplus-dev "reads torchtitan configurations for 'price --config'"
}

need_window() {
    need qt6-base-dev "the window: Qt 6 Widgets, with the offscreen and xcb platforms"
    need qt6-svg-dev "SVG export of charts"
    need libqcustomplot-dev "charts: QCustomPlot 2.1"
    need fonts-dejavu-core "a font with tabular figures, the same on every machine"
}

need_tests() {
    need libgtest-dev "tests: GoogleTest"
    need libgmock-dev "tests: matchers"
    need libbenchmark-dev "benchmarks: Google Benchmark"
    need glpk-utils "tests: a MIP solver to check the search against"
    need coinor-cbc "benchmarks: another MIP solver"
}

# The version that packaging/cmake/torch.cmake asks for, in an environment that every clone shares.
torch_version=2.11.0
torch_environment=${XDG_CACHE_HOME:-$HOME/.cache}/loadline/torch-$torch_version

need_torch() {
    need libgloo-dev "headers of Gloo, which PyTorch's include but its wheel lacks"
    need python3-venv "an environment of its own for PyTorch"
}

# PyTorch without its CUDA packages, apart from the two small ones that its CPU half loads too (0.55 GB to fetch, 1.2 GB on disk) and,
# where a CUDA toolkit is, the three that its CUDA half needs beyond it (0.23 GB). An interrupted set-up is finished by the next one.
install_torch() {
    [ -n "${LOADLINE_TORCH:-}" ] && return
    [ -e "$torch_environment/complete" ] && return
    say "installs PyTorch $torch_version in $torch_environment (0.6 to 0.8 GB): loadline-device measures and trains with it"
    local cuda=()
    if [ -e "${CUDA_HOME:-/usr/local/cuda}/include/cuda_runtime_api.h" ]; then
        cuda=(nvidia-cufile==1.15.1.6 nvidia-cusparselt-cu13==0.8.0 nvidia-nvshmem-cu13==3.4.5)
    fi
    rm -rf "$torch_environment"
    python3 -m venv "$torch_environment"
    "$torch_environment/bin/pip" install -q --no-deps --disable-pip-version-check "torch==$torch_version" nvidia-cuda-runtime==13.0.96 \
        nvidia-cuda-cupti==13.0.85 "${cuda[@]}"
    touch "$torch_environment/complete"
}

# What PyTorch needs from Python, and the models that exported bundles are tried on: 54 MB.
install_torch_python() {
    [ -n "${LOADLINE_TORCH:-}" ] && return
    [ -e "$torch_environment/complete-python" ] && return
    say "installs transformers and what PyTorch needs from Python: exported bundles are tried with them"
    "$torch_environment/bin/pip" install -q --disable-pip-version-check typing_extensions filelock sympy networkx jinja2 fsspec numpy \
        transformers==5.24.0 2>/dev/null
    touch "$torch_environment/complete-python"
}

install_missing() {
    as_root dpkg --configure -a >/dev/null # finishes an interrupted set-up
    if [ ${#missing[@]} -gt 0 ]; then
        as_root apt-get update -qq
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
        missing=()
    fi
}

# build PRESET [cmake flags]: configures and builds one preset with every core.
build() {
    local preset=$1
    shift
    say "builds preset '$preset'"
    cmake --preset "$preset" ${CI:+-DLOADLINE_WERROR=ON} "$@" >/dev/null
    cmake --build --preset "$preset"
}
