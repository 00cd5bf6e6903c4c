"""Regions of several ops. Hazards: a rounding inside that nobody asked for, a type that an op inside does not take."""

import numpy as np
import pytest

from qrt.errors import VerifyError
from qrt.ir.core.constraints import element_of
from tests.quantization.export.programs import drawn_arrays, exported, function, ran, t
from tests.quantization.export.test_kernels import ops

X, Q, R = t(3, 4), "!quant.uniform<i8:f32, 0.05:3>", "!quant.uniform<i8:f32, 0.1:-5>"
INNER = "!quant.uniform<u8:f32, 0.0078125:100>"


def gate(body, types=(X, X), specs=(Q, R), out=R, kernel="mine.gate"):
    """The text of a region that no family is."""
    return function(types, X, body.replace("X", X), specs, out, kernel=kernel)


def test_exact_types_between_ops():
    """A product is i32 until the sum rounds it."""
    text = gate("%1 = arith.mulf %a, %b : X\n%y = arith.addf %1, %a : X")
    module = exported(text, "fixed")
    assert ops(module) == ["mul", "add"]
    (mul,) = [op for op in module.operation.walk() if op.name == "qrt.mul"]
    assert str(element_of(mul.result.type)) == f"!quant.uniform<i32:f32, {0.05 * 0.1!r}>"
    arrays = drawn_arrays(module, np.random.default_rng(0))
    assert np.array_equal(ran(module, arrays), ran(exported(text, "codegen"), arrays))
    assert np.abs(np.subtract(ran(module, arrays), ran(exported(text, "simulate"), arrays))).max() < 0.101


def test_types_that_the_body_says():
    """A table needs 8 bits: the body casts what it reads, and that is the type between the two ops."""
    q = f"tensor<3x4x{INNER}>"
    body = f"""%1 = arith.addf %a, %b : X
%q = quant.qcast %1 : X to {q}
%2 = quant.dcast %q : {q} to X
%y = math.tanh %2 : X"""
    module = exported(gate(body), "fixed")
    assert ops(module) == ["add", "lookup"]
    assert ops(module, "quant") == ["qcast", "qcast", "scast", "dcast"]
    arrays = drawn_arrays(module, np.random.default_rng(1))
    assert np.abs(np.subtract(ran(module, arrays), ran(exported(gate(body), "simulate"), arrays))).max() < 0.101


def test_a_body_that_is_neither():
    """No type for the table's operand, and no linear op: both are in one error."""
    with pytest.raises(VerifyError, match=r"math.tanh in its body is not linear.* quant.qcast") as caught:
        exported(gate("%1 = arith.addf %a, %b : X\n%y = math.tanh %1 : X"), "fixed")
    assert len(str(caught.value).splitlines()) <= 3


def test_linear_regions_are_never_split():
    """They round once, whatever ops they are made of."""
    module = exported(gate("%1 = arith.mulf %a, %b : X\n%y = arith.addf %1, %a : X", kernel="linear"), "fixed")
    assert ops(module) == []
