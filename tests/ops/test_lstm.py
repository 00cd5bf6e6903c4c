"""lstm with CIFG, peepholes, layer normalization and a projection, in every combination: the reference, each kernel and
the lowered op are one. Hazards: an operand taken for its neighbour where some are absent, a peephole of the output gate
that sees the cell before, sums of rows that have no variance."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.types import TensorType, UniformType
from tests.ops.harness import Array, tensor
from tests.ops.test_recurrent import CELL, HIDDEN, X, both, lowered_results, weight

FLAGS = ("cifg", "peepholes", "layer_norm", "projection")
MADE = 0.007
WORDS = UniformType("i16", "f32", 2.0**-13)
NORMS = UniformType("i16", "f32", 2.0**-15)


def network(
    forms: dict[str, bool], batch: int = 2, steps: int = 2, inputs: int = 5, cells: int = 7
) -> tuple[list[Array], list[TensorType]]:
    """Arrays and their types, of an lstm of these forms. Every second norm's row has no variance."""
    rng = np.random.default_rng(sum(forms.values()))
    values = 3 if forms["projection"] else cells
    gates = range(1 if forms["cifg"] else 0, 4)
    drawn: list[tuple[Array, UniformType]] = [(rng.integers(-128, 128, (batch, steps, inputs), np.int8), X)]
    drawn += [
        (rng.integers(-127, 128, (cells, depth), np.int8), weight(0.004 + 0.001 * gate))
        for depth in (inputs, values)
        for gate in gates
    ]
    for gate in gates:
        scale = NORMS.scale * 2.0**-10 if forms["layer_norm"] else X.scale * (0.004 + 0.001 * gate)
        drawn.append((rng.integers(-9999, 9999, cells, np.int32), UniformType("i32", "f32", scale)))
    drawn.append((rng.integers(-128, 128, (batch, values), np.int8), HIDDEN))
    drawn.append((rng.integers(-4000, 4000, (batch, cells), np.int16), CELL))
    words = [gate for gate in gates if gate != 2] if forms["peepholes"] else []
    drawn += [(rng.integers(-9999, 9999, cells, np.int16), WORDS) for _ in words]
    if forms["layer_norm"]:
        drawn += [(rng.integers(-32767, 32767, cells, np.int16), NORMS) for _ in gates]
    if forms["projection"]:
        bias = UniformType("i32", "f32", MADE * 0.01)
        drawn += [(rng.integers(-127, 128, (values, cells), np.int8), weight(0.01))]
        drawn += [(rng.integers(-999, 999, values, np.int32), bias)] * int(forms["cifg"])
    return [array for array, _ in drawn], [tensor(array.shape, t) for array, t in drawn]


def attributes(forms: dict[str, bool]) -> dict[str, Any]:
    given: dict[str, Any] = {name: True for name, is_there in forms.items() if is_there}
    if forms["layer_norm"]:
        given |= {"forget_scale": 2.0**-11, "output_scale": 0.0003}
    if forms["projection"]:
        given |= {"made_scale": MADE, "made_zero_point": -128, "projection_clip": 0.5}
    return given


COMBINATIONS = [dict(zip(FLAGS, flags, strict=True)) for flags in product((False, True), repeat=4)]


def _id(forms: dict[str, bool]) -> str:
    return "-".join(name for name, is_there in forms.items() if is_there)


@pytest.mark.parametrize("forms", COMBINATIONS, ids=_id)
def test_every_form_is_one(forms: dict[str, bool]) -> None:
    arrays, types = network(forms)
    expected = both("lstm", arrays, types, **attributes(forms))
    assert all(np.unique(each).size > 4 for each in expected)


@pytest.mark.parametrize(
    ("names", "options"), [(FLAGS, ""), (("peepholes", "projection"), "to=loops"), (("layer_norm",), "")]
)
def test_lowered(names: tuple[str, ...], options: str) -> None:
    forms = {name: name in names for name in FLAGS}
    arrays, types = network(
        forms, steps=1 + ("projection" in names), cells=18
    )  # a block of peepholes, and two behind it
    given = attributes(forms)
    expected = both("lstm", arrays, types, **given)
    for a, b in zip(lowered_results("lstm", arrays, types, options, HIDDEN, **given), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_sums_without_a_variance() -> None:
    """Of one cell, and of weights that are all 0: what is normalized is the bias alone."""
    forms = dict.fromkeys(FLAGS, False) | {"layer_norm": True}
    for cells, is_zero in ((1, False), (4, True)):
        arrays, types = network(forms, cells=cells, steps=1)
        arrays = [array * 0 if is_zero and 1 <= i < 9 else array for i, array in enumerate(arrays)]
        expected = both("lstm", arrays, types, **attributes(forms))
        for a, b in zip(lowered_results("lstm", arrays, types, "", HIDDEN, **attributes(forms)), expected, strict=True):
            np.testing.assert_array_equal(a, b)


ALL = dict.fromkeys(FLAGS, True)
PLAIN = dict.fromkeys(FLAGS, False)
REFUSED: list[tuple[dict[str, bool], dict[str, Any], str]] = [
    (ALL, {"cifg": False}, "expected 23 operands (x, w_input, w_forget, w_cell, w_output, r_input, r_forget, r_cell"),
    (
        ALL,
        {"layer_norm": False, "forget_scale": 2.0**-12, "output_scale": 2.0**-12},
        "expected 16 operands (x, w_forget, w_cell, w_output, r_forget, r_cell, r_output, b_forget",
    ),
    (ALL, {"made_zero_point": 128}, "'made_zero_point' must be an integer from -128 to 127, got 128"),
    (ALL, {"made_scale": 0.0}, "'made_scale' must be positive and finite, got 0.0"),
    (ALL, {"made_scale": 0.5}, "'projection_bias' must have the type i32 of scale 0.005 and zero point 0, got"),
    (ALL, {"projection_clip": -1.0}, "'projection_clip' must be positive and finite, or 0 for no clipping, got -1.0"),
    (PLAIN, {"cell_scale": 0.5}, "'cell_scale' must be 2**-12 without layer normalization, got 0.5"),
    (
        PLAIN,
        {"projection": True},
        "expected 16 operands (x, w_input, w_forget, w_cell, w_output, r_input, r_forget, r_cell",
    ),
]


@pytest.mark.parametrize(("forms", "others", "message"), REFUSED)
def test_refuses(forms: dict[str, bool], others: dict[str, Any], message: str) -> None:
    family = FAMILIES["lstm"]
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        family.resolve_all(tuple(network(forms)[1]), family.complete(attributes(forms) | others))


def test_a_projection_keeps_the_type_of_the_state() -> None:
    family, forms = FAMILIES["lstm"], PLAIN | {"projection": True}
    other = TensorType(None, HIDDEN.with_(scales=0.5))
    with pytest.raises(
        QuantTypeError, match="the results 'y' and 'hidden_out' must have the type of the operand 'hidden',"
    ):
        family.resolve_all(tuple(network(forms)[1]), family.complete(attributes(forms)), (other, None, None))
