"""Saving of programs: each plan is made again while a recorder stores the arguments of every `bind_*` call."""

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import recorder
from qrt.errors import ModelError, require
from qrt.runtime.plan_source import PlanSource
from qrt.runtime.ports import Port
from qrt.runtime.saved.container import Arrays, write
from qrt.runtime.saved.index import MOST_TEXT
from qrt.runtime.saved.values import encode
from qrt.types import TensorType


def save(source: PlanSource, planned_types: Sequence[Sequence[TensorType]], path: str | os.PathLike[str]) -> None:
    """Write a program to a file, with its plans for these input types: see `Program.save`."""
    require(path, (str, os.PathLike), "Program.save: 'path'", "a string or a path")
    arrays = Arrays()
    plans = [_plan(source, types, arrays) for types in planned_types]
    index = {
        "name": source.name,
        "saturating": source.saturating,
        "stateful": source.is_stateful,
        "inputs": [_port(port) for port in source.inputs],
        "outputs": [_port(port) for port in source.outputs],
        "isa": kernels.active(),
        "plans": [plan for plan in plans if plan is not None],
        "program": np.frombuffer(_text(source, arrays), np.uint8),
    }
    write(os.fspath(path), encode(index, arrays.place), arrays)


def _port(port: Port) -> tuple[str, str, bool, str]:
    return port.name, str(port.type), port.in_place, port.spelled


def _plan(source: PlanSource, types: Sequence[TensorType], arrays: Arrays) -> Mapping[str, Any] | None:
    """Return the fields of the plan for these input types, to be encoded.

    Return None if a step is not a kernel; the plan must then be made from the program's text after loading.
    """
    with _recorded() as (calls, executables):
        plan = source.plan_module(types)
    if plan.executable is None:
        return None
    fields = executables[id(plan.executable)]
    return {
        "types": [str(t) for t in types],
        "results": [str(result) for result in plan.results],
        "states": list(plan.states.items()),
        "live_bytes": plan.memory.live_bytes,
        "calls": [calls[id(call)] for call in fields["calls"]],
        "packed": [call.packed for call in fields["calls"]],
        "operands": _operands(fields["operands"]),
        "bases": fields["bases"],
        "externals": [(dtype, tuple(shape)) for dtype, shape in fields["externals"]],
        "counts": (fields["inputs"], fields["outputs"], fields["arena_bytes"], fields["most_rounds"]),
    }


def _operands(operands: Sequence[Sequence[tuple[int, int]]]) -> tuple[Any, Any, Any]:
    """Return three flat lists: the number of operands of each call, the bases of all operands, and their offsets.

    ``operands`` has the (base, offset) of each operand of each call.
    """
    flat = [place for places in operands for place in places]
    return [len(places) for places in operands], [base for base, _ in flat], [offset for _, offset in flat]


@contextmanager
def _recorded() -> Iterator[tuple[dict[int, Any], dict[int, Any]]]:
    """Record what is bound in a `with` block: yield two dicts by the `id` of the bound objects.

    The first has (name, arguments) of each `bind_*` call, the second the arguments of each executable. The bound
    objects are kept alive until the block ends, so that no `id` is reused.
    """
    calls: dict[int, Any] = {}
    executables: dict[int, Any] = {}
    objects: list[Any] = []

    def note(name: str, arguments: Mapping[str, Any], result: Any) -> None:
        objects.append(result)
        if name == "Executable":
            executables[id(result)] = arguments
        else:
            calls[id(result)] = name, {key: value for key, value in arguments.items() if key != "isa"}

    token = recorder.set(note)
    try:
        yield calls, executables
    finally:
        recorder.reset(token)


def _text(source: PlanSource, arrays: Arrays) -> bytes:
    """Return the compressed text of a program and its long constants, encoded for `qrt.runtime.saved.source`.

    The constants are added to ``arrays``.
    """
    text, constants = source.text_and_constants()
    content = text.encode()
    if len(content) > MOST_TEXT:
        raise ModelError(
            f"Program.save: the text of the program must have at most {MOST_TEXT} bytes, got {len(content)}"
        )
    short = zlib.compress(content, 1)  # types with many scales are repeated
    return encode({"text": np.frombuffer(short, np.uint8), "constants": constants}, arrays.place)
