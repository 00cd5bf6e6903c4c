"""TFLite files: drawn models of one operator and the small given ones, mutated where a field or an element of a vector
stands; and ONNX files (`onnx_files`). A case is the file, each character a byte. Imported, planned and run, with the
values of its runtime (`values`), or refused with an error that says where.
"""

import struct
import warnings
import zlib
from collections.abc import Iterator
from functools import cache
from math import prod
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import qrt
from qrt.errors import QuantError
from qrt.ir import Module
from qrt.models.onnx.importing import import_model as import_onnx
from qrt.models.onnx.read import read as read_onnx
from qrt.models.profiles import profile
from qrt.models.tflite import schema
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.ops.core import element_dtype, storage_dtype
from qrt.types import IntegerType, TensorType, UniformType
from tests.fuzz.kinds import onnx_files
from tests.fuzz.kinds.onnx_outside import with_data
from tests.fuzz.kinds.values import check_values
from tests.fuzz.outcome import Finding
from tests.models.tflite import oracle

LARGEST = 64 << 10
"""Bytes of a file to start from."""
MAX_BYTES = 1 << 24
"""The limit of a mutant's tensors."""
_DRAWS = 5
"""The models of a form of which the smallest is taken."""
_STEPS = 10_000
_MOST_RUN = 1 << 16
"""Elements of the inputs and results of a program that is run: sums of floats take the interpreter its time."""
_INTEGERS = (0, 1, 2, 3, 4, 5, 7, 8, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**63)
_FLOATS = (0.0, -0.0, -1.0, 1.0, 0.5, 1e-45, 3e38, -3e38, float("inf"), float("-inf"), float("nan"))

Place = tuple[int, str, bool]
"""Where a number stands in a file, its code of `struct`, and whether it is a value: no offset, length or size."""


# -- drawing ---------------------------------------------------------------------------------------------------------


@cache
def seeds() -> tuple[bytes, ...]:
    """A few models of each form that is compared with LiteRT, and what is small of the given files."""
    found = []
    for name, form in {name: form for name, form, _ in oracle.forms()}.items():
        number = zlib.crc32(name.encode())  # a form has the same seeds, whatever forms stand before it
        drawn = [form(np.random.default_rng([number, draw])).content for draw in range(_DRAWS)]
        smallest = min(drawn, key=len)
        assert len(smallest) <= LARGEST, name
        found.append(smallest)
    given = [path.read_bytes() for path in sorted(oracle.MODELS.glob("*/*.tflite"))]
    return (*found, *(content for content in given if len(content) <= LARGEST))


@cache
def places(content: bytes) -> tuple[list[Place], list[Place]]:
    """The numbers of a sound file's tables and vectors: the values, and the others. Long constants have none."""
    found = [*_table(content, struct.unpack_from("<I", content)[0], "Model")]
    return [place for place in found if place[2]], [place for place in found if not place[2]]


