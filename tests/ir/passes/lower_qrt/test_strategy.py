"""`zero-point=auto`: the stated costs are the operations of the lowered loops, the cheaper strategy is taken and
reported, and the bits are those of the kernels. Hazards: constant weights, zero points of one operand, short sums,
dynamic sizes."""

import random
from math import prod
from typing import Any

import numpy as np
import pytest

from qrt.errors import Diagnostic
from qrt.ir import Module, Operation, parse
from qrt.ir.dialects.linalg.lowering import stage_location
from qrt.ir.passes.lower_qrt import LowerQrt
from qrt.ir.remarks import remarks_to
from qrt.types import TensorType, UniformType
from tests.ir.passes.lower_qrt.harness import check_lowered, lowered, program
from tests.ops.harness import Array, infer, tensor
from tests.ops.strategies import storage_of

OUT = UniformType("i32", "f32", 0.01, -5)
STAGE = stage_location("zero-point")
STRATEGIES = ("in-loop", "post-accumulation")
Case = tuple[str, list[Array], list[TensorType], tuple[int, ...], dict[str, Any]]


def draw(seed: int) -> Case:
    """Return (op, arrays, types, operands that are constants, attributes) of a sum of products."""
    rng = random.Random(seed)
    name = rng.choice(["matmul", "matmul", "conv2d", "depthwise_conv2d"])
    a_shape, w_shape, attributes = _shapes(rng, name)
    types = [
        tensor(shape, UniformType(rng.choice(["i8", "u8", "i16"]), "f32", scale, rng.choice([0, 0, 3, 100])))
        for shape, scale in ((a_shape, 0.5), (w_shape, 0.25))
    ]
    values = np.random.default_rng(seed)
    arrays = [storage_of(t.element, t.shape or (), values) for t in types if isinstance(t.element, UniformType)]
    return name, arrays, types, rng.choice([(), (1,)]), attributes


def _shapes(rng: random.Random, name: str) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    if name == "matmul":
        m, k, n = rng.choice([1, 2, 6]), rng.choice([1, 2, 3, 4, 8, 20]), rng.choice([1, 2, 7])
        return rng.choice([(m, k), (2, m, k), (k,)]), rng.choice([(k, n), (k,)]), {}
    kernel, channels, outputs = (rng.randint(1, 3), rng.randint(1, 3)), rng.randint(1, 3), rng.randint(1, 3)
    image = (1, rng.randint(3, 5), rng.randint(3, 5), channels)
    padding = {"padding": ((rng.randint(0, 1), 0), (0, rng.randint(0, 1))), "strides": (1, rng.randint(1, 2))}
    return image, (outputs, *kernel, channels) if name == "conv2d" else (*kernel, channels * outputs), padding


def counted_operations(module: Module) -> int:
    """Return how often arithmetic for zero points runs, with the trip counts of the loops around it."""
    arithmetic = ("arith.muli", "arith.addi", "arith.subi")
    operations = [op for op in module.operation.walk() if op.name in arithmetic and op.loc == STAGE]
    return sum(prod(_trip_counts(op)) for op in operations)


def _trip_counts(op: Operation) -> list[int]:
    counts = []
    parent = op.parent_operation
    while parent is not None:
        if parent.name == "affine.for":
            counts.append(int(parent.attributes["upperBoundMap"].results[0]))
        parent = parent.parent_operation
    return counts


def lowered_by_cost(text: str) -> tuple[Module, list[str]]:
    """Return the program in loops and the remarks."""
    module, remarks = parse(text), list[Diagnostic]()
    with remarks_to(remarks.append):
        LowerQrt(zero_point="auto", to="loops").run(module)
    return module, [remark.message for remark in remarks]


def test_the_strategy_of_fewer_operations() -> None:
    """The remark names both numbers; each is counted in the loops of that strategy."""
    assert {check_choice(seed) for seed in range(60)} == {"", *STRATEGIES}


def check_choice(seed: int) -> str:
    """Return the chosen strategy; "" if all zero points are 0."""
    name, arrays, types, fixed, attributes = draw(seed)
    text = program(name, arrays, types, infer(name, types, OUT, **attributes), fixed, **attributes)
    counts = {s: counted_operations(lowered(text, f"to=loops zero-point={s}")) for s in STRATEGIES}
    module, remarks = lowered_by_cost(text)
    assert counted_operations(module) == min(counts.values())
    if not any(counts.values()):
        assert not remarks
        return ""
    chosen = "in-loop" if counts["in-loop"] < counts["post-accumulation"] else "post-accumulation"
    (other,) = set(STRATEGIES) - {chosen}
    assert str(module) == str(lowered(text, f"to=loops zero-point={chosen}"))
    assert remarks == [
        f"'qrt.{name}' op is lowered with zero-point={chosen}: {counts[chosen]} operations for zero points, "
        f"{counts[other]} with zero-point={other}"
    ]
    return chosen


@pytest.mark.parametrize("seed", range(100, 112))
def test_the_bits_are_those_of_the_kernels(seed: int) -> None:
    name, arrays, types, fixed, attributes = draw(seed)
    options = ("zero-point=auto", "zero-point=auto to=loops")
    check_lowered(name, arrays, types, OUT, [fixed], options, **attributes)


def test_a_dynamic_size_counts_as_64() -> None:
    """64 x 64 results of depth 64: 2 * 64**3 subtractions, or 2 * 64**2 additions and 7 * 64**2 operations after."""
    types = [tensor((None, None), UniformType(storage, "f32", 0.5, 3)) for storage in ("i8", "u8")]
    arrays = [np.zeros((2, 2), np.int8), np.zeros((2, 2), np.uint8)]
    _, remarks = lowered_by_cost(program("matmul", arrays, types, infer("matmul", types, OUT)))
    assert remarks == [
        f"'qrt.matmul' op is lowered with zero-point=post-accumulation: {9 * 64**2} operations for zero points, "
        f"{2 * 64**3} with zero-point=in-loop (a dynamic size counts as 64)"
    ]
