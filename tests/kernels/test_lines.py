"""The entries lookup, mean and softmax of every ISA against NumPy on exact integers.

Hazards: values that no storage type holds, which must not reach outside a table; axes summed in any order; scales so
small or large that a ratio leaves float64."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt._ext.kernels import KernelCall, bind_lookup, bind_mean, bind_softmax
from qrt.errors import KernelError
from tests.kernels.draws import DTYPES, ISAS, Array, kernels, requants, storages, stored, zero_points

seeds = st.integers(0, 2**32 - 1)
REQUANT = numerics.requant_parameters("fixed", "i8", -128, 127, [(0.25,)], [(1.0,)], [1])


def run(call: KernelCall, *operands: Array) -> Array:
    out = np.full(call.operand_shapes[-1], 85, call.operand_dtypes[-1])
    call(*operands, out)
    return out


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_mean(isa: str, data: st.DataObject) -> None:
    storage = data.draw(storages())
    shape = tuple(data.draw(st.lists(st.sampled_from([1, 2, 3, 5, 17]), max_size=4)))
    axes = tuple(d for d in range(len(shape)) if data.draw(st.booleans()))
    kept = [n for d, n in enumerate(shape) if d not in axes]
    step = [0] * len(kept)
    if kept and data.draw(st.booleans()):
        step[data.draw(st.integers(0, len(kept) - 1))] = 1
    count = 1 + sum((n - 1) * s for n, s in zip(kept, step, strict=True))
    index = np.zeros(kept, np.int64)
    for d, s in enumerate(step):
        index += (np.arange(kept[d]) * s).reshape([-1 if i == d else 1 for i in range(len(kept))])
    x = stored(np.random.default_rng(data.draw(seeds)), storage, shape)
    zps = data.draw(zero_points(storage, count))
    requant = data.draw(requants(count))
    call = bind_mean(
        isa=isa, storage=storage.name, x_shape=shape, axes=axes, zero_points=zps, requant=requant, step=step
    )
    total = int(np.prod([shape[d] for d in axes]))
    acc = x.astype(np.int64).sum(axis=axes) - total * zps[index]
    np.testing.assert_array_equal(run(call, x), numerics.requantize(acc, requant, index).astype(call.operand_dtypes[1]))


def mean(**changed: Any) -> KernelCall:
    given: dict[str, Any] = {
        "isa": "ref", "storage": "i8", "x_shape": (2, 3), "axes": (1,), "zero_points": [0], "requant": REQUANT
    }  # fmt: skip
    return bind_mean(**(given | changed))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"axes": (2,)}, r"axes must be from 0 to 1, got \(2,\)"),
        ({"step": (1,)}, "zero_points has 1 values, expected 2"),
        ({"step": (0, 0)}, "step has 2 entries, expected 1"),
        ({"x_shape": (2, 0)}, "expected a sum of at least one element"),
        ({"x_shape": (1, 2**39), "zero_points": [2**40]}, "a sum of 549755813888 elements could overflow 64 bits"),
    ],
)
def test_binding_a_mean_refuses(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match="mean: " + message):
        mean(**changed)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("width", range(1, 9))
@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("out", ["i8", "u8", "i16", "u16", "i32", "u32"])
def test_lookup(isa: str, width: int, storage: str, out: str) -> None:
    """Every byte there is, also those beyond the width: they wrap around the table."""
    entries = 1 << width
    table = np.random.default_rng(width).integers(0, 256, entries).astype(DTYPES[out]) * np.array(37, DTYPES[out])
    least = -entries // 2 if storage == "i8" else 0
    x = np.arange(256).astype(DTYPES[storage])
    expected = table[(x.astype(np.int64) - least) % entries]
    bound = {"isa": isa, "storage": storage, "width": width, "out": out, "size": 256}
    np.testing.assert_array_equal(run(bind_lookup(**bound), x, table), expected)
    np.testing.assert_array_equal(run(bind_lookup(**bound, table=table), x), expected)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize("out", ["u8", "i16", "i32"])
def test_a_lookup_of_any_count_stays_in_its_memory(isa: str, width: int, out: str) -> None:
    """Hazards: blocks that end with the row, or a little before; rows that begin at any byte; elements behind them."""
    rng = np.random.default_rng(width)
    table = rng.integers(0, 2**31, 1 << width).astype(DTYPES[out])
    x = rng.integers(0, 256, 420).astype(np.uint8)
    for count in (*range(1, 140), *range(189, 196), *range(254, 260), 320, 383, 385):
        call = bind_lookup(isa=isa, storage="u8", width=width, out=out, size=count, table=table)
        first = count % 7
        given = np.full(count + 80, 85, DTYPES[out])
        expected = given.copy()
        expected[first : first + count] = table[x[first + 3 : first + 3 + count].astype(int) % (1 << width)]
        call(x[first + 3 : first + 3 + count], given[first : first + count])
        np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"storage": "i16"}, "the storage for a table must be i8 or u8, got 'i16'"),
        ({"width": 9}, "width"),
        ({"out": "f32"}, "unknown storage 'f32'"),
        ({"table": np.zeros(15, np.int16)}, "the table must be an array of 16 int16"),
        ({"table": np.zeros(16, np.int8)}, "the table must be an array of 16 int16"),
    ],
)
def test_binding_a_lookup_refuses(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"isa": "ref", "storage": "u8", "width": 4, "out": "i16", "size": 3}
    with pytest.raises(KernelError, match="lookup: " + message):
        bind_lookup(**(given | changed))


def softmax(**changed: Any) -> KernelCall:
    given: dict[str, Any] = {
        "isa": "ref", "storage": "i8", "x_shape": (2, 3), "axis": 1, "table": [2**30] + [7] * 255, "out": "u8",
        "storage_min": 0, "storage_max": 255, "zero_point": 0, "scale": 0.01,
    }  # fmt: skip
    return bind_softmax(**(given | changed))


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_softmax(isa: str, data: st.DataObject) -> None:
    storage, to = data.draw(storages((1, 8))), data.draw(storages())
    shape = tuple(data.draw(st.lists(st.sampled_from([0, 1, 2, 3, 17, 40]), min_size=1, max_size=3)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    table = np.random.default_rng(data.draw(seeds)).integers(0, 2**30, 256, endpoint=True)
    table[0] = 2**30
    scale = data.draw(st.sampled_from([2.0**-8, 1e-9, 5e-324, 1e308, 1.0]) | st.floats(1e-6, 1.0))
    zero_point = int(data.draw(zero_points(to, 1))[0])
    x = stored(np.random.default_rng(data.draw(seeds)), storage, shape)
    call = softmax(
        isa=isa, storage=storage.name, x_shape=shape, axis=axis, table=table, out=to.name, storage_min=to.low,
        storage_max=to.high, zero_point=zero_point, scale=scale,
    )  # fmt: skip
    expected = numerics.softmax(x, axis, table, scale, zero_point, to.low, to.high)
    np.testing.assert_array_equal(run(call, x), expected.astype(call.operand_dtypes[1]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"storage": "u16"}, "the storage for a table must be i8 or u8"),
        ({"axis": 2}, "axis"),
        ({"table": [1] * 255}, "table has 255 values, expected 256"),
        ({"table": [2**30 + 1] * 256}, "the entries of the table must be from 0 to 1073741824"),
        ({"table": [0] * 256}, "and the first above 0"),
        ({"scale": 0.0}, "the scale must be positive and finite, got 0.0"),
        ({"scale": np.inf}, "the scale must be positive and finite, got inf"),
        ({"storage_max": 256}, "the storage bounds must be an ascending range within u8, got 0:256"),
        ({"x_shape": (2**33, 2**5), "axis": 0}, "a sum of 8589934592 elements could overflow"),
    ],
)
def test_binding_a_softmax_refuses(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match="softmax: .*" + message):
        softmax(**changed)
