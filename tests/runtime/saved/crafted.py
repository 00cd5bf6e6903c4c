"""Saved programs that nobody saved: their values changed, with the checksums that go with them; and a program of one
call for every entry."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import qrt
from qrt import kernels
from qrt._ext.kernels import KernelCall, recorder
from qrt.numerics import RequantParameters
from qrt.runtime.saved.container import Arrays, read, write
from qrt.runtime.saved.values import Encoder, decode
from tests.kernels.jobs import mixed_jobs
from tests.runtime.saved.samples import inputs_of

Index = dict[str, Any]
_DTYPE, _ATTRIBUTES = 10, 11


class DtypeName(str):
    """A text that is written as the name of a dtype, whether there is one or not."""


class Fields(dict[str, Any]):
    """Names and values as an object with these attributes, which files of earlier formats had."""


class _Encoder(Encoder):
    def add(self, value: Any) -> None:
        if isinstance(value, DtypeName):
            self.append(_DTYPE, self.text(value))
        elif isinstance(value, Fields):
            self.append(_ATTRIBUTES, self.text("\1".join(value)))
            for each in value.values():
                self.add(each)
        else:
            super().add(value)


def unpacked(path: str | os.PathLike[str]) -> Index:
    """The index of a file as it was decoded, with the values of the program's text."""
    memory, index = read(os.fspath(path))
    return {**index, "program": decode(memoryview(index["program"]), memory)}


def pack(path: str | os.PathLike[str], index: Index) -> None:
    """Write a file that holds such an index."""
    arrays = Arrays()
    index = dict(index)
    if "program" in index:
        text = _Encoder(arrays.place).bytes_of(index["program"])
        index["program"] = np.frombuffer(text, np.uint8)
    write(os.fspath(path), _Encoder(arrays.place).bytes_of(index), arrays)


def index_of(text: str, path: Path, size: int = 1) -> Index:
    """The values of a program that was saved after a run."""
    program = qrt.compile(text, "main" if "@main" in text else None)
    program.run(inputs_of(program, size=size))
    program.save(path)
    return unpacked(path)


@dataclass(frozen=True)
class OneCall:
    """A call that was bound to plain values."""

    name: str
    arguments: dict[str, Any]
    call: KernelCall

    @property
    def label(self) -> str:
        return f"{self.name.removeprefix('bind_')} {' '.join(self.options)}".strip()

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments that tell calls of one entry apart."""
        telling = ("kind", "rule", "b_constant", "w_constant", "index_dtype", "name")
        values = ((name, self.arguments.get(name)) for name in telling)
        return tuple(value if isinstance(value, str) else name for name, value in values if value is not None)

    def index(self) -> Index:
        """The index of a program of this call alone."""
        operands = list(zip(self.call.operand_shapes, self.call.operand_dtypes, strict=True))
        types = [f"tensor<{''.join(f'{n}x' for n in shape)}{_element(dtype)}>" for shape, dtype in operands]
        inputs = len(types) - self.call.outputs
        ports = [(f"p{number}", t, False, "") for number, t in enumerate(types)]
        plan = {
            "types": types[:inputs],
            "results": types[inputs:],
            "states": (),
            "live_bytes": 0,
            "calls": [(self.name, self.arguments)],
            "packed": [self.call.packed],
            "operands": ([len(types)], list(range(1, len(types) + 1)), [0] * len(types)),
            "bases": [None, *range(len(types))],
            "externals": [(dtype, shape) for shape, dtype in operands],
            "counts": (inputs, self.call.outputs, 0, 1000),
        }
        return {
            "name": "f",
            "saturating": False,
            "stateful": False,
            "inputs": ports[:inputs],
            "outputs": ports[inputs:],
            "isa": kernels.active(),
            "plans": [plan],
            "program": {"text": np.zeros(0, np.uint8), "constants": ()},
        }


def _element(dtype: np.dtype[Any]) -> str:
    if dtype == ml_dtypes.bfloat16:
        return "bf16"
    return {"b": "i1", "i": "i", "u": "ui", "f": "f"}[dtype.kind] + (
        "" if dtype.kind == "b" else str(8 * dtype.itemsize)
    )


def decoded(value: Any) -> Any:
    """A value that was bound, as decoding gives it: lists are tuples, and a requantization is a dict."""
    if isinstance(value, RequantParameters):
        return dict(vars(value))
    if isinstance(value, dict):
        return {key: decoded(each) for key, each in value.items()}
    if isinstance(value, type):
        return np.dtype(value)
    return tuple(map(decoded, value)) if isinstance(value, tuple | list) else value


@contextmanager
def recorded(note: Callable[[str, dict[str, Any], Any], None]) -> Iterator[None]:
    """Tell what is bound within it."""
    token = recorder.set(note)
    try:
        yield
    finally:
        recorder.reset(token)


_MOST_ELEMENTS = 20_000


@cache
def one_calls() -> tuple[OneCall, ...]:
    """Small calls of every entry that computes, one for each form of its arguments."""
    calls: dict[tuple[str, tuple[str, ...]], OneCall] = {}

    def note(name: str, arguments: dict[str, Any], call: KernelCall) -> None:
        plain = {key: value for key, value in arguments.items() if key != "isa"}
        one = OneCall(name, plain, call)
        if sum(int(np.prod(shape)) for shape in call.operand_shapes) < _MOST_ELEMENTS:
            calls.setdefault((name, one.options), one)

    with recorded(note):
        mixed_jobs(kernels.active())
    return tuple(calls.values())
