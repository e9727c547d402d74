"""Puts liblacuna.so into the wheel: LACUNA_LIBRARY names it, else it is that of build/release."""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def find_library() -> pathlib.Path:
    library = pathlib.Path(os.environ.get("LACUNA_LIBRARY") or ROOT / "build/release/lib/liblacuna.so.0")
    if not library.exists():
        raise SystemExit(f"setup: expected the library at '{library}'; build target lacuna-shared or set LACUNA_LIBRARY")
    return library


def find_version() -> str:
    """The library's own version, from the project's one place."""
    named = os.environ.get("LACUNA_VERSION")
    text = named or (ROOT / "CMakeLists.txt").read_text()
    return named or re.search(r"project\(Lacuna VERSION ([\d.]+)", text)[1]


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        target = pathlib.Path(self.build_lib) / "lacuna" / "liblacuna.so.0"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(find_library(), target)
        # Symbols for debuggers are a third of the file.
        if strip := shutil.which("strip"):
            subprocess.run([strip, "--strip-unneeded", str(target)], check=True)


class BinaryDistribution(Distribution):
    """Code of one machine, though no extension module is compiled."""

    def has_ext_modules(self) -> bool:
        return True


class PlatformWheel(bdist_wheel):
    """Of any Python."""

    def get_tag(self) -> tuple:
        return "py3", "none", super().get_tag()[2]


setup(version=find_version(), distclass=BinaryDistribution, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
