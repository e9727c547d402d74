# How lit finds and runs Lacuna's command-line tests.
import os
import sys

import lit.formats

config.name = "Lacuna"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "Fuzz", "Support"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.lacuna_binary_dir, "test")

tools = [config.lacuna_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(tools)
config.substitutions.append(("%examples", os.path.join(config.lacuna_source_dir, "examples")))
config.substitutions.append(("%source", config.lacuna_source_dir))
# %exits CODE COMMAND... succeeds when the command exits with exactly that code.
exits = os.path.join(config.lacuna_source_dir, "test", "Support", "exits.py")
config.substitutions.append(("%exits", f"{sys.executable} {exits}"))
