#!/bin/sh
# Installs what Lacuna is built and tested with, and nothing when it is all there. Debian 12 or newer.
#
#   sh tools/install-packages.sh
#
# Where there is no CUDA toolkit, wheels go to build/nvrtc and build/nvdisasm, which Lacuna searches.
set -eu

# Kernels are compiled by this version in tests; without it those tests are skipped.
nvrtc=nvidia-cuda-nvrtc==13.0.88
# Counts instructions of kernels in reports; without it the reports leave them out.
nvdisasm=nvidia-cuda-nvdisasm==13.2.51
root=$(cd "$(dirname "$0")/.." && pwd)

fetch_nvrtc() {
  for library in "${LACUNA_NVRTC:-}" "${CUDA_HOME:-/usr/local/cuda}"/lib*/libnvrtc.so.1[23] \
    /usr/local/cuda*/lib*/libnvrtc.so.1[23] "$root"/build/nvrtc/nvidia/*/lib/libnvrtc.so.1[23]; do
    if [ -e "$library" ]; then return 0; fi
  done
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "install-packages: no NVRTC and no pip to fetch it; tests that compile kernels are skipped" >&2
    return 0
  fi
  echo "fetching $nvrtc"
  if ! python3 -m pip install -q --disable-pip-version-check --no-deps --target "$root/build/nvrtc" "$nvrtc"; then
    rm -rf "$root/build/nvrtc"
    echo "install-packages: cannot fetch $nvrtc; tests that compile kernels are skipped" >&2
  fi
}

fetch_nvdisasm() {
  for program in "${LACUNA_NVDISASM:-}" "${CUDA_HOME:-/usr/local/cuda}/bin/nvdisasm" \
    "$root"/build/nvdisasm/nvidia/*/bin/nvdisasm; do
    if [ -x "$program" ]; then return 0; fi
  done
  if command -v nvdisasm >/dev/null 2>&1; then return 0; fi
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "install-packages: no nvdisasm and no pip to fetch it; reports count no instructions" >&2
    return 0
  fi
  echo "fetching $nvdisasm"
  if python3 -m pip install -q --disable-pip-version-check --no-deps --target "$root/build/nvdisasm" "$nvdisasm"; then
    chmod +x "$root"/build/nvdisasm/nvidia/*/bin/nvdisasm
  else
    rm -rf "$root/build/nvdisasm"
    echo "install-packages: cannot fetch $nvdisasm; reports count no instructions" >&2
  fi
}

# LLVM and MLIR 22 with their test tools, the compiler that the presets name, and the test libraries.
packages="llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 libclang-rt-22-dev lld-22 clang-format-22
  g++ cmake ninja-build ccache libzstd-dev zlib1g-dev libfmt-dev libgtest-dev libgmock-dev libdlpack-dev python3
  python3-numpy python3-setuptools python3-wheel git"

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "install-packages: this system has no dpkg; install by its own means: $packages" >&2
  exit 3
fi

missing=
for package in $packages; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  fetch_nvrtc
  fetch_nvdisasm
  exit 0
fi

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
fetch_nvrtc
fetch_nvdisasm
