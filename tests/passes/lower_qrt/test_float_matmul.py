"""float_matmul lowered. Hazards: sums in another order, lanes that K does not fill, rounded products."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.ops.harness import tensor
from tests.ops.strategies import generators
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
