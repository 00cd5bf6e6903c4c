"""Values that functions take and return. Hazards: a function that others may call, a float that is read inside."""

import numpy as np
import pytest

from tests.quantization.export.programs import exported, ran
from tests.quantization.export.test_kernels import ops
from tests.quantization.export.test_program import ARRAYS, X, add

CALLS = "%0 = func.call @g(%x) : (X) -> X\n%1 = func.call @g(%0) : (X) -> X\n" + add("y", "1", "z")


def program(body, calls=CALLS, visibility="private "):
    """Two functions, one of which calls the other."""
    callee = f"func.func {visibility}@g(%x: X) -> X {{\n{body}return %r : X\n}}\n"
    return f"{callee}func.func @main(%x: X, %z: X) -> X {{\n{calls}return %y : X\n}}".replace("X", X)


def types_of(module, name="g"):
    """The types of a function, quantized or not."""
    type = module.function(name).type
    return ["quant" in str(each) for each in (*type.inputs, *type.results)]


def same(text):
    """Whether the exported program computes what the simulated one does, within one code for each region."""
    found, near = (ran(exported(text, to), ARRAYS) for to in ("fixed", "simulate"))
    return np.abs(np.subtract(found, near)).max() < 0.301


def test_a_private_function_takes_and_returns_storage():
    """One cast before the first call, none between the calls."""
    text = program(add("r", "x", "x"))
    module = exported(text, "fixed")
    assert types_of(module) == [True, True]
    assert types_of(module, "main") == [False] * 3
    assert ops(module, "quant") == ["qcast", "qcast", "dcast"]
    assert same(text)
    assert np.array_equal(ran(module, ARRAYS), ran(exported(text, "codegen"), ARRAYS))


@pytest.mark.parametrize(
    ("body", "calls", "types"),
    [
        ("%e = math.exp %x : X\n" + add("r", "e", "e"), CALLS, [False, True]),
        ("%e = math.exp %x : X\n" + add("r", "e", "x"), CALLS.replace("@g(%x)", "@g(%s)"), [True, True]),
        (add("s", "x", "x") + "%r = math.tanh %s : X\n", CALLS, [True, False]),
    ],
)
def test_floats_that_are_read(body, calls, types):
    """An argument that is read as a float is quantized only where every call gives a quantized value."""
    text = program(body, add("s", "x", "z") + calls)
    assert types_of(exported(text, "fixed")) == types
    assert same(text)


@pytest.mark.parametrize("visibility", ["", "public "])
def test_a_function_that_others_may_call(visibility):
    """Keeps its types."""
    text = program(add("r", "x", "x"), visibility=visibility)
    assert types_of(exported(text, "fixed")) == [False, False]
    assert same(text)


def test_a_function_that_is_named_elsewhere():
    """Whoever reads the name may call it, with floats."""
    text = program(add("r", "x", "x"), "%c = arith.constant {note.callee = @g} 0 : i32\n" + CALLS)
    assert types_of(exported(text, "fixed")) == [False, False]
