"""The picture of docs/internals/architecture.md, drawn from the imports of the sources: `python -m tests.expected`.

Each row is a layer of the contract in pyproject.toml, each box a package or a file directly below `qrt`. A grey line
joins a part with a part that it imports. The coloured lines follow the data of a call through the parts.
"""

import ast
import tomllib
from itertools import pairwise
from pathlib import Path

from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "internals" / "architecture.svg"

WAYS = {
    "a @ w": ("#c2410c", ("tensor", "ops", "_ext")),
    "qrt run f.mlir": ("#1d4ed8", ("cli", "ir", "runtime", "ops", "_ext")),
    "load, compile, call": ("#15803d", ("models", "ir", "runtime", "_ext")),
}
"""The parts that the data of a call goes through, in their order."""

_WIDTH, _ROW, _TOP = 960, 74, 46
_BOX = (150, 40)


def layers() -> list[list[str]]:
    """Return the parts of `qrt` by layer, the highest first, as import-linter's contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    contract = next(contract for contract in contracts if contract.get("containers") == ["qrt"])
    return [[part.strip() for part in layer.split("|")] for layer in contract["layers"]]


def sources() -> dict[str, list[Path]]:
    """Return the Python and Cython files of each part."""
    files: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "qrt").rglob("*.py*")):
        if path.suffix in {".py", ".pyx", ".pxi"}:
            part = path.relative_to(ROOT / "qrt").parts[0].removesuffix(".py")
            files.setdefault(part, []).append(path)
    return files


def part_imports(files: dict[str, list[Path]]) -> set[tuple[str, str]]:
    """Return the pairs of a part and a part that it imports, imports for types included."""
    pairs: set[tuple[str, str]] = set()
    for part, paths in files.items():
        for path in paths:
            if path.suffix != ".py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "qrt":
                    parts = node.module.split(".")[1:2] or [alias.name for alias in node.names]
                    pairs.update((part, target) for target in parts if target in files and target != part)
    return pairs


def picture() -> str:
    """Return the SVG."""
    files, rows = sources(), layers()
    centers: dict[str, tuple[float, float]] = {}
    for index, row in enumerate(rows):
        for place, part in enumerate(row):
            centers[part] = (_WIDTH * (place + 1) / (len(row) + 1), _TOP + index * _ROW + _BOX[1] / 2)
    height = _TOP + len(rows) * _ROW + 20
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        'font-family="sans-serif" font-size="14">',
        "<title>The packages of qrt, by layer, with their imports</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for part, target in sorted(part_imports(files)):
        if part in centers and target in centers:
            lines.append(_line(centers[part], centers[target], "#d4d4d8", 1.2))
    for index, (name, (color, parts)) in enumerate(WAYS.items()):
        shift = 14 * (index - 1)
        points = [(centers[part][0] + shift, centers[part][1]) for part in parts]
        lines += [_line(start, end, color, 2.5) for start, end in pairwise(points)]
        x = 20 + 230 * index
        lines.append(f'<line x1="{x}" y1="20" x2="{x + 28}" y2="20" stroke="{color}" stroke-width="3"/>')
        lines.append(f'<text x="{x + 36}" y="25" fill="#18181b">{name}</text>')
    for part, (x, y) in centers.items():
        left, top = x - _BOX[0] / 2, y - _BOX[1] / 2
        lines.append(
            f'<rect x="{left:g}" y="{top:g}" width="{_BOX[0]}" height="{_BOX[1]}" rx="6" '
            'fill="#f4f4f5" stroke="#52525b"/>'
        )
        lines.append(f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" font-weight="bold">{part}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _line(start: tuple[float, float], end: tuple[float, float], color: str, width: float) -> str:
    """Return a curve between the centers of two boxes; the boxes are drawn over its ends."""
    (x1, y1), (x2, y2) = start, end
    bend = (y2 - y1) / 2
    return (
        f'<path d="M{x1:g} {y1:g} C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}" fill="none" '
        f'stroke="{color}" stroke-width="{width:.1f}"/>'
    )
