"""The order of the operands of QLinearAdd. Hazards: a sum of two bytes that lies beside a tie, an operand of one
element, an axis of size 1 behind the one that counts, sizes known only at run time.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port

INPUTS = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]
TIED = {"as": np.float32(0.02534690499305725), "az": np.int8(-106), "bs": np.float32(0.035809919238090515),
        "bz": np.int8(-120), "ys": np.float32(0.0365859717130661), "yz": np.int8(-105)}  # fmt: skip
"""By these, -114 and -122 have a sum of -7.5000001 before the zero point: -112 if the operands are exchanged."""
KEPT, EXCHANGED = -113, -112


def added(a: Any, b: Any, **constants: Any) -> bytes:
    made = node("QLinearAdd", INPUTS, ["y"], domain="com.microsoft")
    return model([made], [port("a", "INT8", a), port("b", "INT8", b)], [port("y", "INT8")], {**TIED, **constants})


def operands(a: tuple[int, ...], b: tuple[int, ...]) -> dict[str, Any]:
    return {"a": np.full(a, -114, np.int8), "b": np.full(b, -122, np.int8)}


@pytest.mark.parametrize(
    ("a", "b", "sum_of_both"),
    [
        ((4,), (4,), KEPT),
        ((4,), (1,), KEPT),
        ((4,), (), KEPT),
        ((3, 4), (3, 1), KEPT),
        ((1, 4), (3, 1), KEPT),
        ((1, 4), (3, 4), KEPT),
        ((3, 1), (3, 1), KEPT),
        ((3, 1), (1, 1), KEPT),
        ((1, 3, 1), (2, 1, 1), KEPT),
        ((2, 1, 3, 1), (2, 4, 3, 1), KEPT),
        ((), (), EXCHANGED),
        ((1,), (1,), EXCHANGED),
        ((), (4,), EXCHANGED),
        ((1,), (4,), EXCHANGED),
        ((3, 1), (), EXCHANGED),
        ((3, 1), (1,), EXCHANGED),  # of the axis that both have
        ((3, 1), (3, 4), EXCHANGED),
        ((3, 1), (1, 4), EXCHANGED),
        ((1, 4, 1), (3, 4, 5), EXCHANGED),
        ((2, 1, 1), (1, 3, 1), EXCHANGED),
        ((2, 1, 1, 1), (2, 3, 1, 1), EXCHANGED),
    ],
)
def test_the_order_follows_from_the_shapes(a: tuple[int, ...], b: tuple[int, ...], sum_of_both: int) -> None:
    content = added(a, b)
    (y,) = run(content, **operands(a, b))
    assert set(y.ravel().tolist()) == {sum_of_both}
    if has_oracle():
        np.testing.assert_array_equal(run_oracle(content, operands(a, b))[0], y)


OPEN = [((None,), (None,)), ((None,), (4,)), ((None, 1), (None, 1)), ((None, None), (1, None)), ((3, None), ())]


@pytest.mark.parametrize(("a", "b"), OPEN)
def test_sizes_of_the_run_that_decide_are_refused(a: Any, b: Any) -> None:
    with pytest.raises(
        ModelError, match=r"QLinearAdd \(of sizes known only at run time, on which the order of the sum"
    ):
        imported(added(a, b))


@pytest.mark.parametrize(("a", "b"), OPEN)
def test_unless_no_sum_of_two_bytes_depends_on_the_order(a: Any, b: Any) -> None:
    content = added(a, b, ys=np.float32(0.0625), **{"as": np.float32(0.0625), "bs": np.float32(0.0625)})
    for size in (1, 4):
        shapes = [tuple(size if n is None else n for n in shape) for shape in (a, b)]
        (y,) = run(content, **operands(*shapes))
        if has_oracle():
            np.testing.assert_array_equal(run_oracle(content, operands(*shapes))[0], y)


@pytest.mark.parametrize(
    ("a", "b", "sum_of_both"),
    [
        ((None, 4), (None, 4), KEPT),
        ((None, 4), (4,), KEPT),
        ((None, 4, None), (None, 4, 1), KEPT),
        ((None, 1), (None, 4), EXCHANGED),
        ((None, None, 1), (1,), EXCHANGED),
        ((1, 1), (None, None), EXCHANGED),
    ],
)
def test_sizes_of_the_run_that_do_not_decide(a: Any, b: Any, sum_of_both: int) -> None:
    content = added(a, b)
    for sizes in product((1, 3), repeat=2):
        shapes = [
            tuple(size if n is None else n for n, size in zip(shape, sizes * 2, strict=False)) for shape in (a, b)
        ]
        (y,) = run(content, **operands(*shapes))
        assert set(y.ravel().tolist()) == {sum_of_both}
        if has_oracle():
            np.testing.assert_array_equal(run_oracle(content, operands(*shapes))[0], y)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_every_pair_of_bytes_beside_the_runtime(op: str) -> None:
    """Scales by which some sums lie beside ties; a product of bytes is exact, and so is the same in both orders."""
    if not has_oracle():
        pytest.skip("onnxruntime is not installed")
    values = np.arange(-128, 128).astype(np.int8)
    shapes = ((256, 1), (1, 256)), ((1, 256), (256, 1)), ((256, 1, 1), (1, 256, 1))
    made = node(op, INPUTS, ["y"], domain="com.microsoft")
    for a, b in shapes:
        content = model([made], [port("a", "INT8", a), port("b", "INT8", b)], [port("y", "INT8")], TIED)
        given = {"a": values.reshape(a), "b": values.reshape(b)}
        np.testing.assert_array_equal(run(content, **given)[0], run_oracle(content, given)[0])
