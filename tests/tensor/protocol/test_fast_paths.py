"""Ways that are taken for some types alone. Hazards: a table, NumPy's own routine or a narrow dtype where a zero point,
bounds, channels or packed bits forbid it; a result that is kept and belongs to other arguments."""

import operator
from collections.abc import Callable
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from tests.tensor.protocol.rationals import same, values
from tests.tensor.protocol.values import floats

AXIS, BLOCKS = {"scales": [0.5, 0.25, 0.5, 2.0], "axis": 0}, {"scales": [[0.5, 2.0]] * 4, "block_sizes": {0: 1, 1: 80}}
TYPES = {
    "zero 0": UniformType("i8", "f32", 0.5),
    "zero 3": UniformType("i8", "f32", 0.5, 3),
    "zero at an end": UniformType("i8", "f32", 0.5, -128),
    "zero in the middle": UniformType("i8", "f32", 0.5, -1, storage_min=-101, storage_max=99),
    "narrow bounds": UniformType("i8", "f32", 0.5, storage_min=-127),
    "zero beyond the bounds": UniformType("i8", "f32", 0.5, 3, storage_min=10, storage_max=100),
    "zero above the bounds": UniformType("u8", "f32", 0.5, 200, storage_min=10, storage_max=100),
    "unsigned": UniformType("u8", "f32", 0.5, 128),
    "unsigned from 0": UniformType("u8", "f32", 0.5),
    "3 bits": UniformType("u3", "f32", 0.5, 7),
    "5 bits": UniformType("i5", "f32", 0.5, -16),
    "1 bit": UniformType("i1", "f32", 0.5),
    "2 bits": UniformType("u2", "f32", 0.5, 1),
    "4 bits": UniformType("i4", "f32", 0.5, 3),
    "4 bits from 0": UniformType("i4", "f32", 0.5),
    "i16": UniformType("i16", "f32", 0.5, 300),
    "high u16": UniformType("u16", "f32", 0.5, 65005, storage_min=65000, storage_max=65010),
    "24 bits": UniformType("u24", "f32", 0.5, 1 << 23),
    "i32": UniformType("i32", "f32", 0.5, -(1 << 31)),
    "high u32": UniformType("u32", "f32", 0.5, (1 << 32) - 6, storage_min=(1 << 32) - 90, storage_max=(1 << 32) - 1),
    "u32": UniformType("u32", "f32", 0.5, 1 << 31),
    "float8 values": UniformType("i8", "f8E4M3FN", 2.0**-9, 3),
    "channels": UniformType("i8", "f32", **AXIS, zero_points=[3, -128, 0, 127]),
    "channels, first from 0": UniformType("i8", "f32", **AXIS, zero_points=[0, 3, -128, 127]),
    "channels from 0": UniformType("i8", "f32", **AXIS),
    "channels of one zero": UniformType("u8", "f32", **AXIS, zero_points=[7] * 4),
    "channels of 4 bits": UniformType("i4", "f32", **AXIS, zero_points=[3, -8, 0, 7]),
    "blocks": UniformType("i8", "f32", **BLOCKS, zero_points=[[3, -128]] * 4),
    "blocks of 2 bits": UniformType("u2", "f32", **BLOCKS, zero_points=[[3, 1]] * 4),
}
EVERY = pytest.mark.parametrize("t", TYPES.values(), ids=list(TYPES))
FEW, MANY = 32, 640


def tensor(t: UniformType, count: int) -> QuantTensor:
    """Of 4 rows; the least and the greatest storage, and those beside the zero point, are among the elements. Blocks
    have one shape."""
    near = [t.storage_min, t.storage_max, *(z + i for z in t.zero_points[:2] for i in (-1, 0, 1))]
    near = np.clip(near, t.storage_min, t.storage_max)
    drawn = np.random.default_rng(0).integers(t.storage_min, t.storage_max + 1, MANY)
    drawn[: len(near)] = drawn[-len(near) :] = near
    return QuantTensor(drawn[: MANY if t.is_sub_channel else count].reshape(4, -1), t)


