"""gather, argmax, top_k and their like lowered. Hazards: indices of either width, batches that go with their indices,
the first of equals, NaNs and zeros of either sign, sizes known only at run time."""

import numpy as np
import pytest

from qrt.ops import FAMILIES
from qrt.runtime.compilation import compile
from qrt.types import FloatType, IntegerType, UniformType
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program, run
from tests.ops.harness import reference, tensor
from tests.ops.strategies import storage_of
from tests.ops.test_movement import T

I32, I64, F32 = IntegerType(32), IntegerType(64), FloatType("f32")
TYPES = [T, UniformType("u4", "f32", 0.5, 3), UniformType("i12", "f32", 0.5, 3)]
ODD = np.float32([[1, np.nan, np.inf, np.nan], [-np.inf, -1, -0.0, 0.0], [0.0, -0.0, 0.0, -0.0], [-np.inf] * 4])


@pytest.mark.parametrize("t", TYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "indices", "attributes"),
    [
        ((4, 3), (2, 3), {"axis": 0}),
        ((4, 3), (), {"axis": 1}),
        ((2, 3, 5, 2), (2, 3, 4), {"axis": 2, "batch_dims": 2}),
        ((2, 3, 5), (2, 2), {"axis": 2, "batch_dims": 1}),
        ((4, 0), (2,), {"axis": 0}),
        ((4, 3), (0,), {"axis": 0}),
    ],
)
def test_gather(t, shape, indices, attributes):
    rng = np.random.default_rng(1)
    for element in (I32, I64):
        chosen = rng.integers(0, shape[attributes["axis"]], indices).astype(f"i{element.width // 8}")
        types = [tensor(shape, t), tensor(indices, element)]
        check_lowered("gather", [storage_of(t, shape, rng), chosen], types, options=OPTIONS[:2], **attributes)


@pytest.mark.parametrize(
    ("shape", "indices"), [((4, 3), (5, 2)), ((4, 3, 2), (2, 3, 1)), ((3,), (1,)), ((3, 2), (4, 0))]
)
def test_gather_nd(shape, indices):
    rng = np.random.default_rng(2)
    chosen = rng.integers(0, shape[: indices[-1]], indices).astype(np.int32)
    check_lowered("gather_nd", [storage_of(T, shape, rng), chosen], [tensor(shape, T), tensor(indices, I32)])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("rows", "depth"), [((5,), 2), ((2, 3), 1), ((), 1), ((0,), 1), ((3,), 3)])
def test_scatter_nd(rows, depth, reduction):
    rng, shape = np.random.default_rng(6), (3, 4, 2)
    chosen = rng.integers(0, shape[:depth], (*rows, depth)).astype(np.int32)
    for element, dtype in ((I32, np.int32), (F32, np.float32)):
        x, updates = ((rng.normal(size=size) * 9).astype(dtype) for size in (shape, (*rows, *shape[depth:])))
        if element is F32:
            x, updates = (np.where(rng.random(each.shape) < 0.2, np.float32(np.nan), each) for each in (x, updates))
        types = [tensor(shape, element), tensor(chosen.shape, I32), tensor(updates.shape, element)]
        check_lowered("scatter_nd", [x, chosen, updates], types, options=OPTIONS[:2], reduction=reduction)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_cumsum(exclusive, reverse):
    rng = np.random.default_rng(7)
    attributes = {"axis": 1, "exclusive": exclusive, "reverse": reverse}
    for element, dtype in ((I32, np.int32), (F32, np.float32)):
        x = (rng.normal(size=(2, 5, 3)) * 1e8).astype(dtype)
        check_lowered("cumsum", [x], [tensor(x.shape, element)], options=OPTIONS[:2], **attributes)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("declared", [I32, I64], ids=str)
def test_the_first_of_equals(name, declared):
    rng = np.random.default_rng(3)
    for t, axis in zip(TYPES, (0, 1, -1), strict=True):
        x = rng.choice(storage_of(t, (2,), rng), (3, 2, 3))
        check_lowered(name, [x], [tensor(x.shape, t)], declared, options=OPTIONS[:2], axis=axis)
        ends = np.full((1, 3), t.storage_min if name == "argmax" else t.storage_max).astype(x.dtype)
        check_lowered(name, [ends], [tensor(ends.shape, t)], declared, options=OPTIONS[:1])


@pytest.mark.parametrize("name", ["argmax", "argmin", "reduce_max", "reduce_min"])
def test_floats(name):
    """Every bit, with NaNs and signed zeros."""
    attributes = {"axis": 1} if name.startswith("arg") else {"axes": (1,)}
    for x in (ODD, ODD[:, ::-1].copy()):
        check_lowered(name, [x], [tensor(x.shape, F32)], options=OPTIONS[:2], **attributes)


@pytest.mark.parametrize("element", [IntegerType(1), IntegerType(8), I64], ids=str)
def test_integers(element):
    x = np.array([[0, 1, 1], [1, 0, 0]]).astype({1: bool, 8: np.int8, 64: np.int64}[element.width])
    for name in ("argmax", "argmin", "reduce_max", "reduce_min"):
        check_lowered(name, [x], [tensor(x.shape, element)], options=OPTIONS[:2])


@pytest.mark.parametrize("options", OPTIONS[:2])
@pytest.mark.parametrize("k", [0, 1, 3, 4])
def test_top_k(k, options):
    rng = np.random.default_rng(4)
    for x, element in ((rng.choice(storage_of(T, (3,), rng), (2, 3, 4)), T), (ODD, F32)):
        types = (tensor(x.shape, element),)
        results = FAMILIES["top_k"].resolve_all(types, {"k": k})
        listed = ", ".join(map(str, results))
        text = (f"func.func @main(%arg0: {types[0]}) -> ({listed}) {{\n"
                f"  %y:2 = qrt.top_k %arg0 {{k = {k} : i64}} : ({types[0]}) -> ({listed})\n"
                f"  return %y#0, %y#1 : {listed}\n}}")  # fmt: skip
        expected = FAMILIES["top_k"].compute([x], types, results, {"k": k})
        for interpret in (True, False):
            got = compile(lowered(text, options)).run({"arg0": x}, interpret=interpret).values()
            for one, values in zip(got, expected, strict=True):
                np.testing.assert_array_equal(np.asarray(getattr(one, "storage", one)), values)


@pytest.mark.parametrize("options", OPTIONS[:2])
@pytest.mark.parametrize(
    ("name", "given", "declared", "attributes"),
    [
        ("slice", (None, 6), (None, 3), {"sizes": (-1, 3), "offsets": (1, 2), "strides": (2, 1)}),
        ("tile", (None, 6), (None, 12), {"multiples": (3, 2)}),
        ("reduce_max", (None, None), (None,), {"axes": (0,)}),
        ("argmax", (None, None), (None,), {"axis": 0}),
        ("resize_nearest", (None, 3, 2, None), (None, 4, 4, None), {"size": (4, 4)}),
        ("resize_bilinear", (None, 3, 2, None), (None, 4, 4, None), {"size": (4, 4)}),
    ],
)
def test_dynamic_dimensions(name, given, declared, attributes, options):
    shape = tuple(n or 5 for n in given)
    x = storage_of(T, shape, np.random.default_rng(5))
    element = I64 if name == "argmax" else T
    text = program(name, [x], [tensor(given, T)], tensor(declared, element), **attributes)
    expected, _ = reference(name, [x], [tensor(shape, T)], **attributes)
    for interpret in (True, False):
        np.testing.assert_array_equal(run(lowered(text, options), [x], interpret), expected)
