"""Collects the fuzzer's corpus: every function of the examples and the lit tests, one file each.

    python3 test/Fuzz/corpus.py FOLDER
"""
import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LARGEST = 8192


def pieces(path):
    """The parts of a file between `// -----` lines, without comments."""
    for part in path.read_text(encoding="utf-8").split("// -----"):
        lines = [line for line in part.splitlines() if not line.lstrip().startswith("//")]
        text = "\n".join(lines).strip() + "\n"
        if 1 < len(text) <= LARGEST:
            yield text


def main(folder):
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    sources = sorted(ROOT.glob("examples/*.mlir")) + sorted(ROOT.glob("test/**/*.mlir"))
    texts = {text for source in sources for text in pieces(source)}
    for text in texts:
        (target / (hashlib.sha256(text.encode()).hexdigest()[:16] + ".mlir")).write_text(text)
    print(f"corpus: {len(texts)} inputs from {len(sources)} files")


if len(sys.argv) != 2:
    sys.exit("usage: corpus.py FOLDER")
main(sys.argv[1])
