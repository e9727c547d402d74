#!/bin/sh
# Everything that tests, from a fresh clone. The last line is "N passed, N failed, N skipped" over all
# suites; the exit code is 0 when nothing failed.
#
#   sh tools/check.sh             all suites
#   sh tools/check.sh lints lit   some of them; docs/testing.md lists the names
set -eu
cd "$(dirname "$0")/.."

sh tools/install-packages.sh
exec python3 tools/check.py "$@"
