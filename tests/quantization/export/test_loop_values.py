"""Values that loops carry. Hazards: a first value that a loop without iterations must not round, a float that is read
beside the regions, a loop in a loop."""

import numpy as np
import pytest

from qrt import ir
from tests.quantization.export.programs import exported, ran
from tests.quantization.export.test_kernels import ops
from tests.quantization.export.test_program import ARRAYS, Q, R, X, add

LOOP = """%i0 = arith.constant 0 : index
%i1 = arith.constant 1 : index
"""


def looped(body, before="", count=3):
    """A program with a loop that carries one value."""
    body = LOOP + f"%n = arith.constant {count} : index\n{before}{body}return %y : X\n"
    return f"func.func @main(%x: X, %z: X) -> X {{\n{body}}}".replace("X", X)


def loop(body, first, yielded, name="r"):
    """A loop over %c."""
    head = f"%{name} = scf.for %i = %i0 to %n step %i1 iter_args(%c = %{first}) -> (X)"
    return f"{head} {{\n{body}scf.yield %{yielded} : X\n}}\n"


def types_of(module, name="scf.for"):
    """The types of the results of loops."""
    return [str(value.type) for op in module.operation.walk() if op.name == name for value in op.results]


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("to", ["fixed", "codegen"])
def test_a_loop_carries_storage(count, to):
    """From a region to a region: no cast is left in the loop."""
    before = add("s", "x", "z")
    body = loop(add("t", "c", "z"), "s", "t") + add("y", "r", "z")
    module = exported(looped(body, before, count), to)
    assert types_of(module) == [f"tensor<4x{ir.parse(f'func.func private @f({Q})').functions[0].type.inputs[0]}>"]
    assert ops(module, "quant").count("qcast") == 2
    assert ops(module, "quant").count("dcast") == 1
    simulated = exported(looped(body, before, count), "simulate")
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(simulated, ARRAYS))).max() < 0.101 * (1 + count)


@pytest.mark.parametrize("count", [0, 1, 3])
@pytest.mark.parametrize("to", ["fixed", "codegen"])
def test_a_result_that_is_read_as_a_float(count, to):
    """The loop carries storage. Without iterations it yields the initial value, which no region has rounded."""
    body = loop(add("t", "c", "z"), "x", "t") + "%y = arith.addf %r, %r : X\n"
    module = exported(looped(body, count=count), to)
    assert types_of(module)[0].startswith("tensor<4x!quant")
    assert ops(module, "arith").count("select") == (not count)
    (inner,) = (op for op in module.operation.walk() if op.name == "scf.for")
    assert not {op.name for op in inner.walk()} & {"quant.qcast", "quant.dcast"}
    simulated = exported(looped(body, count=count), "simulate")
    if not count:
        assert np.array_equal(ran(module, ARRAYS)[0], ARRAYS[0] * 2)
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(simulated, ARRAYS))).max() < 0.202 * count + 1e-9


@pytest.mark.parametrize(
    ("sign", "low", "high", "count"),
    [
        ("", 0, 3, 3),
        ("", 3, 0, 0),
        ("", -1, 1, 2),
        ("unsigned ", 0, 2, 2),
        ("unsigned ", 3, 0, 0),
        ("unsigned ", -1, 1, 0),
    ],
)
def test_bounds_that_only_the_run_knows(sign, low, high, count):
    """Signed and unsigned loops order them differently."""
    body = loop(add("t", "c", "z"), "x", "t").replace("scf.for", f"scf.for {sign}").replace("%i0 to", "%low to")
    text = f"func.func @main(%x: X, %z: X, %low: index, %n: index) -> X {{\n{LOOP}{body}return %r : X\n}}"
    module, simulated = (exported(text.replace("X", X), to) for to in ("fixed", "simulate"))
    assert types_of(module)[0].startswith("tensor<4x!quant")
    results = [ran(program, [*ARRAYS, np.int64(low), np.int64(high)]) for program in (module, simulated)]
    assert np.abs(np.subtract(*results)).max() < 0.101 * count + 1e-9


def test_a_first_value_that_is_quantized_wherever_it_is_read():
    """It is quantized before the loop."""
    body = loop(add("t", "c", "z"), "x", "t") + add("y", "r", "r")
    module = exported(looped(body), "fixed")
    assert types_of(module)[0].startswith("tensor<4x!quant")
    assert np.array_equal(ran(module, ARRAYS), ran(exported(looped(body), "codegen"), ARRAYS))


def test_a_first_value_of_another_type():
    """It is requantized by a cast before the loop, as it would be at the port inside."""
    before = add("s", "x", "z", out=R)
    body = loop(add("t", "c", "z"), "s", "t") + add("y", "r", "r")
    module = exported(looped(body, before), "fixed")
    assert types_of(module)[0].startswith("tensor<4x!quant.uniform<i8")
    simulated = exported(looped(body, before), "simulate")
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(simulated, ARRAYS))).max() < 0.401


def test_a_float_use_inside():
    """Reads the value that is carried, dequantized."""
    before = add("s", "x", "z")
    body = loop("%e = math.exp %c : X\n" + add("t", "e", "z"), "s", "t") + add("y", "r", "z")
    module = exported(looped(body, before), "fixed")
    assert types_of(module)[0].startswith("tensor<4x!quant")
    text = looped(body, before)
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(exported(text, "simulate"), ARRAYS))).max() < 0.501


def test_a_loop_in_a_loop_and_a_branch():
    """The inner one begins with what the outer one carries; both branches yield one type."""
    inner = loop(add("t", "d", "z"), "c", "t", "q").replace("%c =", "%d =").replace("%i =", "%j =")
    choice = f"""%f = arith.constant true
%u = scf.if %f -> (X) {{
{add("v", "q", "z")}scf.yield %v : X
}} else {{
{add("w", "z", "q")}scf.yield %w : X
}}
"""
    body = loop(inner + choice, "s", "u") + add("y", "r", "z")
    module = exported(looped(body, add("s", "x", "z")), "fixed")
    assert all(type.startswith("tensor<4x!quant") for type in (*types_of(module), *types_of(module, "scf.if")))
    assert ops(module, "quant").count("qcast") == 2


def test_branches_of_two_types():
    """Stay floats."""
    body = f"""%f = arith.constant true
%y = scf.if %f -> (X) {{
{add("v", "x", "z")}scf.yield %v : X
}} else {{
{add("w", "z", "x", out=R)}scf.yield %w : X
}}
"""
    assert types_of(exported(looped(body), "fixed"), "scf.if") == [X]
