"""Loop nests and the context in which they are built. Hazards: loops over buffers that compute something else than the
`linalg.generic` of the same body; a reduction that begins elsewhere; operations behind those that read them."""

import numpy as np
import pytest

from qrt import ir
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I32, LoweringContext
from tests.ir.passes.lower_qrt.harness import run

TEXT = "func.func @main(%x: tensor<2x?xi32>, %start: tensor<2xi32>) -> tensor<2xi32> { return %start : tensor<2xi32> }"


def summed(loops: bool) -> ir.Module:
    """The sum of each row of `%x` and `%start`, times the number of the row."""
    module = ir.parse(TEXT)
    block = module.function().regions[0].blocks[0]
    (last,), (x, start) = block, block.arguments
    context = LoweringContext(last, loops=loops)
    rows, columns = context.extents(x)
    nest = LoopNest(context, "sum", [rows], [columns])
    (sums,) = nest.finish(nest.arith.addi(nest.running(I32, start), nest.read(x, nest.loops)))
    nest = LoopNest(context, "scale", [rows])
    number = nest.arith.index_cast(nest.position(nest.loops[0]), type="i32")
    last.set_operands(nest.finish(nest.arith.muli(nest.read(sums, nest.loops), number)))
    context.erase_unread_tensors()
    module.verify()
    return module


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("columns", [0, 1, 3])
def test_loops_and_generics_compute_the_same(loops: bool, columns: int) -> None:
    x = np.random.default_rng(columns).integers(-9, 9, (2, columns), np.int32)
    start = np.array([5, -7], np.int32)
    assert np.array_equal(run(summed(loops), [x, start], interpret=True), (x.sum(1) + start) * [0, 1])


@pytest.mark.parametrize("loops", [False, True])
def test_operations_name_the_stage_they_belong_to(loops: bool) -> None:
    text = summed(loops).print(locations=True)
    assert 'loc("sum")' in text
    assert 'loc("scale")' in text
    assert ("affine.for" in text) == loops
    assert ("linalg.generic" in text) != loops
