"""docs/reference/requantization.md: every rule of the tables `numerics.RULES` and `numerics.SUM_RULES`, in words, with
who uses it and an example. `make expected` writes it.
"""

from collections.abc import Iterable, Sequence
from inspect import getdoc

import numpy as np

from qrt import numerics
from qrt.models.profiles import PROFILES
from qrt.numerics import RequantParameters, RequantRule, SumRule
from qrt.ops import FAMILIES
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "reference" / "requantization.md"
SUMS = ("add", "sub")
_HEAD = """# Requantization rules

An operation first computes an exact integer, its accumulator `acc`, such as the sum of the products of a `matmul`. A
requantization rule converts `acc` to the storage of the result. The attribute `requant` of an op names the rule.
Runtimes such as TFLite and ONNX Runtime use different rules, which differ in rounding. This page lists all rules, for
readers who choose one, or who want the same integers as a runtime.
[Numerics](../numerics.md#requantization) has the edge cases.

The page uses these names:

| name | meaning |
|---|---|
| `sa`, `sw`, `so` | the scales of the two operands of a product, and of the result |
| `si`, `zi` | scale and zero point of the operand, if there is only one |
| `z` | the zero point of the result |
| `M` | the real multiplier: `sa*sw/so` for a product, `si/so` for one operand; divided by n for an average of n \
elements |
| `M0`, `N`, `shift` | integers: `M` is approximately `M0 * 2^-N` or, in rules with `shift`, `M0 * 2^(shift-31)` |
| `f32(x)` | x rounded to float32 |

Many rules may be used by all *ops with a multiplier*: {ops}.

Every rule ends with a clamp to the bounds of the storage, `[min, max]`. Results of rules with two roundings, such as
`fixed_double`, may differ by one from `acc*M` rounded once.

If your fixed-point code computes `(acc + (1 << (n-1))) >> n`, use `fixed` with scales for which `M = 2^-n`. There is no
rule for `acc >> n`, which rounds down.

The table of rules has these columns:

| column | meaning |
|---|---|
| arithmetic | the numbers in which `acc` is multiplied by `M`: integers, floats of this format, or exact rationals |
| `M` | the format in which `M` is computed. "product": only the product of the scales is computed in float32, and the \
division in float64. "divisors": the product of the divisors, `so*n`, is computed first |
| rounding | how a result in the middle of two integers is rounded; two entries for two roundings |
| z is added | before or after the rounding |
| depends on position | not empty if the position of an element in the tensor may change its result: by its block of \
16, or by the order in which floats are added |

Each rule has an example. It shows the parameters for `sa = 0.1`, `sw = 0.3` and `so = 0.7`, and then the results for
accumulators from -10 to 10, with `M = 1/4` and z = 0. For rules that only `avg_pool2d`, `mean` or `sum` have, the
parameters are those for `si = 0.1`, `so = 0.7`, zi = 2, z = -5 and n = 3 elements. Parameters have the names of the
code:

| parameter | meaning |
|---|---|
| `multiplier`, `shift` | `M0`, and `N` or `shift`; in rules that divide by n, `multiplier` is n |
| `scale_f32`, `scale_f64` | the multiplier of rules with float arithmetic, or `f32(si)` |
| `divisor_f32`, `offset_f32` | the number by which the rule divides, `f32(so)`, and the offset that it adds |

"""
_SUMS_HEAD = """## Rules of sums

`add` and `sub` have five rules of their own. Some have the name of a rule above, but convert each operand to a common
scale first, and round the sum; [a table](../numerics_operations.md#sums) has the formulas. Here `sa` and `sb` are the
scales of the two operands, and `za`, `zb` and `zo` the zero points of the operands and of the result. In each example,
storage of scale 0.25 and zero point 3 is added to storage of scale 0.5 and zero point 0, and the result has scale 1 and
zero point 2.

"""
_SUMMANDS = {
    "values": "",
    "storage": "The accumulator is the sum of storage as it is, zero points included.",
    "floats": "The accumulator is a float32 sum of `f32(si)*(q - zi)`, each step rounded.",
}
_RATIOS = {
    "exact": "Compute `M` exactly, as the rational number that the stored doubles give.",
    "float64": "Compute `M` in float64: multiply the scales, then divide; each step is rounded.",
    "float32": "Compute `M` in float32: multiply the scales, then divide; each step is rounded.",
    "float32_product": "Multiply the scales in float32, then divide in float64 to get `M`; each step is rounded.",
    "float32_divisors": "Multiply the divisors in float32, then divide in float32 to get `M`; each step is rounded.",
}
_HALVES = {"half_up": "half up", "half_away": "half away from zero", "half_even": "half to even"}
_ZERO_POINTS = {
    "after": "Add z to the integer.",
    "before": "The offset contains the zero points, so that nothing is added after the rounding.",
    "none": "No zero point is added.",
}
_ARRAYS = {
    "multiplier": "n",
    "scale_f32": "the multiplier",
    "scale_f64": "the multiplier",
    "divisor_f32": "`f32(so)`",
    "offset_f32": "the offset",
}
_ORDERS = {
    "": "",
    "rows": "Floats are added one after the other, row by row.",
    "columns": "Floats are added down each column, and then the sums of the columns from the left.",
    "lanes": "Floats are added in four partial sums, [lanes](../numerics_operations.md#averages-of-floats).",
}
_JOINS = {"after": "after the rounding", "before": "before the rounding", "none": "z is not added"}
_OTHERS = {"fixed": "Used by MLIR's affine lowering, and by TOSA's RESCALE with one rounding."}
_STEPS = {"multiply": "multiply by", "divide": "divide by", "add": "add"}
_ACCUMULATORS = (-10, -6, -2, 2, 6, 10)


