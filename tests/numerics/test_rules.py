"""The table of requantization rules. Hazards: a name that some op takes and no row has; an unknown name, computed by
the last branch of something; a row that a consumer of the table cannot compute; an op that takes a rule of places and
rounds all elements alike."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from qrt import UniformType, numerics
from qrt._ext.kernels import bind_requantize
from qrt.errors import KernelError, QuantTypeError
from qrt.ops import FAMILIES
from tests import rules
from tests.ir.passes.lower_qrt.test_requantize import lowered

NAMES = (numerics.RequantizeName, numerics.MulName, numerics.AverageName, numerics.MeanName, numerics.ReduceSumName)
I8 = UniformType("i8", "f32", 1.0)
WIDE = (-(2**31), 2**31 - 1)


def test_every_name_has_a_row_and_every_row_a_name() -> None:
    assert {name for names in NAMES for name in get_args(names)} == set(numerics.RULES)
    assert set(get_args(numerics.SumName)) == set(numerics.SUM_RULES)
    assert {rule.arithmetic for rule in numerics.RULES.values()} == set(numerics.ARITHMETICS.values())


def test_rules_of_places_are_those_of_ops_that_know_places() -> None:
    """requantize tells blocks of 16 from what is behind them; no other op does."""
    choices = {op: family.declaration.choices.get("requant", ()) for op, family in FAMILIES.items()}
    behind = {name for name, rule in numerics.RULES.items() if rule.behind}
    assert {op for op, names in choices.items() if behind & set(names)} == {"requantize"}
    floats = {name for name, rule in numerics.RULES.items() if rule.summand == "floats"}
    assert {op for op, names in choices.items() if floats & set(names)} == {"avg_pool2d"}
    assert {rule.order for rule in numerics.RULES.values() if rule.name not in floats} == {""}


@pytest.mark.parametrize("name", numerics.RULES)
def test_what_a_rule_forms_is_what_its_arithmetic_reads(name: str) -> None:
    p = numerics.requant_parameters(name, "i8", -128, 127, [(0.3,)], [(0.7,)], [5], [4], [2])
    arrays = {"multiplier", "shift", "scale_f32", "scale_f64", "offset_f32", "divisor_f32"}
    assert {array for array in arrays if getattr(p, array).size} == set(numerics.ARITHMETICS[p.rule].reads)
    added = p.zero_point[0] == 5, bool(p.offset_f32.any())
    assert (
        added
        == {"after": (True, False), "before": (False, True), "none": (False, False)}[numerics.RULES[name].zero_point]
    )


@pytest.mark.parametrize("name", numerics.RULES)
def test_the_lowering_computes_every_row(name: str) -> None:
    p = numerics.requant_parameters(name, "i8", -128, 127, [(0.3,)], [(0.7,)], [5], [4], [2])
    acc = np.arange(-300, 300, 7, np.int32)[:, None]
    assert lowered(acc, p, I8, loops=False).tolist() == numerics.requantize(acc, p, [[0]]).tolist()


def in_rationals(name: str, acc: int, scales: tuple[float, ...], to: float) -> int:
    """Compute storage by tests/rules.py, which shares nothing with the table."""
    if name in ("raw_mean", "raw_sum"):
        return rules.raw_mean(acc, (scales[0], 2), (to, -5), 3, WIDE, name == "raw_mean")
    if name == "integer":
        return rules.integer(acc, 3, WIDE)
    return rules.requantize(name.removesuffix("_16"), acc, scales, to, WIDE, -5, 1 if name == "fixed8" else 3)


@pytest.mark.parametrize("name", [name for name, rule in numerics.RULES.items() if rule.summand != "floats"])
def test_every_rule_is_that_of_exact_rationals(name: str) -> None:
    """In 32 bits, where an ulp of a multiplier or of an offset shows."""
    rng = np.random.default_rng(list(numerics.RULES).index(name))
    for _ in range(20):
        scales = tuple(rng.uniform(0.1, 1, 1 if numerics.RULES[name].summand == "storage" else 2).tolist())
        to = float(rng.uniform(0.1, 1))
        acc = [*rng.integers(-(2**30), 2**30, 20).tolist(), -5, -1, 1, 3, 6, 7]
        counts = None if name == "fixed8" else [3]
        p = numerics.requant_parameters(name, "i32", *WIDE, [scales], [(to,)], [-5], counts, [2])
        assert numerics.requantize(acc, p).tolist() == [in_rationals(name, a, scales, to) for a in acc]


@pytest.mark.parametrize("name", [name for name, rule in numerics.RULES.items() if rule.summand == "floats"])
def test_averages_of_floats_are_those_of_exact_rationals(name: str) -> None:
    rng = np.random.default_rng(list(numerics.RULES).index(name))
    for _ in range(50):
        rows, (scale, to) = rng.integers(-(2**24), 2**24, (3, 5)), rng.uniform(0.1, 1, 2).tolist()
        p = numerics.requant_parameters(name, "i32", *WIDE, [(scale,)], [(to,)], [-5], [rows.size])
        total = numerics.sum_in_order((rows.astype(np.float32) * p.scale_f32[0])[None], numerics.RULES[name].order)
        wanted = rules.dequantized(rows.tolist(), (scale, 0), (to, -5), WIDE, name)
        assert numerics.requantize(total, p).tolist() == [wanted]


def test_an_unknown_rule_is_an_error_everywhere() -> None:
    with pytest.raises(QuantTypeError, match="unknown requantization rule 'fixd', expected one of fixed, "):
        numerics.requant_parameters("fixd", "i8", -128, 127, [(1.0,)], [(1.0,)], [0])
    with pytest.raises(QuantTypeError, match="unknown rule of a sum 'fixd', expected one of fixed, "):
        numerics.SUM_RULES["fixd"]
    known = numerics.requant_parameters("float64_away", "i8", -128, 127, [(1.0,)], [(1.0,)], [0])
    unknown = replace(known, rule="float64_even")
    acc = np.zeros((1, 1), np.int32)
    for compute in (lambda: numerics.requantize(acc, unknown), lambda: lowered(acc, unknown, I8, loops=False)):
        with pytest.raises(
            QuantTypeError, match="unknown arithmetic of a requantization 'float64_even', expected one of"
        ):
            compute()
    given = {"isa": "ref", "storage": "i8", "shape": (3,), "zero_points": [0]}
    with pytest.raises(KernelError, match="float64_even"):
        bind_requantize(**given, requant=unknown)


def test_sums_of_floats_are_those_of_pools_alone() -> None:
    """Their accumulators are floats, and they have no shift, which a kernel of integers would read."""
    average = numerics.requant_parameters("dequantized", "i8", -128, 127, [(1.0,)], [(1.0,)], [0], [1])
    with pytest.raises(KernelError, match="requantize: the rule dequantized is only for averages of floats"):
        bind_requantize(isa="ref", storage="i8", shape=(3,), zero_points=[0], requant=average)
