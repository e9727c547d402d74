"""Runs a command and checks its exit code, which lit's own `not` cannot: exits.py CODE COMMAND..."""
import subprocess
import sys

code = subprocess.run(sys.argv[2:], check=False).returncode
if code != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, got {code}: {' '.join(sys.argv[2:])}")
