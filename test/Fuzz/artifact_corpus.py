"""Collects the corpus of the artifact fuzzer: every example as `lacuna compile` writes it, without its source.

    python3 test/Fuzz/artifact_corpus.py FOLDER LACUNA

The text of a kernel is most of an artifact and nothing that reading looks at: one line of it stays.
"""
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE, ROW, CHECKSUM = 24, 48, 32
SOURCE = 2


def sections(data):
    """Kind, kernel and bytes of each section."""
    (count,) = struct.unpack_from("<I", data, 12)
    at = TABLE + count * ROW + CHECKSUM
    for number in range(count):
        kind, kernel, length = struct.unpack_from("<IIQ", data, TABLE + number * ROW)
        yield kind, kernel, data[at:at + length]
        at += length


def join(head, parts):
    """The artifact with these sections."""
    total = TABLE + len(parts) * ROW + CHECKSUM + sum(len(body) for _, _, body in parts)
    data = head[:12] + struct.pack("<IQ", len(parts), total)
    for kind, kernel, body in parts:
        data += struct.pack("<IIQ", kind, kernel, len(body)) + hashlib.sha256(body).digest()
    data += hashlib.sha256(data).digest()
    return data + b"".join(body for _, _, body in parts)


def artifact(lacuna, path):
    """The example's artifact with a short source, or None when the GPU has no kernel for it."""
    # Tokens of f32 have no kernel on the GPU.
    spec = re.sub(r"(tensor<[?0-9]*x[?0-9]*x[?0-9]*x[0-9]*x)f32", r"\1bf16", path.read_text(encoding="utf-8"))
    done = subprocess.run([lacuna, "compile", "/dev/stdin", "--emit=artifact", "--no-cache"], input=spec.encode(),
                          env={**os.environ, "LACUNA_NVRTC": "/nowhere"}, capture_output=True, check=False)
    if done.returncode != 0:
        return None
    parts = [(kind, kernel, body[:80] if kind == SOURCE else body) for kind, kernel, body in sections(done.stdout)]
    return join(done.stdout, parts)


def main(folder, lacuna):
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    examples = sorted(ROOT.glob("examples/*.mlir"))
    made = {path.stem: artifact(lacuna, path) for path in examples}
    for name, data in made.items():
        if data:
            (target / (name + ".artifact")).write_bytes(data)
    count = sum(data is not None for data in made.values())
    print(f"corpus: {count} artifacts of {len(examples)} examples")
    # Few would mean that the compiler does not work, and the fuzzer would find nothing.
    return 0 if 2 * count > len(examples) else 1


if len(sys.argv) != 3:
    sys.exit("usage: artifact_corpus.py FOLDER LACUNA")
sys.exit(main(sys.argv[1], sys.argv[2]))