def page() -> str:
    """The page."""
    head = _HEAD.replace("{ops}", _listed(_ops_with(numerics.RULES["fixed"].name)))
    rules = "".join(map(_section, numerics.RULES.values()))
    sums = "".join(map(_sum_section, numerics.SUM_RULES.values()))
    return f"{head}{_table()}{rules}{_SUMS_HEAD}{sums}".rstrip() + "\n"


def _table() -> str:
    rows = [
        f"| [`{rule.name}`](#{rule.name}) | {rule.arithmetic.domain} | {_formed_in(rule) or 'not computed'} "
        f"| {', '.join(_HALVES[rounding] for rounding in rule.arithmetic.roundings)} | {_JOINS[rule.zero_point]} "
        f"| {rule.order and f'order of {rule.order}'}{rule.behind and f'blocks of {numerics.BLOCK}'} |\n"
        for rule in numerics.RULES.values()
    ]
    titles = ("rule", "arithmetic", "`M`", "rounding", "z is added", "depends on position")
    return f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|\n{''.join(rows)}\n"


def _formed_in(rule: RequantRule) -> str:
    """Say in which numbers a real multiplier is formed; nothing where there is none."""
    return rule.ratio.replace("_", ", ") if rule.arithmetic.steps[0][0] == "multiply" else ""


def sentence(rule: RequantRule) -> str:
    """Describe a rule: its accumulator if it is no plain sum, a numbered list of steps, and the elements it is for."""
    behind = rule.behind and (
        f"This rule applies to elements in whole blocks of {numerics.BLOCK}, counted from the tensor's first element. "
        f"The rule `{rule.behind}` applies to the elements after the last whole block."
    )
    accumulator = " ".join(part for part in (_SUMMANDS[rule.summand], _ORDERS[rule.order]) if part)
    forming = _RATIOS[rule.ratio] if _formed_in(rule) else ""
    steps = (forming, _forming_words(rule), arithmetic_words(rule), _ZERO_POINTS[rule.zero_point])
    numbered = "\n".join(f"{i}. {step}" for i, step in enumerate(filter(None, steps), 1))
    return "\n\n".join(part for part in (accumulator, numbered, behind) if part)


def _forming_words(rule: RequantRule | SumRule) -> str:
    """Return the docstring of the function that forms a rule's parameters, on one line."""
    return " ".join(f"{getdoc(rule.form)}".split())


def arithmetic_words(rule: RequantRule) -> str:
    """Say what is computed of an accumulator."""
    by = rule.arithmetic
    halves = [_HALVES[rounding] for rounding in by.roundings]
    if by.domain == "integer" and len(halves) == 1:
        return (
            f"Multiply by the integer `M0`, shift right arithmetically by N, and round {halves[0]}: "
            "`(acc*M0 + (1 << (N-1))) >> N`."
        )
    if by.domain == "integer":
        return (
            "If `shift` is positive, shift the accumulator left by it. Saturate to 32 bits, multiply by `M0`, shift "
            f"right arithmetically by 31, and round {halves[0]}. If `shift` is negative, then divide by `2^-shift`, "
            f"and round {halves[1]}."
        )
    steps = [f"{_STEPS[step]} {_ARRAYS[name]}" for step, name in by.steps]
    if by.domain == "exact":
        return f"Divide by {_ARRAYS[by.steps[0][1]]}, and round the exact quotient {halves[0]}."
    first = [] if by.element_scale else [f"round the accumulator to {by.domain}"]
    computed = [*first, *steps]
    bounds = "[min - z, max - z]" if rule.zero_point == "after" else "[min, max]"
    listed = f"{', '.join(computed[:-1])} and {computed[-1]}"
    whole = f"{listed}; each step is rounded to {by.domain}. Clamp to `{bounds}`, and round to an integer, {halves[0]}."
    return whole[0].upper() + whole[1:]


