"""Random inputs of a comparison. Hazards: an element that the other runtime rejects, a neighbour beyond the dtype."""

import numpy as np
import pytest

from qrt.models.diff.drawn_inputs import KINDS, drawn
from qrt.models.importing.comparison_source import Input


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("excluded", [-128, 0, 127])
def test_an_excluded_integer_is_not_drawn(kind: str, excluded: int) -> None:
    port = Input("x", "int8", (5000,), 0)
    plain, values = (drawn(p, kind, np.random.default_rng(1)) for p in (port, Input(*_fields(port), 2, excluded)))
    assert excluded not in values
    assert values.dtype == np.int8
    np.testing.assert_array_equal(values[plain != excluded], plain[plain != excluded])


def _fields(port: Input) -> tuple[str, str, tuple[int | str | None, ...], int | None]:
    return port.name, port.dtype, port.shape, port.zero_point


def test_unquantized_divisors() -> None:
    assert (drawn(Input("x", "int32", (50,), excluded=0), "full", np.random.default_rng(1)) == 1).all()
