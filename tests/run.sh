#!/usr/bin/env bash
# Installs what is missing, builds with warnings as errors, and runs every test; then the same for
# an AddressSanitizer + UBSan build. Ends with a table of minutes per part. See --help.
set -uo pipefail

usage() {
  cat << 'EOF'
usage: tests/run.sh [--quick] [--clang] [--tsan] [--no-install] [--help]

Installs missing Debian packages (apt-get; root or sudo) and parts of the CUDA toolkit (wheels from
PyPI, unpacked into ~/.cache/libtilus/cuda; $TILUS_CUDA_DIR overrides), builds in build/release and
build/asan, runs ctest in each, and prints the minutes of each part.

  --quick       only the release build and its tests, without the sanitizer build
  --clang       also build with clang (build/clang) and run its tests
  --tsan        also build with ThreadSanitizer (build/tsan) and run its tests
  --no-install  install nothing: use what is there
  --help        print this

Exit status: 0 when everything passed, 1 when a part failed, 2 for a usage error.
EOF
}

quick=no clang=no tsan=no install=yes
for option in "$@"; do
  case $option in
    --quick) quick=yes ;;
    --clang) clang=yes ;;
    --tsan) tsan=yes ;;
    --no-install) install=no ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'tests/run.sh: unknown option %s\n' "$option" >&2; usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=packaging/setup/setup.sh
source packaging/setup/setup.sh
jobs=$(nproc)
export CTEST_OUTPUT_ON_FAILURE=1 GTEST_BRIEF=1
# A test that needs ptxas or nvJitLink fails without it here; by hand it is skipped.
export TILUS_REQUIRE_CUDA_TOOLS=1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1

part_names=() part_seconds=() part_results=()

# part NAME COMMAND...: runs it in this shell, notes its time and result for the table.
part() {
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n=== %s\n' "$name"
  "$@" < /dev/null || status=$?
  part_names+=("$name")
  part_seconds+=($((SECONDS - start)))
  if ((status == 0)); then part_results+=(ok); else part_results+=("FAILED ($status)"); fi
  return $status
}

print_table() {
  local i total=0
  printf '\n%-36s %8s  %s\n' part minutes result
  for i in "${!part_names[@]}"; do
    total=$((total + part_seconds[i]))
    printf '%-36s %8s  %s\n' "${part_names[i]}" "$(minutes "${part_seconds[i]}")" \
      "${part_results[i]}"
  done
  printf '%-36s %8s\n' total "$(minutes $total)"
}

minutes() { printf '%d.%02d' $(($1 / 60)) $(($1 % 60 * 100 / 60)); }

install_parts() {
  local groups=()
  if [[ $clang == yes ]]; then groups+=(clang); fi
  setup_packages "${groups[@]}" && setup_cuda_tools
}

# build_and_test NAME PRESET CMAKE_OPTION...: the build folder is build/NAME.
build_and_test() {
  local name=$1 preset=$2
  shift 2
  part "$name: configure" cmake --preset "$preset" -B "build/$name" "$@" &&
    part "$name: build" cmake --build "build/$name" -j "$jobs" &&
    part "$name: test" "${launcher[@]}" ctest --test-dir "build/$name" -j "$jobs" --timeout 900 \
      --no-tests=error
}

launcher=()
failures=0
if [[ $install == yes ]]; then
  part install install_parts || { print_table; exit 1; }
else
  find_cuda_tools || complain "the CUDA tools are missing, so tests that need them will fail"
fi

# Warnings are errors in the plain builds; under sanitizers gcc 12 warns of what is not so.
build_and_test release release -DTILUS_WERROR=ON || ((++failures))
if [[ $quick == no ]]; then
  build_and_test asan asan -DTILUS_BUILD_BENCHMARKS=OFF || ((++failures))
fi
if [[ $clang == yes ]]; then
  build_and_test clang release -DTILUS_WERROR=ON -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 ||
    ((++failures))
fi
if [[ $tsan == yes ]]; then
  # The thread sanitizer of gcc 12 cannot map its shadow under the address randomisation of newer
  # kernels.
  launcher=(setarch "$(uname -m)" --addr-no-randomize)
  build_and_test tsan tsan -DTILUS_BUILD_BENCHMARKS=OFF || ((++failures))
fi

print_table
if ((failures > 0)); then
  printf 'tests/run.sh: FAILED\n'
  exit 1
fi
printf 'tests/run.sh: ok\n'
