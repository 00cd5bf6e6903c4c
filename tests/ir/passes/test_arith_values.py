"""Folds and patterns of arith preserve every value: what a function gives before canonicalize it gives after.

Hazards: a promise (nsw, nuw) that the new operation breaks, a constant combined at another width, the sign of a zero.
"""

import itertools

import numpy as np
import pytest

from qrt import ir
from qrt.errors import UndefinedError
from qrt.ir import run_passes
from qrt.ir.dialects.arith.scalars import bind_operation, constant_value
from qrt.types import FloatType, TensorType, VectorType
from tests.ir.passes import arith_folds, arith_patterns
from tests.numerics.test_floats import hostile_bits, values
from tests.numerics.test_integers import held, interesting

CASES = arith_folds.CASES | arith_patterns.CASES | arith_patterns.OURS
RNG = np.random.default_rng(11)


def evaluate(function, arguments):
    """The result of a function of element-wise ops; constants of one value stand for their splats."""
    block = function.regions[0].blocks[0]
    known = dict(zip(block.arguments, arguments, strict=True))
    for operation in block:
        if operation.name == "func.return":
            return known[operation.operands[0]]
        if operation.name == "arith.constant":
            known[operation.results[0]] = constant_value(operation.attributes["value"])
            continue
        results = bind_operation(operation)(*(known[value] for value in operation.operands))
        results = results if isinstance(results, tuple) else (results,)
        known.update(zip(operation.results, results, strict=True))
    raise AssertionError("no terminator")


def candidates(type):
    element = type.element if isinstance(type, TensorType | VectorType) else type
    if isinstance(element, FloatType):
        return list(values(hostile_bits(element.name), element.name))
    width = getattr(element, "width", 64)
    return list(held(interesting(width), width))


def same(left, right):
    return np.array_equal(left, right, equal_nan=left.dtype.kind == "f") and (
        left.dtype.kind != "f" or np.array_equal(np.signbit(left) | np.isnan(left), np.signbit(right) | np.isnan(right))
    )


@pytest.mark.parametrize("name", CASES)
def test_values_are_preserved(name):
    module = ir.parse(arith_folds.program(*CASES[name]))
    before = ir.parse(str(module)).function("f")
    after = run_passes(module, "canonicalize").function("f")
    types = [argument.type for argument in before.regions[0].blocks[0].arguments]
    every = list(itertools.product(*map(candidates, types)))
    chosen = every if len(every) < 300 else [every[i] for i in RNG.integers(0, len(every), 300)]
    for arguments in chosen:
        with np.errstate(all="ignore"):
            try:
                expected = evaluate(before, arguments)
            except UndefinedError:
                continue
            assert same(expected, evaluate(after, arguments)), arguments


@pytest.mark.parametrize("name", ["divsi", "ceildivsi", "floordivsi", "remsi"])
def test_a_signed_one_of_one_bit_is_minus_one(name):
    """By it the least value has no quotient: upstream takes it for 1."""
    text = arith_folds.program("i1", "i1", f"arith.{name} {{true}}, {{true}} : i1")
    assert f"arith.{name}" in str(run_passes(ir.parse(text), "canonicalize"))
