"""Lowered programs as cases for mlir-runner 22."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Module, run_passes
from qrt.types import FloatType, Type, UniformType
from tests.ops.harness import Array
from tests.oracle.execution.case import Case
from tests.oracle.execution.values import Value

F32 = FloatType("f32")


def case(module: Module, operands: Sequence[Value]) -> Case:
    """A lowered program without quantized types, to be called with this storage."""
    text = str(run_passes(module, "strip-func-quant-types,canonicalize")).replace("@main", "@f")
    assert "quant" not in text
    body = text.partition("module {\n")[2].rpartition("}")[0]
    lines = "\n".join(line.removeprefix("  ") for line in body.splitlines())
    return Case("lower-qrt", lines + "\n", [operands])


def stored(array: Array, t: Type) -> Value:
    """Storage as bits, or floats."""
    if t is F32:
        return Value("f32", array.shape, tuple(int(v) for v in array.astype(np.float32).view(np.uint32).ravel()))
    assert isinstance(t, UniformType)
    mask = (1 << t.storage_width) - 1
    return Value(str(t.storage_type), array.shape, tuple(int(v) & mask for v in array.ravel()))