@EVERY
@pytest.mark.parametrize("count", [FEW, MANY])
def test_signs_are_those_of_the_values(t: UniformType, count: int) -> None:
    """Few elements of 8 bits are looked up, many are not."""
    q = tensor(t, count)
    x = values(q)
    assert same(np.sign(q), (x > 0) * 1 - (x < 0) * 1)
    assert same(np.abs(q), abs(x))
    assert same(np.negative(q), -x)
    assert same(np.positive(q), x)
    assert np.array_equal(np.logical_not(q), x == 0)
    assert np.array_equal(np.logical_and(q, q), x != 0)
    assert np.array_equal(np.any(q, 0), (x != 0).any(0))
    assert np.count_nonzero(q) == (x != 0).sum()
    assert np.array_equal(np.signbit(q), x < 0)
    assert np.isfinite(q).all()
    assert not np.isnan(q).any()


@EVERY
@pytest.mark.parametrize("count", [FEW, MANY])
def test_powers_are_those_of_the_values(t: UniformType, count: int) -> None:
    q = tensor(t, count)
    bits = max(abs(n) for n in (x - z for x in (t.storage_min, t.storage_max) for z in t.zero_points)).bit_length()
    for n in (1, 2, 3):
        if n * bits < 31 and not t.is_sub_channel and str(t.expressed_type) == "f32":
            assert same(np.power(q, n), values(q) ** n)
        if n * bits < 53 and not t.is_sub_channel and str(t.expressed_type) == "f32":
            assert np.array_equal(np.power(q, n, dtype=np.float64), (values(q) ** n).astype(float))


@pytest.mark.parametrize("function", [np.sign, np.abs, np.negative, np.square])
def test_tables_of_types_are_told_apart(function: Any) -> None:
    kinds = [TYPES[name] for name in ("zero 3", "zero 0", "unsigned", "narrow bounds", "zero 3")]
    for t in (*kinds, UniformType("i8", "f32", 0.25, 3), UniformType("i8", "bf16", 0.5, 3)):
        q = tensor(t, FEW)
        result, x = function(q), values(q)
        assert result.type.expressed_type is t.expressed_type
        assert same(result, (x > 0) * 1 - (x < 0) * 1 if function is np.sign else function(x))


@EVERY
def test_numbers_beside_the_storage(t: UniformType) -> None:
    """The storage is compared in its own dtype, which does not hold every number."""
    q = tensor(t, FEW)
    x, scale = floats(q), Fraction(t.scales[0])
    ends = [(n - t.zero_points[0]) * scale for n in (t.storage_min, t.storage_max)]
    exact = [0, *ends, ends[0] - scale, ends[1] + scale, ends[1] + scale / 4, ends[0] + scale / 4, 10**30, -(10**30)]
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for number in exact:
            for given in {number, float(number), float(x.ravel()[1])}:
                assert np.array_equal(compare(q, given), compare(x, given).astype(bool)), (compare, given)
        for given in (inf, -inf, nan):
            assert np.array_equal(compare(q, given), compare(x.astype(float), given)), (compare, given)


MOVES: dict[str, Callable[[Any], Any]] = {
    "repeat": lambda x: np.repeat(x, 2, 1),
    "tile": lambda x: np.tile(x, (1, 2)),
    "roll": lambda x: np.roll(x, 1, 0),
    "rot90": np.rot90,
    "flip": lambda x: np.flip(x, 0),
    "delete": lambda x: np.delete(x, 1, 0),
    "diagonal": lambda x: np.diagonal(x[:, :4]),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([[1], [0], [3], [2]]), 1),
    "split": lambda x: np.split(x, 2)[1],
    "unstack": lambda x: np.unstack(x)[3] if hasattr(np, "unstack") else x[3],
    "concatenate": lambda x: np.concatenate([x, x], 1),
    "stack": lambda x: np.stack((x, x), -1),
    "vstack": lambda x: np.vstack([x, x]),
    "column_stack": lambda x: np.column_stack([x, x]),
    "append": lambda x: np.append(x, x, 0),
    "insert": lambda x: np.insert(x, 1, x[0], 0),
    "select": lambda x: np.select([np.eye(*x.shape, dtype=bool)], [x], x),
    "choose": lambda x: np.choose(np.eye(*x.shape, dtype=int), [x, x]),
    "diag": lambda x: np.diag(x[1])[:1, :1],
    "meshgrid": lambda x: np.meshgrid(x[0], x[1])[1],
}


