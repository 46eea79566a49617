#!/usr/bin/env bash
# Makes the relocatable archive. See --help.
set -euo pipefail

usage() {
  cat << 'EOF'
usage: packaging/tarball.sh [--build DIR] [--output FILE] [--help]

Makes an archive of a finished build for a machine with only a driver: libtilus.so.0 with the
protobuf-lite, Abseil and benchmark libraries beside it, headers, tilusc, the GPU tests and
benchmarks, and the programs of examples and tests. It may be unpacked anywhere.

  --build DIR    the build folder (build/release)
  --output FILE  the archive (DIR/libtilus-VERSION-linux-ARCH.tar.gz)

Needs patchelf; prints the size, the C library version that the binaries ask for, and the path.
EOF
}

die() { printf 'tarball.sh: %s\n' "$*" >&2; exit 1; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release output=
while (($# > 0)); do
  case $1 in
    --build) build=$(cd "${2:?--build needs a folder}" && pwd); shift ;;
    --output) output=$(realpath -m "${2:?--output needs a file}"); shift ;;
    --help | -h) usage; exit 0 ;;
    *) printf 'tarball.sh: unknown option %s\n' "$1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
for tool in patchelf strip ldd cmake; do
  command -v $tool > /dev/null || die "$tool is needed"
done
[[ -e $build/lib/libtilus.so.0 ]] || die "$build holds no libtilus.so.0; build it first"

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=libtilus-$version-linux-$(uname -m)
output=${output:-$build/$name.tar.gz}
max_bytes=$((40 * 1024 * 1024))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/$name

cmake --install "$build" --prefix "$stage" --strip > /dev/null
for program in gpu_test gpu_bench compile_bench; do
  if [[ -x $build/bin/$program ]]; then
    strip -o "$stage/bin/$program" "$build/bin/$program"
  else
    printf 'tarball.sh: left out bin/%s, which the build does not have\n' "$program" >&2
  fi
done

# Libraries that a machine with only a driver and a C++ runtime does not have.
bundled='/lib(protobuf-lite|absl_[a-z0-9_]+|benchmark|gtest|gmock)[^/]*\.so[^/]*$'
ldd "$stage"/bin/* "$stage"/lib/libtilus.so.0 2> /dev/null | awk '$2 == "=>" {print $3}' | sort -u |
  grep -E "$bundled" | while read -r library; do
  cp -L "$library" "$stage/lib/"
done
chmod u+w "$stage"/lib/*.so*

# RUNPATH is not inherited, so each library gets its own.
for library in "$stage"/lib/*.so.*; do
  # shellcheck disable=SC2016  # $ORIGIN is the loader's
  [[ -L $library ]] || patchelf --set-rpath '$ORIGIN' "$library"
done
for program in "$stage"/bin/*; do
  # shellcheck disable=SC2016
  patchelf --set-rpath '$ORIGIN/../lib' "$program"
done

# The same folders as in the source tree, which is where the tests look for programs.
cd "$root"
find examples tests \( -name '*.tilus' -o -name '*.json' \
  -o -path 'examples/data/*' -o -path 'tests/data/*' \) -type f -print0 |
  xargs -0 cp --parents -t "$stage"
cp README.md LICENSE "$stage"

tar --create --gzip --file "$output" --directory "$work" --sort=name --owner=0 --group=0 \
  --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" "$name"
size=$(stat -c %s "$output")
needed=$(objdump -T "$stage"/bin/* "$stage"/lib/*.so.* 2> /dev/null |
  grep -oE '(GLIBC|GLIBCXX)_[0-9.]+' | sort -uV | awk -F_ '{last[$1] = $2}
    END {print "glibc " last["GLIBC"] ", libstdc++ GLIBCXX_" last["GLIBCXX"]}')
printf 'needs %s\n%s bytes %s\n' "$needed" "$size" "$output"
((size <= max_bytes)) || die "the archive is larger than $max_bytes bytes"
