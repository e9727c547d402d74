"""Checks every include line against the layers of docs/architecture.md.

The table below is the truth; the drawing in the documentation is decoration.
"""
import re

import common

# Folder -> what its files may include, as prefixes of include paths. A folder may include itself.
FOREIGN_MLIR = ("mlir/", "llvm/")
LIB = ("lib/Support",)
SPARSITY = ("dialects/Sparsity",)
SELECT = SPARSITY + ("dialects/Select",)
ATTN = SELECT + ("dialects/Attn",)
TILE = ATTN + ("dialects/Tile",)
HOPPER = TILE + ("dialects/Hopper",)
LAYERS = {
    "lib/include": (),
    "lib/Support": ("fmt/",),
    "lib/Reference": ("fmt/",) + LIB,
    "lib/Selection": LIB,
    "lib/Artifact": ("fmt/",) + LIB,
    "lib/Device": (),
    "runtime": ("fmt/", "lib"),
    "compiler/include": ("lib",),
    "dialects/Sparsity": ("lib",) + FOREIGN_MLIR,
    "dialects/Select": ("lib",) + SPARSITY + FOREIGN_MLIR,
    "dialects/Attn": ("lib",) + SELECT + FOREIGN_MLIR,
    "dialects/Tile": ("lib",) + ATTN + FOREIGN_MLIR,
    "dialects/Hopper": ("lib",) + TILE + FOREIGN_MLIR,
    "compiler/Analysis": ("lib",) + TILE + FOREIGN_MLIR,
    "compiler/Passes": ("lib", "compiler/Analysis") + HOPPER + FOREIGN_MLIR,
    "compiler/Cpu": ("lib", "compiler/Analysis", "compiler/Passes/Passes.h",
                     "compiler/Passes/Passes.h.inc") + TILE + FOREIGN_MLIR,
    "compiler/Emit": ("lib",) + HOPPER + FOREIGN_MLIR,
    "compiler/Pipelines":
        ("lib", "compiler/Analysis", "compiler/Passes", "compiler/Cpu") + HOPPER + FOREIGN_MLIR,
    "bindings": ("fmt/", "dlpack/", "lib", "runtime", "compiler"),
    "compiler/Driver": ("fmt/", "lib", "compiler") + HOPPER + FOREIGN_MLIR,
}
# Headers of <area>/include/lacuna are included as "lacuna/X.h".
PUBLIC = re.compile(r"^(\w+)/include/(lacuna/.+)$")
INCLUDE = re.compile(r'^\s*#?\s*include\s+(["<])([^">]+)[">]')


def layer_of(path):
    """The longest folder of the table that holds the path, or none."""
    return max((folder for folder in LAYERS if str(path).startswith(folder + "/")), key=len, default=None)


def allowed(layer, header, areas):
    """Whether a file of the layer may include the header."""
    if (area := areas.get(header)) is not None:
        return area == "lib" or layer.startswith(area) or area in LAYERS[layer]
    if "/" not in header or header.startswith("sys/"):
        return True  # the standard libraries of C++ and of the system
    if header.startswith(layer + "/"):
        return True
    return any(header == prefix or header.startswith(prefix if prefix.endswith("/") else prefix + "/")
               for prefix in LAYERS[layer])


def main():
    sources = common.files(".h", ".cpp", ".td", ".def")
    areas = {match[2]: match[1] for path in sources if (match := PUBLIC.match(str(path)))}
    problems = []
    for path in sources:
        layer = layer_of(path)
        outside = not str(path).startswith(("tools/", "examples/", "test/"))
        if layer is None and outside:
            problems.append((path, 1, "expected a folder of the layer table in tools/lint/layers.py"))
            continue
        for number, line in enumerate(common.read(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            if match[2].startswith("test/") and not str(path).startswith("test/"):
                problems.append((path, number, f"only test/ may include '{match[2]}'"))
            elif layer is not None and not allowed(layer, match[2], areas):
                problems.append((path, number, f"{layer} may not include '{match[2]}'"))
    common.finish("layers", problems)


main()
