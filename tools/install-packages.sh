#!/bin/sh
# Installs what Lacuna is built and tested with, and nothing when it is all there. Debian 12 or newer.
#
#   sh tools/install-packages.sh
set -eu

# LLVM and MLIR 22 with their test tools, the compiler that the presets name, and the test libraries.
packages="llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 libclang-rt-22-dev lld-22 clang-format-22
  g++ cmake ninja-build ccache libzstd-dev zlib1g-dev libfmt-dev libgtest-dev libgmock-dev python3 git"

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install-packages: this system has no dpkg; install by its own means: $packages" >&2
  exit 3
fi

missing=
for package in $packages; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "install-packages: these packages are missing, and installing them needs root:$missing" >&2
    exit 3
  fi
  as_root=sudo
fi
echo "installing:$missing"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
