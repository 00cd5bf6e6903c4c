"""Lowered programs as cases for mlir-runner 22."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Module, run_passes
from qrt.types import FloatType, Type, UniformType
from tests.ops.harness import Array
from tests.oracle.execution.case import Call, Case
from tests.oracle.execution.values import Value

F32 = FloatType("f32")


def case(module: Module, operands: Sequence[Value]) -> Case:
    """A lowered program, with its quantized types replaced by integers, to be called with this storage."""
    return integer_case(module, [operands], "llvm")


def integer_case(module: Module, calls: Sequence[Call], path: str = "loops") -> Case:
    """A lowered program, with its quantized types replaced by integers, and the operands of its calls."""
    text = str(run_passes(module, "quant-to-integer-types,canonicalize")).replace("@main", "@f")
    assert "!quant" not in text, text
    assert "quant." not in text, text
    body = text.partition("module {\n")[2].rpartition("}")[0]
    lines = "\n".join(line.removeprefix("  ") for line in body.splitlines())
    return Case("lower-qrt", lines + "\n", calls, path=path)


_ELEMENTS = {"float32": "f32", "int64": "index", "bool": "i1"}


def bits_of(value: object) -> Value:
    """Floats, storage integers, an index or truth values as bits."""
    array = np.asarray(value)
    element = _ELEMENTS.get(array.dtype.name, f"i{8 * array.itemsize}")
    unsigned = array.view(f"u{array.itemsize}").ravel()
    return Value(element, array.shape, tuple(map(int, unsigned)))


def stored(array: Array, t: Type) -> Value:
    """Storage as bits, or floats."""
    if t is F32:
        return Value("f32", array.shape, tuple(int(v) for v in array.astype(np.float32).view(np.uint32).ravel()))
    assert isinstance(t, UniformType)
    mask = (1 << t.storage_width) - 1
    return Value(str(t.storage_type), array.shape, tuple(int(v) & mask for v in array.ravel()))
