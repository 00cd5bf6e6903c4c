"""Constants of less than a byte, which MLIR 22 lays out in another way than it reads them: lowered, they are bytes.
Hazards: a sign that is lost, storage above half of an unsigned range, one of the forms that still reads narrow memory.
"""

import numpy as np
import pytest

from qrt.types import UniformType
from tests import mlir_opt
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program
from tests.ir.passes.lower_qrt.upstream import case, stored
from tests.ops.harness import reference, tensor
from tests.oracle.execution.driver import execute

I8 = UniformType("i8", "f32", 0.5, 3)
OUT = UniformType("i32", "f32", 0.01, -5)
STORAGES = pytest.mark.parametrize("storage", ["i2", "i4", "u4"])


def product(storage):
    """Operands of a matmul, weights of every code among them, and types."""
    w = UniformType(storage, "f32", 0.25, 1)
    low, high = w.default_bounds
    rng = np.random.default_rng(1)
    x = rng.integers(-128, 128, (2, 7)).astype(np.int8)
    weights = rng.permuted(np.resize(np.arange(low, high + 1), 7 * 20)).reshape(7, 20).astype(f"{storage[0]}1")
    return (x, weights), [tensor(x.shape, I8), tensor(weights.shape, w)]


@STORAGES
def test_every_form_has_the_same_bits(storage):
    check_lowered("matmul", *product(storage), OUT, constants=[(1,)])


@STORAGES
@pytest.mark.parametrize("options", OPTIONS)
def test_no_narrow_memory_is_read(storage, options):
    (x, weights), types = product(storage)
    _, result = reference("matmul", (x, weights), types, OUT)
    module = lowered(program("matmul", (x, weights), types, result, fixed=[1]), options)
    (main,) = (op for op in module.operation.walk() if op.name == "func.func")
    read = [
        str(operand.type)
        for op in main.walk()
        if op.name in ("linalg.generic", "affine.load", "memref.load", "tensor.extract")
        for operand in op.operands
    ]
    assert any("xi8>" in t for t in read)
    assert not any(f"xi{storage[1:]}>" in t for t in read)


@mlir_opt.needed
def test_mlir_runner_computes_the_same_bits():
    """All in one process."""
    cases, expected = [], []
    for storage in ("i2", "i4", "u4"):
        arrays, types = product(storage)
        values, result = reference("matmul", arrays, types, OUT)
        module = lowered(program("matmul", arrays, types, result, fixed=[1]), OPTIONS[0])
        cases.append(case(module, [stored(arrays[0], types[0].element)]))
        expected.append(values)
    for outcome, values in zip(execute(cases), expected, strict=True):
        assert not isinstance(outcome, str), outcome[:2000]
        np.testing.assert_array_equal(outcome[0][0].array(), values)
