"""Binding: a call is bound once, by what functions make of arguments where these have no description."""

from dataclasses import replace

import numpy as np
import pytest

import qrt
from qrt import QuantTensor
from qrt.ops.core import OpFamily
from qrt.tensor.binding import EagerCall, bind, eager
from tests.tensor.test_calls import FILTER, FLOATS, IMAGE, OUT, U4, U8, Call, Y, filled, hits, long_way, same

PACKED = qrt.pack(Y)
COPIED: dict[str, Call] = {
    "strided": (qrt.relu, (filled((4, 6))[:, ::2],), {}),
    "packed bits": (qrt.relu, (filled((5, 3), U4),), {}),
    "packed bits of a result": (qrt.requantize, (filled((5, 3)), U4), {}),
    "a list": (qrt.qcast, ([1.0, 2.0], U8), {}),
    "doubles": (qrt.quantize, (FLOATS.astype(float), U8), {}),
    "a list among attributes": (qrt.conv2d, (IMAGE, FILTER), {"padding": [[0, 1], [1, 0]], "out_type": OUT}),
    "an array among attributes": (qrt.mean, (filled((4, 5)), np.array([1])), {}),
    "strided, on packed weights": (qrt.matmul, (filled((8, 8))[::2, ::2], PACKED), {"out_type": OUT}),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_the_arguments_do_not_describe_is_bound_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, args, kwargs = COPIED[name]
    expected = function(*args, **kwargs)
    monkeypatch.setattr(OpFamily, "call", lambda *_: pytest.fail("bound anew"))
    with hits(0):
        assert same(function(*args, **kwargs), expected)


def test_an_array_among_attributes_is_read_each_time() -> None:
    """Its words hold no values."""
    q = filled((4, 4))
    for axis in (0, 1, 0, 1):
        assert qrt.mean(q, np.array([axis])).equals(qrt.mean(q, axis))


@pytest.mark.parametrize("reads", [(1,), (2,), (-1,), (), (0, 1)])
def test_what_does_not_fit_the_kernel_is_not_kept(reads: tuple[int, ...]) -> None:
    """Arrays of a kept call go to the kernel unchecked: a binder that names others must not make it read beyond."""

    @eager
    def wrong(a: QuantTensor, b: QuantTensor) -> EagerCall[QuantTensor]:
        bound: EagerCall[QuantTensor] = bind("clamp", (a,), {"min": 0.0, "max": None}, None, None)
        return replace(bound, family_call=replace(bound.family_call, reads=reads), key=None)

    a, b = filled((6, 7)), filled((1, 2))
    with hits(0):
        for _ in range(3):
            assert wrong(a, b).equals(long_way(qrt.relu, a))
