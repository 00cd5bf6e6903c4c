"""What is kept of another runtime's results on drawn models, so that a changed rule is noticed without the runtime.

A line of such a file is of one model: the form, the number of the model, a digest of what was drawn, and for each
profile a digest of all results. Floats, which may lie some units in the last place apart, are there themselves: the
greatest magnitude and some elements of each result.
"""

import argparse
import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from qrt.models.diff.tally import DifferenceTally
from qrt.models.importing.comparison_source import Bound
from qrt.ops.core import Array
from qrt.tensor import QuantTensor

KEPT = 8
"""Elements of a float result."""


@dataclass(frozen=True)
class Line:
    """A model of a file: ``results`` has what is kept of the profiles' results, by profile."""

    name: str
    number: int
    digest: str
    results: dict[str, str]


def read_lines(file: Path, profiles: Sequence[str]) -> tuple[Line, ...]:
    """The lines of a file, which has a column for each profile."""
    found = []
    for text in file.read_text().splitlines():
        if text.startswith("#"):
            continue
        name, number, said, *results = text.split("\t")
        by_profile = dict(zip(profiles, results, strict=True))
        found.append(Line(name, int(number), said, {p: text for p, text in by_profile.items() if text != "-"}))
    return tuple(found)


def write_lines(file: Path, head: str, lines: Iterable[Line], profiles: Sequence[str]) -> None:
    """Writes the file."""
    text = [
        "\t".join([line.name, str(line.number), line.digest, *(line.results.get(p, "-") for p in profiles)])
        for line in lines
    ]
    file.write_text("\n".join([f"# {head}", *text, ""]))


def digest(arrays: Iterable[Array]) -> str:
    """Of the dtypes, the shapes and all bytes."""
    made = blake2b(digest_size=4)
    for array in arrays:
        made.update(f"{array.dtype}{array.shape}".encode())
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()


def digest_of(content: bytes, inputs: Sequence[Sequence[Array]]) -> str:
    """Of a model and the inputs of its runs."""
    return digest([np.frombuffer(content, np.uint8), *(array for run in inputs for array in run)])


def storage(value: object) -> Array:
    """A result of a program as another runtime gives it."""
    return np.asarray(value.storage if isinstance(value, QuantTensor) else value)


def kept(results: Sequence[Sequence[Array]]) -> str:
    """What a file has of the results of all runs."""
    columns = [list(column) for column in zip(*results, strict=True)]
    exact = [array for column in columns if column[0].dtype.kind != "f" for array in column]
    floats = [_sample(column) for column in columns if column[0].dtype.kind == "f"]
    said = [digest(exact)] if exact else []
    return ",".join(said + [base64.b64encode(each.tobytes()).decode() for each in floats])


def _sample(runs: Sequence[Array]) -> Array:
    """The greatest magnitude of a result of all runs, which bounds what sums may lose, and some of its elements."""
    flat = np.concatenate([array.ravel() for array in runs]).astype(np.float32)
    greatest = np.abs(flat[np.isfinite(flat)]).max(initial=0)
    places = np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int)
    return np.append(np.float32(greatest), flat[places])


def same(found: str, wanted: str, bound: Bound) -> bool:
    """Whether what is kept of two runtimes is the same: of floats, within the bound."""
    parts = found.split(","), wanted.split(",")
    return len(parts[0]) == len(parts[1]) and all(map(lambda a, b: a == b or _near(a, b, bound), *parts))


def _near(found: str, wanted: str, bound: Bound) -> bool:
    if len(found) != len(wanted) or len(found) == 8:  # digests have 8 characters, floats more
        return False
    tally = DifferenceTally(bound)
    tally.add(*(np.frombuffer(base64.b64decode(text), np.float32) for text in (found, wanted)))
    return tally.differ == 0


def main(
    doc: str | None,
    write: Callable[[], None],
    lines: Callable[[], Sequence[Line]],
    differences: Callable[[Line, bool], list[str]],
) -> int:
    """Writes the file, or compares with it: prints the forms that differ, and returns 1 if there are any."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if not options.check:
        write()
        return 0
    failed = False
    for line in lines():
        if options.words and not line.name.startswith(tuple(options.words)):
            continue
        try:
            found = differences(line, True)
        except Exception as error:
            found = [repr(error)]
        if found:
            print(f"{line.name}, model {line.number}: {', '.join(found)}")
            failed = True
    return int(failed)


def wanted(names: Iterable[tuple[str, str]], further: Mapping[str, Sequence[int]]) -> set[tuple[str, int, str]]:
    """The models and profiles that a file must have: of each form its first, and those that are said."""
    return {(name, number, profile) for name, profile in names for number in (0, *further.get(name, ()))}