@EVERY
def test_moved_elements_keep_their_values(t: UniformType) -> None:
    """A type whose parameters move along is no type per layer: its elements keep their values, or there is an error."""
    q = tensor(t, FEW)
    x = values(q)
    for name, move in MOVES.items():
        try:
            found = move(q)
        except QuantTypeError:
            assert not t.is_per_layer, name
        else:
            assert same(found, move(x)), name


@pytest.mark.parametrize("name", ["repeat", "roll", "concatenate", "stack", "insert", "select"])
def test_what_is_moved_to_new_memory_can_be_written(name: str) -> None:
    for t in (TYPES["zero 3"], TYPES["4 bits"]):
        q = tensor(t, FEW)
        before, found = q.storage.copy(), MOVES[name](q)
        found[...] = 0
        assert not np.asarray(found).any()
        assert np.array_equal(q.storage, before)


@pytest.mark.parametrize("name", ["zero 3", "channels from 0"])
def test_views_write_to_their_tensor(name: str) -> None:
    views: list[Callable[[Any], Any]] = [
        lambda x: np.flip(x, 0), np.rot90, lambda x: np.moveaxis(x, 0, 1), lambda x: np.swapaxes(x, 0, 1), np.transpose,
        lambda x: np.expand_dims(x, 1), lambda x: np.squeeze(x[None]), lambda x: np.split(x, 2)[0],
        lambda x: np.array_split(x, 3, 1)[0], lambda x: np.rollaxis(x, 1), lambda x: np.reshape(x, (4, -1, 1)),
    ]  # fmt: skip
    if hasattr(np, "unstack"):
        views += [lambda x: np.unstack(x)[1], lambda x: np.unstack(x, axis=1)[1]]
    for i, view in enumerate(views):
        q = tensor(TYPES[name], FEW)
        q[...] = 1
        view(q)[...] = 2
        assert np.array_equal(values(view(q)), np.full(view(q).shape, 2)), i


def test_a_part_of_packed_bits_is_read_only_however_it_is_made() -> None:
    q = tensor(TYPES["4 bits"], FEW)
    for part in (np.flip(q), np.moveaxis(q, 0, 1), np.diagonal(q[:, :4]), *np.split(q, 2), np.expand_dims(q, 0)):
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 0
    with pytest.raises(ValueError, match="without a copy"):
        np.reshape(q, (-1,), copy=False)


@pytest.mark.parametrize("name", ["zero 0", "zero 3", "unsigned", "4 bits", "high u32"])
def test_beside_a_diagonal_are_zeros(name: str) -> None:
    q = tensor(TYPES[name], FEW)[0]
    for k in (-3, -1, 0, 1, 3, np.int8(2)):
        assert same(np.diag(q, k), np.diag(values(q), k))
        assert same(np.diagflat(q[:0], k), np.diagflat(values(q)[:0], k))


@pytest.mark.parametrize("join", [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack])
def test_tensors_of_several_types_are_not_joined_as_storage(join: Any) -> None:
    q = tensor(TYPES["zero 3"], FEW)
    for other in (TYPES["zero 0"], TYPES["narrow bounds"], UniformType("i8", "f32", 0.25, 3), TYPES["channels"]):
        with pytest.raises(QuantTypeError):
            join([q, tensor(other, FEW)])
        with pytest.raises(QuantTypeError):
            join([q, np.zeros((4, 8), np.int8)])


