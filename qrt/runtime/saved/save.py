"""Saving of programs: a program is planned again while a recorder notes the arguments of every bound call."""

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
    """Write a program, with its plans for these input types, to a file: see `Program.save`."""
    require(path, (str, os.PathLike), "the path of a program", "a string or a path")
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
    """Return a plan as data; None if a step is not a kernel, so that it must be planned again from the text."""
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
    """Return the places of all operands as three flat lists: operands per call, bases and offsets."""
    flat = [place for places in operands for place in places]
    return [len(places) for places in operands], [base for base, _ in flat], [offset for _, offset in flat]


@contextmanager
def _recorded() -> Iterator[tuple[dict[int, Any], dict[int, Any]]]:
    """Record the calls bound in a `with` block, as (name, arguments), and the arguments of executables, by `id`.

    The bound objects are kept alive until the block ends, so that no `id` is reused.
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
    """Return the encoded text of the program and its long constants, for `qrt.runtime.saved.source`."""
    text, constants = source.text_and_constants()
    content = text.encode()
    if len(content) > MOST_TEXT:
        raise ModelError(
            f"the program's text has {len(content)} bytes, but a saved program can have at most {MOST_TEXT}"
        )
    short = zlib.compress(content, 1)  # types with many scales are repeated
    return encode({"text": np.frombuffer(short, np.uint8), "constants": constants}, arrays.place)
