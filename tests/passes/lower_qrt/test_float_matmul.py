"""float_matmul lowered. Hazards: sums in another order, lanes and pieces that K does not fill, rounded products, units
at the ends of float32, NaNs and infinities among integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.types import UniformType
from tests.ops.harness import tensor
from tests.ops.strategies import generators, storage_of
from tests.ops.test_float_matmul import F32, floats, weights
from tests.passes.lower_qrt.harness import OPTIONS, check_lowered


@given(st.data(), generators(), st.integers(0, 2).flatmap(lambda rank: st.tuples(*[st.integers(0, 3)] * rank)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, rows: tuple[int, ...]) -> None:
    depth, columns = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 5))
    a, bias = floats(rng, (*rows, depth)), floats(rng, (columns,))
    w, t = weights(data, rng, depth, columns)
    types = [tensor(a.shape, F32), tensor(w.shape, t), tensor(bias.shape, F32)]
    check_lowered(
        "float_matmul", [a, w, bias], types, constants=((), (1, 2)), options=[data.draw(st.sampled_from(OPTIONS))]
    )


@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[-1]])
@pytest.mark.parametrize(
    ("depth", "block"), [(260, None), (260, 130), (256, 256), (40, 1), (32, 8)], ids=lambda size: f"{size}"
)
def test_pieces(depth: int, block: int | None, options: str) -> None:
    """Of blocks that are no pieces, with a rest; rows that are not finite, of 3e38, of subnormal values."""
    rng = np.random.default_rng(1)
    blocks = 1 if block is None else -(-depth // block)
    scales, zero_points = rng.random((blocks, 3)) + 0.1, rng.integers(-8, 8, (blocks, 3))
    t = UniformType("i4", "f32", scales, zero_points, block_sizes={0: block or depth, 1: 1})
    a, w = floats(rng, (6, depth)), storage_of(t, (depth, 3), rng)
    a[1, ::7], a[2, 3], a[3, 5], a[4, 5:7] = 1e-45, 3e38, np.inf, (np.nan, -np.inf)
    check_lowered("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)], options=[options])
