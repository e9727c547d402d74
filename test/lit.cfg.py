# How lit finds and runs Lacuna's command-line tests.
import ctypes
import glob
import os
import shutil
import sys

import lit.formats

config.name = "Lacuna"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "Fuzz", "Gpu", "Support"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.lacuna_binary_dir, "test")

# Nothing on disk from one test to the next; a test of the cache names a folder of its own.
config.environment["LACUNA_CACHE_SIZE"] = "0"
tools = [config.lacuna_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
config.environment["PATH"] = os.pathsep.join(tools)
config.substitutions.append(("%lib", os.path.join(config.lacuna_binary_dir, "lib")))
config.substitutions.append(("%examples", os.path.join(config.lacuna_source_dir, "examples")))
config.substitutions.append(("%source", config.lacuna_source_dir))
# A CUDA driver that writes nothing, for a folder that LD_LIBRARY_PATH names.
config.substitutions.append(("%fake_driver", config.lacuna_fake_driver))
# %emulated SPEC... checks a spec for the GPU with kernels that run on this host; %t/libcuda.so.1 is %fake_driver.
config.substitutions.append(("%emulated", f"env LD_LIBRARY_PATH=%t LACUNA_NVRTC={config.lacuna_emulated_nvrtc} "
                                          "lacuna run --target=cuda --check"))
config.substitutions.append(("%host_nvrtc", config.lacuna_emulated_nvrtc))
config.substitutions.append(("%cxx", config.lacuna_cxx))
config.substitutions.append(("%python", sys.executable))
# %exits CODE COMMAND... succeeds when the command exits with exactly that code.
exits = os.path.join(config.lacuna_source_dir, "test", "Support", "exits.py")
config.substitutions.append(("%exits", f"{sys.executable} {exits}"))
config.substitutions.append(("%interpreter", sys.executable))
# %bf16 FILE prints a spec with its tensors of f32 tokens (four axes) as bf16.
config.substitutions.append(("%bf16", r"sed 's/\(tensor<[?0-9]*x[?0-9]*x[?0-9]*x[0-9]*x\)f32/\1bf16/g'"))


def has_nvrtc():
    """Whether NVRTC loads from where tools/install-packages.sh and toolkits put it."""
    named = os.environ.get("LACUNA_NVRTC")
    roots = [os.environ.get("CUDA_HOME") or "/usr/local/cuda", *glob.glob("/usr/local/cuda-*")]
    roots.append(os.path.join(config.lacuna_source_dir, "build", "nvrtc", "nvidia", "cu13"))
    names = ["libnvrtc.so.13", "libnvrtc.so.12"]
    names += [path for root in roots for path in glob.glob(os.path.join(root, "lib*", "libnvrtc.so.1[23]"))]
    for name in [named] if named else names:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            continue
    return False


def has_nvdisasm():
    """Whether there is a disassembler where `lacuna compile` looks for one."""
    named = os.environ.get("LACUNA_NVDISASM")
    programs = [os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "bin", "nvdisasm"),
                "/usr/local/cuda/bin/nvdisasm", shutil.which("nvdisasm") or "",
                os.path.join(config.lacuna_source_dir, "build", "nvdisasm", "nvidia", "cu13", "bin", "nvdisasm")]
    return any(os.access(program, os.X_OK) for program in ([named] if named else programs) if program)


# The C library is built unless a sanitizer is.
if config.lacuna_bindings == "ON":
    config.available_features.add("bindings")
for variable in ("LACUNA_NVRTC", "LACUNA_NVDISASM", "CUDA_HOME"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
# Tests that compile kernels say `REQUIRES: nvrtc` and count as skipped elsewhere.
if has_nvrtc():
    config.available_features.add("nvrtc")
# Those that count instructions say `REQUIRES: nvdisasm`.
if has_nvdisasm():
    config.available_features.add("nvdisasm")
