"""float_matmul lowered. Hazards: sums in another order, lanes and pieces that K does not fill, rounded products, units
at the ends of float32, NaNs and infinities among integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.types import TensorType, UniformType
from tests import mlir_opt
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program
from tests.ir.passes.lower_qrt.upstream import case, stored
from tests.ops.harness import Array, reference, tensor
from tests.ops.strategies import generators, storage_of
from tests.ops.test_float_matmul import EVERY_UNIT, F32, floats, weights
from tests.oracle.execution.driver import execute


@given(st.data(), generators(), st.integers(0, 2).flatmap(lambda rank: st.tuples(*[st.integers(0, 3)] * rank)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, rows: tuple[int, ...]) -> None:
    depth, columns = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 5))
    a, bias = floats(rng, (*rows, depth)), floats(rng, (columns,))
    w, t = weights(data, rng, depth, columns, EVERY_UNIT)
    types = [tensor(a.shape, F32), tensor(w.shape, t), tensor(bias.shape, F32)]
    check_lowered(
        "float_matmul", [a, w, bias], types, constants=((), (1, 2)), options=[data.draw(st.sampled_from(OPTIONS))]
    )


def in_pieces(depth: int, block: int | None, storage: str) -> tuple[list[Array], list[TensorType]]:
    """Operands; rows of ordinary values, some subnormal, one of 3e38, an infinity, a NaN and an infinity."""
    rng = np.random.default_rng(1)
    blocks = 1 if block is None else depth // block
    scales, zero_points = rng.random((blocks, 3)) + 0.1, rng.integers(0, 8, (blocks, 3))
    t = UniformType(storage, "f32", scales, zero_points, block_sizes={0: block or depth, 1: 1})
    a, w = floats(rng, (6, depth)), storage_of(t, (depth, 3), rng)
    a[1, ::7], a[2, 3], a[3, 5], a[4, 5:7] = 1e-45, 3e38, np.inf, (np.nan, -np.inf)
    return [a, w], [tensor(a.shape, F32), tensor(w.shape, t)]


SIZES = pytest.mark.parametrize(
    ("depth", "block"), [(260, None), (260, 130), (256, 256), (40, 1), (32, 8)], ids=lambda size: f"{size}"
)


@SIZES
@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[-1]])
def test_pieces(depth: int, block: int | None, options: str) -> None:
    """Of blocks that are no pieces, with a rest."""
    check_lowered("float_matmul", *in_pieces(depth, block, "i4"), options=[options])


def along_k(storage: str, differ: bool) -> tuple[list[Array], list[TensorType]]:
    """Operands whose scales are along K, more than a piece; rows as above, and products that overflow or vanish."""
    rng, depth = np.random.default_rng(2), 150
    scales, zero_points = rng.random(depth) + 0.1, rng.integers(0, 8, depth) if differ else np.full(depth, 3)
    scales[[10, 11, 12]] = 1e20, 1e-20, 3e38
    t = UniformType(storage, "f32", scales.tolist(), zero_points.tolist(), axis=0)
    a, w = floats(rng, (8, depth)), storage_of(t, (depth, 3), rng)
    a[:, 10:13] = 0
    a[1, ::7], a[2, 3], a[3, 5], a[4, 5:7] = 1e-45, 3e38, np.inf, (np.nan, -np.inf)
    a[5, 10], a[6, 11], a[7, 10:13] = 1e30, 1e-30, (-1e30, -0.0, 2)
    w[10] = (zero_points[10], 7, 0)
    return [a, w], [tensor(a.shape, F32), tensor(w.shape, t)]


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[-1]])
@pytest.mark.parametrize("storage", ["i4", "u8"])
@pytest.mark.parametrize("differ", [False, True])
def test_scales_along_k(differ: bool, storage: str, options: str) -> None:
    check_lowered("float_matmul", *along_k(storage, differ), options=[options])


@pytest.mark.parametrize("differ", [False, True])
@mlir_opt.needed
def test_mlir_runner_computes_the_same_bits_of_scales_along_k(differ: bool) -> None:
    check_runner(*along_k("u8", differ))


@SIZES
@mlir_opt.needed
def test_mlir_runner_computes_the_same_bits(depth: int, block: int | None) -> None:
    check_runner(*in_pieces(depth, block, "u8"))


def check_runner(arrays: list[Array], types: list[TensorType]) -> None:
    expected, result = reference("float_matmul", arrays, types)
    module = lowered(program("float_matmul", arrays, types, result), OPTIONS[0])
    operands = [stored(array, t.element) for array, t in zip(arrays, types, strict=True)]
    ((value,),) = execute([case(module, operands)])[0]
    np.testing.assert_array_equal(value.array(), expected)
