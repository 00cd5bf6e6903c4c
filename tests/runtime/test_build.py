"""Element-wise ops whose shapes the types leave open, planned for those that come, against the interpreter. Hazards: a
scalar taken for the shape of the others, one element read for many, sizes 1 and 0, several results."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from tests.runtime.programs import assert_same

DTYPES = {"i1": np.bool_, "i8": np.int8, "i32": np.int32, "i64": np.int64, "index": np.int64, "f32": np.float32}
OPS = {
    "arith.addi": "i8, i8 -> i8",
    "arith.muli": "index, index -> index",
    "arith.divsi": "i32, i32 -> i32",
    "arith.shrui": "i64, i64 -> i64",
    "arith.maxui": "i32, i32 -> i32",
    "arith.xori": "i1, i1 -> i1",
    "arith.cmpi slt,": "i32, i32 -> i1",
    "arith.cmpf olt,": "f32, f32 -> i1",
    "arith.addui_extended": "i32, i32 -> i32, i1",
    "arith.mulsi_extended": "i32, i32 -> i32, i32",
    "arith.mulf": "f32, f32 -> f32",
    "arith.negf": "f32 -> f32",
    "arith.extui": "i8 -> i32",
    "arith.trunci": "i32 -> i8",
    "arith.sitofp": "i32 -> f32",
    "arith.fptosi": "f32 -> i32",
    "arith.select": "i1, f32, f32 -> f32",
    "math.tanh": "f32 -> f32",
    "math.ctpop": "i32 -> i32",
    "math.isnan": "f32 -> i1",
    "math.fma": "f32, f32, f32 -> f32",
    "math.fpowi": "f32, i32 -> f32",
    "math.sincos": "f32 -> f32, f32",
}
CASTS = ("arith.extui", "arith.trunci", "arith.sitofp", "arith.fptosi")


def _typed(op, dims):
    """A program of one op on tensors of these dimensions."""
    given, made = ([f"tensor<{dims}{t}>" for t in part.split(", ")] for part in OPS[op].split(" -> "))
    values = ", ".join(f"%{i}" for i in "abc"[: len(given)])
    types = {"arith.select": f"{given[0]}, {given[-1]}", "math.fpowi": ", ".join(given)}.get(op, given[0])
    if op in CASTS:
        types = f"{given[0]} to {made[0]}"
    elif op == "arith.addui_extended":
        types = f"{given[0]}, {made[1]}"
    name = "%0" if len(made) == 1 else "%0:2"
    returned = "%0" if len(made) == 1 else "%0#0, %0#1"
    arguments = ", ".join(f"%{i}: {t}" for i, t in zip("abc", given, strict=False))
    return f"""func.func @main({arguments}) -> ({", ".join(made)}) {{
      {name} = {op} {values} : {types}
      return {returned} : {", ".join(made)}
    }}"""


def _arrays(op, shapes):
    elements = OPS[op].partition(" -> ")[0].split(", ")
    return [
        (np.arange(int(np.prod(shape))).reshape(shape) % 3 + 1).astype(DTYPES[element])
        for element, shape in zip(elements, shapes, strict=False)
    ]


def _outcome(program, arrays, interpret):
    try:
        return program.run({f"arg{i}": array for i, array in enumerate(arrays)}, interpret=interpret)
    except ModelError as error:
        return str(error)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize(
    ("dims", "shape"),
    [("?x", (0,)), ("?x", (1,)), ("?x", (4,)), ("?x3x", (1, 3)), ("*x", ()), ("*x", (1,)), ("*x", (2, 3))],
)
def test_open_shapes(op, dims, shape):
    program, arrays = qrt.compile(_typed(op, dims)), _arrays(op, [shape] * 3)
    planned = _outcome(program, arrays, False)
    assert all(value.shape == shape for value in planned.values())
    assert_same(planned, _outcome(program, arrays, True))


@pytest.mark.parametrize("op", [op for op, types in OPS.items() if ", " in types.partition(" -> ")[0]])
@pytest.mark.parametrize(
    ("dims", "shapes"),
    [
        ("?x", [(4,), (1,), (4,)]),
        ("?x", [(1,), (4,), (4,)]),
        ("*x", [(), (4,), (4,)]),
        ("*x", [(4,), (), ()]),
        ("*x", [(1,), (1, 1), (1,)]),
    ],
)
def test_shapes_that_disagree(op, dims, shapes):
    """NumPy would broadcast them, and a kernel would read what is not there, or one element of many."""
    program, arrays = qrt.compile(_typed(op, dims)), _arrays(op, shapes)
    planned, interpreted = (_outcome(program, arrays, interpret) for interpret in (False, True))
    assert "the operands must have the same shape" in planned
    assert planned == interpreted


@pytest.mark.parametrize("element", ["f32", "i8", "i64", "index", "i1"])
@pytest.mark.parametrize(
    ("dims", "shape"),
    [("?x", (0,)), ("?x", (1,)), ("?x", (4,)), ("?x?x", (2, 3)), ("*x", ()), ("*x", (4,)), ("4x", (4,))],
)
@pytest.mark.parametrize("flag", [False, True])
def test_one_flag_selects_whole_tensors(element, dims, shape, flag):
    t = f"tensor<{dims}{element}>"
    program = qrt.compile(f"""
    func.func @main(%p: i1, %a: {t}, %b: {t}, %unused: tensor<?xf32>) -> {t} {{
      %0 = arith.select %p, %a, %b : {t}
      return %0 : {t}
    }}""")
    a = (np.arange(int(np.prod(shape))).reshape(shape) % 2).astype(DTYPES[element])
    arrays = [np.bool_(flag), a, np.logical_not(a).astype(a.dtype), np.zeros(3, np.float32)]
    for interpret in (False, True):
        np.testing.assert_array_equal(_outcome(program, arrays, interpret)["result0"], arrays[1 if flag else 2])


def test_one_flag_does_not_select_between_shapes():
    program = qrt.compile("""
    func.func @main(%p: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
      %0 = arith.select %p, %a, %b : tensor<?xf32>
      return %0 : tensor<?xf32>
    }""")
    arrays = [np.True_, np.ones(1, np.float32), np.ones(4, np.float32)]
    outcomes = [_outcome(program, arrays, interpret) for interpret in (False, True)]
    assert "the operands must have the same shape" in outcomes[0]
    assert outcomes[0] == outcomes[1]
