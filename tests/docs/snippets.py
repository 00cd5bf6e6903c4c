"""The Python of the documents as files, for type checkers: `python -m tests.docs.snippets build/snippets`."""

import sys
from pathlib import Path

from tests.docs.documents import PAGES, ROOT
from tests.docs.walkthrough import steps


def write(folder: Path) -> list[Path]:
    """The files written, in a folder that holds no others: one for each page, whose blocks share a namespace."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    written = []
    for page in PAGES:
        name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
        code = [step.text for step in steps(page.read_text()) if step.kind == "python" and step.path is None]
        if code:
            written.append(folder / f"{name}.py")
            written[-1].write_text("\n".join(code))
    return written


if __name__ == "__main__":
    write(Path(sys.argv[1]))
