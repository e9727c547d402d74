#!/bin/sh
# From a fresh clone to a checked result: installs packages when they are missing, builds the program,
# and runs an example against the oracle.
#
#   sh tools/quickstart.sh
set -eu
cd "$(dirname "$0")/.."

sh tools/install-packages.sh

echo "building (a few minutes the first time)"
cmake --preset release
cmake --build --preset release --target lacuna

example=examples/sliding_window_sinks.mlir
echo
echo "\$ build/release/bin/lacuna run $example --set n=4096,left=255 --target=cpu --check"
build/release/bin/lacuna run $example --set n=4096,left=255 --target=cpu --check
echo
echo "\$ build/release/bin/lacuna explain $example --set n=1048576,left=4095"
build/release/bin/lacuna explain $example --set n=1048576,left=4095
echo
echo "next: build/release/bin/lacuna --help, docs/README.md, and the other specs in examples/"