def _table(content: bytes, position: int, name: str) -> Iterator[Place]:
    vtable = position - struct.unpack_from("<i", content, position)[0]
    size = struct.unpack_from("<H", content, vtable)[0]
    offsets = struct.unpack_from(f"<{(size - 4) // 2}H", content, vtable + 4)
    yield from ((vtable + 2 * entry, "H", False) for entry in range(size // 2))
    yield position, "i", False
    values: dict[str, int] = {}
    for field, offset in zip(schema.fields(name), offsets, strict=False):
        at = position + offset
        if not offset:
            continue
        if field.is_plain or field.enumeration:
            values[field.name] = struct.unpack_from(f"<{field.code}", content, at)[0]
            yield at, field.code, True
            continue
        yield at, "I", False
        target = at + struct.unpack_from("<I", content, at)[0]
        table = schema.union_table(field.union, values[f"{field.name}_type"]) if field.union else field.table
        if field.is_vector or field.is_string:
            yield from _vector(content, target, field)
        elif table is not None:
            yield from _table(content, target, table)


def _vector(content: bytes, position: int, field: schema.Field) -> Iterator[Place]:
    count = struct.unpack_from("<I", content, position)[0]
    yield position, "I", False
    if field.code == "B":  # small constants are axes, shapes, paddings
        yield from ((at, "i", True) for at in range(position + 4, position + 4 + count - 3, 4) if count <= 64)
    elif field.code:
        yield from ((position + 4 + field.item_size * index, field.code, True) for index in range(min(count, 64)))
    elif not field.code and not field.is_string:
        assert field.table is not None
        for at in range(position + 4, position + 4 + 4 * count, 4):
            yield at, "I", False
            yield from _table(content, at + struct.unpack_from("<I", content, at)[0], field.table)


def draw(draw: Random) -> str:
    """A seed with one to three changes; a few are cut short too. Every other one is of ONNX."""
    if draw.random() < 0.5:
        return onnx_files.draw(draw).decode("latin-1")
    content = draw.choice(seeds())
    known = places(content)
    mutant = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        _change(draw, mutant, *known)
    if draw.random() < 0.03:
        del mutant[draw.randrange(len(mutant)) :]
    return bytes(mutant).decode("latin-1")


def _change(draw: Random, mutant: bytearray, values: list[Place], others: list[Place]) -> None:
    kind = draw.random()
    known = values if draw.random() < 0.8 else others
    at, code, _ = draw.choice(known)
    if kind < 0.8:
        _write(mutant, at, code, _number(draw, code, struct.unpack_from(f"<{code}", mutant, at)[0]))
    elif kind < 0.92:  # a number from elsewhere: an index or an offset that is right in another place
        other = draw.choice([place for place in known if place[1] == code])[0]
        _write(mutant, at, code, struct.unpack_from(f"<{code}", mutant, other)[0])
    else:
        at = draw.randrange(len(mutant) - 8)
        length = draw.choice((1, 2, 4, 8))
        mutant[at : at + length] = draw.randbytes(length)


def _number(draw: Random, code: str, old: float) -> float:
    if code in "fd":
        return draw.choice((*_FLOATS, old * 2, old * 300, -old))
    near = int(old) + draw.choice((-2, -1, 1, 2)) if draw.random() < 0.5 else draw.choice(_INTEGERS)
    return draw.choice((near, near, -near))


def _write(mutant: bytearray, at: int, code: str, value: float) -> None:
    size = struct.calcsize(code)
    if code in "fd":
        with np.errstate(over="ignore"):  # beyond the greatest number it is infinite
            content = np.array(value).astype(f"<{code}").tobytes()
    else:
        content = (int(value) % (1 << 8 * size)).to_bytes(size, "little")
    mutant[at : at + size] = content


# -- checking --------------------------------------------------------------------------------------------------------


def check(case: str) -> str:
    """Imports the file by one of the profiles, plans and runs each function twice. A QuantError goes to the caller."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return _check(case.encode("latin-1"))


def _check(content: bytes) -> str:
    with TemporaryDirectory() as folder:
        source = with_data(content, Path(folder)) if _is_external(content) else content
        if content[4:8] == b"TFL3":
            name = "litert" if zlib.crc32(content) % 2 else "litert-ref"
            module = import_model(read(content, max_bytes=MAX_BYTES), profile(name))
        else:
            name = "ort"
            module = import_onnx(read_onnx(source, max_bytes=MAX_BYTES), profile(name), max_bytes=MAX_BYTES)
        label = _run(module, content)
        return f"{label}, {check_values(source, name, _STEPS)}" if label == "accepted" else label


def _is_external(content: bytes) -> bool:
    return b"location" in content


def _run(module: Module, content: bytes) -> str:
    """Verifies a program that was imported, plans and runs each function. The importer refuses what cannot be."""
    try:
        module.verify()
    except QuantError as error:
        raise Finding(f"an import that does not verify: {str(error).splitlines()[0][:120]}", str(error)) from None
    for function in module.functions:
        if function.attributes.get("sym_visibility") is not None:
            continue
        program = qrt.compile(module, function=function.sym_name)
        if sum(_size(port.type) for port in (*program.inputs, *program.outputs)) > _MOST_RUN:
            return "planned, and too large to run"
        draws = np.random.default_rng(len(content))
        for _ in range(2):
            program.run({port.name: _input(port.type, draws) for port in program.inputs}, max_steps=_STEPS)
    return "accepted"


def _size(type: Any) -> int:
    """The elements of a tensor."""
    return prod(2 if size is None else size for size in getattr(type, "shape", None) or ())


def _input(type: Any, draws: np.random.Generator) -> Any:
    if not isinstance(type, TensorType) or type.shape is None:
        raise QuantError(f"an input of type {type}")
    shape = tuple(2 if size is None else size for size in type.shape)
    if isinstance(type.element, UniformType):
        low, high = type.element.storage_min, type.element.storage_max
        return draws.integers(low, high, shape, endpoint=True).astype(storage_dtype(type.element))
    if isinstance(type.element, IntegerType):
        return draws.integers(0, 2, shape).astype(element_dtype(type.element))
    return draws.normal(size=shape).astype(element_dtype(type.element))