def _section(rule: RequantRule) -> str:
    return f"## {rule.name}\n\n{sentence(rule)}\n\n{_users(rule.name, _ops_with(rule.name), SUMS)}{_example(rule)}\n\n"


def _ops_with(name: str) -> list[str]:
    """List the ops that declare a rule and are no sums of two operands."""
    choices = {op: family.declaration.choices.get("requant", ()) for op, family in FAMILIES.items()}
    return [op for op, rules in choices.items() if name in rules and op not in SUMS]


def _listed(ops: Iterable[str]) -> str:
    return ", ".join(f"`{op}`" for op in ops)


def _users(name: str, ops: Sequence[str], not_of: Iterable[str] = ()) -> str:
    is_of_all = name in numerics.REQUANT_RULES
    uses = [f"Ops: {'the ops with a multiplier' if is_of_all else _listed(ops)}."]
    if name in _OTHERS:
        uses.append(_OTHERS[name])
    for profile in PROFILES.values():
        kernels = dict.fromkeys(row.op for row in profile.rows if row.rule == name and row.op not in not_of)
        if kernels:
            uses.append(f"Used by {profile.runtime} ({profile.description}) for {', '.join(kernels)}.")
    return "".join(f"- {use}\n" for use in uses)


def _example(rule: RequantRule) -> str:
    is_average = set(_ops_with(rule.name)) <= {"avg_pool2d", "mean", "sum"}
    scales = ([(0.1,)], [(0.7,)], [-5], [3], [2]) if is_average else ([(0.1, 0.3)], [(0.7,)], [0])
    formed = numerics.requant_parameters(rule.name, "i8", -128, 127, *scales)
    arrays = ", ".join(f"`{name} = {getattr(formed, name)[0]}`" for name in rule.arithmetic.reads)
    quarter = ([(0.25,)], [(1.0,)], [0], *(([1],) if is_average else ()))
    if rule.name == "integer":
        quarter = ([(1.0,)], [(1.0,)], [0], [4])
    given = numerics.requant_parameters(rule.name, "i8", -128, 127, *quarter)
    return f"- Example: {arrays}. {_stored(given, rule)}"


def _stored(given: RequantParameters, rule: RequantRule) -> str:
    acc = np.array(_ACCUMULATORS)
    results = numerics.requantize(acc * given.scale_f32[0] if rule.summand == "floats" else acc, given)
    return f"{_numbers(acc)} become {_numbers(results)}."


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values))


def _sum_section(rule: SumRule) -> str:
    left = "Shift both operands left by `left` bits: 20, or 15 for operands of 16 bits." if rule.is_shifted else ""
    end = {
        "fixed": "Multiply each operand by its integer, add, shift right arithmetically, and round half up.",
        "fixed_double": "Multiply each operand, and then their sum, by its ratio as in the rule `fixed_double`.",
        "raw_mean": "Multiply and add in fused steps of float32. Clamp, and round to an integer, half to even.",
    }
    sums = numerics.Sums(
        ("i8", -128, 127), [np.array([s]) for s in (0.25, 0.5, 1.0)], [np.array([z]) for z in (3, 0, 2)], 20
    )
    formed = rule.form(sums)
    a, b = np.arange(-2, 4), np.full(6, 1)
    given = (a, b) if rule.summand == "storage" else (a - 3, b)
    index = np.zeros(6, np.int64)
    results = numerics.requantize_sum(*given, formed, index)
    steps = (_forming_words(rule), left, end[formed.end.rule], _ZERO_POINTS[rule.zero_point])
    body = "\n".join(f"{i}. {step}" for i, step in enumerate(filter(None, steps), 1))
    example = f"- Example: {_numbers(a)}, each plus 1, become {_numbers(results)}."
    return f"### {rule.name} of sums\n\n{body}\n\n{_sum_users(rule.name)}{example}\n\n"


def _sum_users(name: str) -> str:
    uses = [f"Ops: {', '.join(f'`{op}`' for op in SUMS)}."]
    for profile in PROFILES.values():
        if any(row.rule == name and row.op == "add" for row in profile.rows):
            uses.append(f"Used by {profile.runtime} ({profile.description}).")
    return "".join(f"- {use}\n" for use in uses)
