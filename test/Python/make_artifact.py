"""make_artifact.py FILE writes an artifact for tests that run without the compiler."""
import sys

import support

import lacuna

lacuna.compile(support.WINDOW_F16, target="cuda").save(sys.argv[1])
