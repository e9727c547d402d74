"""Checks what a library exports: exports.py LIBRARY MAP HEADER.

The map (bindings/C/lacuna.map) is the checked-in list; the header declares the same functions, the library exports
them and nothing else, under the map's version, and its name on disk is the one that programs are linked with.
"""
import re
import subprocess
import sys


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main(library, symbol_map, header):
    text = open(symbol_map, encoding="utf-8").read()
    nodes = re.findall(r"(\w+)\s*\{\s*global:(.*?)(?:local:.*?)?\}", text, re.S)
    listed = {f"{name}@@{node}" for node, names in nodes for name in re.findall(r"\w+", names)}
    exported = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", library)}
    # Versions are symbols of their own.
    exported -= {node for node, _ in nodes} | {f"{node}@@{node}" for node, _ in nodes}
    source = open(header, encoding="utf-8").read()
    declared = set(re.findall(r"^LACUNA_API [^;]*?\b(lacuna_\w+)\(", source, re.M))
    problems = [f"exported and not listed: {name}" for name in sorted(exported - listed)]
    problems += [f"listed and not exported: {name}" for name in sorted(listed - exported)]
    names = {name.split("@")[0] for name in listed}
    problems += [f"declared and not listed: {name}" for name in sorted(declared - names)]
    problems += [f"listed and not declared: {name}" for name in sorted(names - declared)]
    if not any("SONAME" in line and "[liblacuna.so.0]" in line for line in lines("readelf", "-d", library)):
        problems.append("the soname is not liblacuna.so.0")
    print("\n".join(problems) or f"{len(listed)} symbols as listed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
