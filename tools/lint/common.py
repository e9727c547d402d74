"""What the lints share: the files of the tree, and how problems are reported."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def files(*suffixes):
    """Tracked and new files with one of the suffixes (all files when none is given), as paths relative
    to the root. Ignored files, build folders among them, do not count."""
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                             check=False, capture_output=True, text=True)
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:  # A source archive has no repository.
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build/", ".git/"))]
    return sorted(pathlib.PurePosixPath(name) for name in names
                  if (not suffixes or name.endswith(suffixes)) and (ROOT / name).is_file())


def read(path):
    """The text of a file given relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def finish(name, problems):
    """Prints the problems, `(path, line, text)` each, and exits with 1 when there is one."""
    for path, line, text in problems:
        print(f"{path}:{line}: {text}")
    print(f"{name}: {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    sys.exit(1 if problems else 0)
