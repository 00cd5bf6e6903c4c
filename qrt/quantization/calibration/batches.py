"""The division of data into batches, one for each run of a program.

Data are arrays by input name, iterables of batches by input name, or an iterable of mappings from input names to
batches.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from qrt.errors import ModelError, QuantTypeError, plural, shown
from qrt.quantization.calibration.sample import ROWS
from qrt.runtime.ports import Port, in_order
from qrt.runtime.program import Program
from qrt.tensor import QuantTensor

Batch = Mapping[str, Any]
Data = Mapping[str, Any] | Iterable[Batch]
_END = object()


def batches(program: Program, data: Data) -> Iterator[tuple[str, Batch]]:
    """Yield a name for messages (``batch 1``) and the arrays by input name, for each run of a program on data.

    Raises ModelError if inputs are missing, unknown or empty, or have different numbers of batches.
    """
    if not program.inputs:
        raise ModelError(f"{program.name} has no inputs, so it cannot be calibrated with data")
    if not isinstance(data, Mapping | Iterable) or isinstance(data, str | bytes | np.ndarray | QuantTensor):
        raise QuantTypeError(f"'data' must be a mapping from names of inputs to arrays or batches, got {shown(data)}")
    if isinstance(data, Mapping):
        in_order(data, program.inputs)
        if all(map(_is_array, data.values())):
            for number, part in enumerate(_parts(program, data, "the data", ROWS), 1):
                yield f"batch {number}", part
            return
        data = _side_by_side(data)
    for number, batch in enumerate(data, 1):
        where = f"batch {number}"
        if not isinstance(batch, Mapping):
            raise QuantTypeError(f"{where} must be a mapping from names of inputs to arrays, got {shown(batch)}")
        try:
            in_order(batch, program.inputs)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        for part in _parts(program, batch, where, None):
            yield where, part


def run_count(program: Program, data: Data) -> int | None:
    """Return the number of runs that ``batches`` will yield; None if iterables do not tell their length."""
    if isinstance(data, Mapping) and all(map(_is_array, data.values())):
        return max(
            (len(_cuts(data[p.name], p, "the data", ROWS)) for p in program.inputs if p.name in data), default=None
        )
    parts = list(data.values()) if isinstance(data, Mapping) else [data]
    is_cut = any(port.type.shape and port.type.shape[0] is not None for port in program.inputs)
    return len(parts[0]) if parts and isinstance(parts[0], Sized) and not is_cut else None


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray | np.generic | QuantTensor)


def _side_by_side(data: Mapping[str, Any]) -> Iterator[Batch]:
    """Iterate over the batches of several inputs at once: yield mappings with the next batch of each input.

    Raises ModelError if an input is no iterable of batches, or ends before another input.
    """
    for name, value in data.items():
        if _is_array(value) or not isinstance(value, Iterable):
            others = min(name for name, other in data.items() if not _is_array(other))
            raise ModelError(
                f"all inputs must be arrays, or all iterables of batches, but input {name!r} is an array and "
                f"{others!r} has batches: give a list of batches for each input"
                if _is_array(value)
                else f"input {name!r} must be an array or an iterable of batches, got {shown(value)}"
            )
    sources = {name: iter(value) for name, value in data.items()}
    number = 0
    while True:
        number += 1
        batch = {name: next(source, _END) for name, source in sources.items()}
        ended = [name for name, value in batch.items() if value is _END]
        if len(ended) == len(batch):
            return
        if ended:
            more = next(name for name in batch if name not in ended)
            batches = plural(number - 1, "batch", "batches")
            raise ModelError(
                f"all inputs must have the same number of batches, but input {ended[0]!r} ends after {batches}, "
                f"and {more!r} has more"
            )
        yield batch


def _parts(program: Program, batch: Batch, where: str, rows: int | None) -> Iterator[Batch]:
    """Split a batch along its first axis into parts with the number of rows that the program's inputs have.

    An input with a dynamic number of rows takes parts of ``rows`` rows, or the whole batch if ``rows`` is None.
    """
    arrays = {port.name: _array(batch[port.name], port, where) for port in program.inputs}
    cut = {port.name: _cuts(arrays[port.name], port, where, rows) for port in program.inputs}
    counts = {name: len(parts) for name, parts in cut.items()}
    if len(set(counts.values())) > 1:
        (one, a), (other, b) = next((x, y) for x in counts.items() for y in counts.items() if x[1] != y[1])
        raise ModelError(
            f"{where}: all inputs must have rows for the same number of runs, but input {one!r} has rows for {a} "
            f"and {other!r} for {b}"
        )
    for number in range(next(iter(counts.values()))):
        yield {name: arrays[name][parts[number]] if parts[number] else arrays[name] for name, parts in cut.items()}


def _array(value: Any, port: Port, where: str) -> Any:
    array = value if isinstance(value, QuantTensor) else np.asarray(value)
    if 0 in array.shape:
        raise ModelError(f"{where}: input {port.name!r} must have elements, got shape {list(array.shape)}")
    return array


def _cuts(array: Any, port: Port, where: str, rows: int | None) -> Sequence[tuple[slice, ...]]:
    """Return indices that split an array into parts for an input of the program; ``()`` selects the whole array."""
    shape = port.type.shape
    if not shape or len(shape) != len(array.shape):
        return [()]
    count, size = array.shape[0], shape[0] or rows
    if size is None or count == size:
        return [()]
    if shape[0] is not None and count % size:
        raise ModelError(
            f"{where}: the number of rows of input {port.name!r} must be a multiple of {size}, because the program "
            "takes "
            f"{size} rows at a time, got {count}"
        )
    return [(slice(start, start + size),) for start in range(0, count, size)]
