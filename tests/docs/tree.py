"""A copy of the repository's sources, for what adds to them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs.documents import ROOT

FOLDERS, FILES = ("qrt", "tests", "docs"), ("CONTRIBUTING.md", "README.md", "Makefile", "pyproject.toml")
TO_BUILD = ("csrc", "setup.py", "LICENSE")


class Tree:
    """What an addition may touch. The compiled modules are links to those here."""

    def __init__(self, folder):
        self.folder = folder
        for name in FOLDERS:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so"))
        for name in FILES:
            shutil.copy2(ROOT / name, folder)
        for library in (ROOT / "qrt").rglob("*.so"):
            (folder / library.relative_to(ROOT)).symlink_to(library)

    def make(self, path, text):
        (self.folder / path).write_text(text)

    def edit(self, path, before, after):
        """The first occurrence of a text, in a file of the tree or of a module here, replaced."""
        text = (self.folder / path).read_text()
        assert before in text, f"{path} has no {before!r}"
        self.make(path, text.replace(before, after, 1))

    def append(self, path, text):
        self.make(path, (self.folder / path).read_text() + text)

    def run(self, *arguments):
        status, output = python(self.folder, "-m", *arguments)
        assert status == 0, output[-6000:]
        return output

    def touched(self):
        """The files that are not as they are here."""
        files = [path for name in (*FOLDERS, "csrc") for path in (self.folder / name).rglob("*") if path.is_file()]
        return {
            path.relative_to(self.folder).as_posix()
            for path in files
            if "__pycache__" not in path.parts
            and path.suffix != ".so"
            and not ((own := ROOT / path.relative_to(self.folder)).exists() and own.read_bytes() == path.read_bytes())
        }

    def with_c(self):
        """The C sources too, and no library: `setup.py` builds it there, without making again what Cython made here."""
        for name in TO_BUILD:
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, self.folder / name)
        translated = Path("build", "objects", "qrt")
        if (ROOT / translated).exists():
            shutil.copytree(ROOT / translated, self.folder / translated, ignore=shutil.ignore_patterns("*.o", "*.d"))
        for library in (self.folder / "qrt").rglob("*.so"):
            library.unlink()
        return self


def python(folder, *arguments):
    """The status of Python run in a tree, and what it prints."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "QRT_CFLAGS": "-O0"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout
