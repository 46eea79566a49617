#!/usr/bin/env bash
# usage: install_test.sh SOURCE_DIR BUILD_DIR C_COMPILER CXX_COMPILER
#
# Installs into a prefix, moves the prefix, and from there builds and runs: the C example of the
# README with pkg-config as C99, the same with find_package, and a C++17 program with find_package.
set -euo pipefail
source_dir=$1 build_dir=$2 cc=$3 cxx=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { printf -- '--- %s\n' "$*"; }

step install and move
cmake --install "$build_dir" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved
if grep -rIl -e "$work/first" -e "$source_dir" -e "$build_dir" "$prefix"; then
  echo "the files above name the place they were built in or installed to"
  exit 1
fi
pc=$(find "$prefix" -name tilus.pc)
export PKG_CONFIG_PATH=${pc%/*}

step the README example, as C99 with pkg-config
cp -r "$source_dir/tests/package/consumer" "$work/consumer"
# The C program and the tile program that the README shows.
# shellcheck disable=SC2016  # the backticks are Markdown's
sed -n '/^```c$/,/^```$/p' "$source_dir/README.md" | sed '/^```/d' > "$work/consumer/readme.c"
sed -n '/^program /,/^}$/p' "$source_dir/README.md" > "$work/program.tilus"
cd "$work"
libdir=$(pkg-config --variable=libdir tilus)
read -ra flags < <(pkg-config --cflags --libs tilus)
"$cc" -std=c99 -pedantic -Wall -Wextra -Werror consumer/readme.c -o readme "${flags[@]}" \
  "-Wl,-rpath,$libdir"
./readme program.tilus | tee readme.out
grep -q '^\.version' readme.out

step the README example and a C++17 program, with find_package
cmake -G Ninja -S consumer -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" > cmake.log
cmake --build build >> cmake.log || { cat cmake.log; exit 1; }
./build/readme program.tilus | cmp - readme.out
./build/version "$(pkg-config --modversion tilus)"

if [[ -x $prefix/bin/tilusc ]]; then
  step the tool finds its library
  "$prefix/bin/tilusc" verify program.tilus
  LD_TRACE_LOADED_OBJECTS=1 "$prefix/bin/tilusc" | grep "libtilus.so.0 => $prefix/"
fi
step ok
