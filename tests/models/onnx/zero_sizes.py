"""Models with a size of 0: copies of a model, one dimension of whose inputs, or all of the same size, are 0.

    python -m tests.models.onnx.zero_sizes [WORD ...]

compares the copies of the first model of each form whose name begins with one of the words with ONNX Runtime, and
prints those in which qrt fails with another error than its own, or gives other results. The status is 1 if there are
any. A copy that qrt refuses by its own error is counted, with the first line of the message with ``--refused``.
"""

import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx

from qrt.errors import QuantError
from qrt.models.engines.engine import Engine
from qrt.models.engines.ort import OnnxRuntime
from qrt.ops.core import Array
from tests.models.beside import Form
from tests.models.onnx import oracle
from tests.models.onnx.forms import forms as node_forms
from tests.models.onnx.running import run

Axes = frozenset[tuple[str, int]]
"""Axes of inputs, by the input's name and the axis."""


def models() -> Iterator[tuple[str, bytes, dict[str, Array]]]:
    """The first model of each form, with its name and the arrays of a run."""
    for name, form, _ in oracle.forms():
        yield name, *drawn(name, form)
    for made in node_forms():
        if made.inputs:
            yield f"node {made}", made.content(), made.inputs


def drawn(name: str, form: Form) -> tuple[bytes, dict[str, Array]]:
    """The first model of a form, and the arrays of its last run, which are no smallest ones."""
    rng = np.random.default_rng([0, zlib.crc32(name.encode()), 0])
    case = form(rng)
    assert case.inputs is not None
    arrays = list(case.inputs)[-1]
    graph = onnx.load_from_string(case.content).graph
    constants = {constant.name for constant in graph.initializer}
    names = [port.name for port in graph.input if port.name not in constants]
    return case.content, dict(zip(names, map(np.asarray, arrays), strict=True))


def copies(
    content: bytes, arrays: dict[str, Array], declares: bool = True
) -> Iterator[tuple[str, bytes, dict[str, Array]]]:
    """Each copy with sizes of 0, with a name; without ``declares`` those alone whose sizes only the run knows.

    Sizes of outputs are not declared.
    """
    graph = onnx.load_from_string(content).graph
    sizes = {
        (port.name, axis): size.dim_param or size.dim_value
        for port in graph.input
        if port.name in arrays
        for axis, size in enumerate(port.type.tensor_type.shape.dim)
        if arrays[port.name].shape[axis]
    }
    chosen: dict[Axes, str] = {}
    for size in dict.fromkeys(sizes.values()):
        chosen.setdefault(frozenset(axis for axis, other in sizes.items() if other == size), f"each size {size}")
    for axis in sizes:
        chosen.setdefault(frozenset([axis]), "axis {1} of {0}".format(*axis))
    for axes, name in chosen.items():
        given = {key: _cut(array, [axis for port, axis in axes if port == key]) for key, array in arrays.items()}
        for is_known in (False, True):
            message = onnx.load_from_string(content)
            _declare(message, axes, is_known)
            is_open = all(isinstance(sizes[axis], str) for axis in axes)
            if declares if is_known else is_open:
                yield f"{name}{', declared' * is_known}", message.SerializeToString(), given


def _cut(array: Array, axes: Sequence[int]) -> Array:
    return array[tuple(slice(0) if axis in axes else slice(None) for axis in range(array.ndim))]


def _declare(message: Any, axes: Axes, is_known: bool) -> None:
    del message.graph.value_info[:]
    for port in message.graph.output:
        if port.type.HasField("tensor_type"):
            port.type.tensor_type.ClearField("shape")
    for port in message.graph.input:
        for axis, size in enumerate(port.type.tensor_type.shape.dim):
            if (port.name, axis) in axes and (is_known or not size.dim_param):
                size.dim_value = 0


def outcome(content: bytes, arrays: dict[str, Array], engine: Engine) -> str:
    """Return "equal", "refused" and why, "alone" if ONNX Runtime has no results, or "wrong" and what is wrong."""
    try:
        loaded = engine.load(content)
        expected: list[Array] | None = loaded.run(list(arrays.values()))
        loaded.close()
    except QuantError:
        expected = None
    try:
        with np.errstate(all="ignore"):
            results = run(content, **arrays)
    except QuantError as error:
        return f"refused{' by both' * (expected is None)}: {str(error).splitlines()[0]}"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {str(error)[:200]}"
    if expected is None:
        return "alone"
    for ours, theirs in zip(results, expected, strict=True):
        if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
            return f"wrong: {ours.dtype}{list(ours.shape)} instead of {theirs.dtype}{list(theirs.shape)}"
        wide = [each.astype(np.float64) for each in (ours, theirs)]
        if not np.allclose(*wide, rtol=1e-5, atol=1e-5 if ours.dtype.kind == "f" else 0, equal_nan=True):
            return f"wrong: {ours.ravel()[:4]} instead of {theirs.ravel()[:4]}"
    return "equal"


def main(words: list[str]) -> int:
    prints = "--refused" in words
    words = [word for word in words if not word.startswith("--")]
    counts: Counter[str] = Counter()
    with OnnxRuntime(seconds=300) as engine:
        for name, content, arrays in models():
            if words and not name.startswith(tuple(words)):
                continue
            for copy, *given in copies(content, arrays):
                text = outcome(*given, engine)
                counts[text.partition(":")[0]] += 1
                if text.startswith("wrong") or (prints and text.startswith("refused:")):
                    print(f"{name}, {copy}: {text}", flush=True)
    print(dict(counts))
    return int(counts["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