def test_a_number_that_is_kept_belongs_to_its_type_and_kind() -> None:
    q, other = tensor(TYPES["zero 3"], FEW), tensor(TYPES["unsigned"], FEW)
    for _ in range(2):
        filled = np.full_like(q, 1)
        assert filled.storage.tolist() == [[5] * 8] * 4
        assert np.full_like(other, 1).storage.tolist() == [[130] * 8] * 4
        assert np.full_like(q, -0.0).equals(np.zeros_like(q))
        filled[...] = 9  # what is kept stays what it was
        with pytest.raises(QuantTypeError, match="real numbers"):
            np.full_like(q, True)
    assert np.where(np.eye(4, 8, dtype=bool), q, 1).storage[0, 1] == 5
    assert np.append(q, 1).storage[-1] == 5


@EVERY
def test_exact_integers_in_the_narrowest_dtype(t: UniformType) -> None:
    """Bounds about 2**15 and 2**31, and storage that wraps there."""
    if t.is_sub_channel or str(t.expressed_type) != "f32":
        return
    q = tensor(t, FEW)
    x = values(q)
    calls: list[Callable[[Any], Any]] = [
        lambda x: np.diff(x), lambda x: np.diff(x, 2, 1), lambda x: np.ptp(x, 1), lambda x: np.trace(x, 1),
        lambda x: np.prod(x[:, :2], 1), lambda x: np.add.accumulate(x, 1), lambda x: np.sum(x, 1),
    ]  # fmt: skip
    calls += [lambda x: np.kron(x, x), lambda x: np.convolve(x[0], x[1]), lambda x: np.cross(x[:, :3], x[:, 3:6])]
    calls += [lambda x: np.einsum("ij,kj->ik", x, x[:2]), lambda x: np.vecdot(x, x), lambda x: np.outer(x[0], x[1])]
    calls += [lambda x: np.einsum("ij->ji", x)]
    for i, call in enumerate(calls):
        try:
            found = call(q)
        except QuantTypeError:
            continue
        wanted = np.dot(x, x[:2].T) if i == 10 else (x * x).sum(1) if i == 11 else call(x)
        assert same(found, wanted), i
    assert np.linalg.norm(q[1]) == pytest.approx(float((x[1] * x[1]).sum()) ** 0.5, rel=1e-15)


def test_a_plan_of_a_product_holds_no_operand() -> None:
    """The second call of a signature finds what the first one planned: not its data, types or shapes."""
    kinds = [TYPES[name] for name in ("zero 3", "unsigned", "4 bits", "channels", "channels of one zero")]
    for t in (*kinds, *kinds):
        for count in (FEW, 64):
            q = tensor(t, count)
            for a, b in ((q, q), (q[::-1], q), (q, q[:, ::-1])):
                assert same(np.einsum("ij,ik->ijk", a, b), np.einsum("ij,ik->ijk", values(a), values(b)))
                assert same(np.vecdot(a, b), (values(a) * values(b)).sum(1))
    with pytest.raises(
        qrt.errors.QuantTypeError,
        match=r"axes that are multiplied must have the same size, got 8 and 4 in the shapes \(4",
    ):
        np.dot(tensor(TYPES["zero 3"], FEW), tensor(TYPES["zero 3"], FEW))


@pytest.mark.parametrize("name", ["zero 3", "unsigned", "5 bits", "i16", "u32", "4 bits"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sorted_storage_is_the_same_by_every_kind(name: str, axis: Any) -> None:
    q = tensor(TYPES[name], MANY)
    wanted = np.sort(q.storage, axis)
    for options in ({}, {"kind": "quicksort"}, {"stable": True}, {"kind": "heapsort"}):
        assert np.array_equal(np.sort(q, axis, **options).storage, wanted)
    assert np.array_equal(np.partition(q, 2, axis).storage, wanted)
    with pytest.raises(QuantTypeError):
        np.sort(q, axis, kind="stable", stable=True)
