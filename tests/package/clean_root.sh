#!/usr/bin/env bash
# usage: clean_root.sh FOLDER [COMMAND...]
#
# Runs COMMAND (default: both commands of the README, each twice, quickstart's second time without a
# network) on the committed tree in a Debian 12 that has nothing but its base tools: a root made in
# FOLDER by debootstrap. Needs root and debootstrap. FOLDER must not exist and is left for a look.
set -euo pipefail
root=${1:?the folder of the clean root}
shift
source_dir=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
[[ ! -e $root ]] || { echo "clean_root.sh: $root exists" >&2; exit 2; }

debootstrap --variant=minbase bookworm "$root" > /dev/null
# What a machine needs to reach its registries is its own matter, so it is taken over.
cp /etc/resolv.conf "$root/etc/"
if [[ -e /etc/pip.conf ]]; then cp /etc/pip.conf "$root/etc/"; fi
if compgen -G '/usr/local/share/ca-certificates/*' > /dev/null; then
  mkdir -p "$root/usr/local/share/ca-certificates"
  cp /usr/local/share/ca-certificates/* "$root/usr/local/share/ca-certificates/"
fi
mkdir "$root/src"
git -C "$source_dir" archive HEAD | tar -x -C "$root/src"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT

inside() {
  local network=()
  if [[ $1 == --no-network ]]; then network=(unshare --net) && shift; fi
  printf '\n##### %s\n' "${network[*]} $*"
  "${network[@]}" chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    bash -c 'cd /src && "$@"' _ "$@" < /dev/null
}

if (($# > 0)); then
  inside "$@"
else
  inside examples/quickstart.sh
  inside --no-network examples/quickstart.sh
  inside tests/run.sh
  inside --no-network tests/run.sh --quick
fi
