"""The ```python blocks of the documents as files, for type checkers: `python -m tests.docs.snippets build/snippets`."""

import sys
from pathlib import Path

from tests.docs.documents import PAGES, ROOT, blocks


def write(folder: Path) -> list[Path]:
    """The files written, one for each block, in a folder that holds no others."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    written = []
    for page in PAGES:
        name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
        for number, code in enumerate(blocks(page.read_text(), "python"), 1):
            written.append(folder / f"{name}_{number}.py")
            written[-1].write_text(code)
    return written


if __name__ == "__main__":
    write(Path(sys.argv[1]))
