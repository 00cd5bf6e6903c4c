"""What a program runs, step by step: the kernel, the time and the memory of each."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from qrt.ir import ArrayAttr, Operation, StringAttr
from qrt.ops import family_of
from qrt.ops.core import Array, element_dtype
from qrt.quantization.report.steps import PlanReport, StepReport
from qrt.runtime.planner.slots import SlotView, Step
from qrt.runtime.ports import Port
from qrt.runtime.program import Program
from qrt.types import UniformType

RULES = ("requant", "rule", "rounding")
"""The attributes that say how an op rescales: the first that it has."""


def explain_plan(program: Program, inputs: Mapping[str, Any] | None = None, *, repeats: int = 5) -> PlanReport:
    """Runs a program, measures its steps, and says which kernel runs each.

    Parameters
    ----------
    program : Program
        The program.
    inputs : mapping of str to array, optional
        The inputs by name; drawn ones if not given, where open dimensions are 1.
    repeats : int, default 5
        How often it runs. The time of a step is the median.

    Returns
    -------
    PlanReport

    Raises
    ------
    ModelError
        If the program does not run on the inputs.

    Examples
    --------
    >>> from qrt import ir
    >>> text = "func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { %0 = arith.addi %x, %x : tensor<2xi32>  "
    >>> report = explain_plan(Program(ir.parse(text + "return %0 : tensor<2xi32> }")))
    >>> [(step.op, step.engine, step.bytes) for step in report.steps]
    [('arith.addi', 'kernel', 24)]
    """
    given = {port.name: _drawn(port) for port in program.inputs} if inputs is None else inputs
    plan = program.planned(given)
    timings = program.timings(given, repeats=repeats)
    steps = [(number, step) for number, segment in enumerate(plan.details.segments) for step in segment]
    return PlanReport(
        program.name,
        plan.isa,
        len(plan.details.segments),
        *plan.memory,
        sum(slot.nbytes for slot in plan.details.slots.values() if slot.kind == "constant" and slot.type is not None),
        tuple(
            _reported(number, step, timing.seconds, timing.share)
            for (number, step), timing in zip(steps, timings, strict=True)
        ),
    )


def _reported(segment: int, step: Step, seconds: float, share: float) -> StepReport:
    found, op = step.coverage, getattr(step, "operation", None)
    return StepReport(
        segment,
        found.op,
        _rule(op),
        tuple(_list(op, "qrt.fused")),
        found.engine,
        found.detail,
        found.location,
        ", ".join(_list(op, "qrt.tensor")),
        seconds,
        share,
        sum(map(_bytes, (*step.operands, *step.results))),
    )


def _rule(op: Operation | None) -> str:
    """The rule of an op: what it says, or else its family's default."""
    family = family_of(op)
    if op is None or family is None:
        return ""
    attributes = {**family.declaration.defaults, **{name: a.python for name, a in op.attributes.items()}}
    return next((str(attributes[name]) for name in RULES if isinstance(attributes.get(name), str)), "")


def _list(op: Operation | None, name: str) -> list[str]:
    """The strings of an attribute that is one, or a list of them."""
    found = None if op is None else op.attributes.get(name)
    each = found.elements if isinstance(found, ArrayAttr) else [found]
    return [attribute.value for attribute in each if isinstance(attribute, StringAttr)]


def _bytes(place: SlotView) -> int:
    return 0 if place.type is None else prod(place.shape) * element_dtype(place.type.element).itemsize


def _drawn(port: Port) -> Array:
    """Storage over the whole range, normal floats, and the integer 0."""
    rng = np.random.default_rng(0)
    shape, element = tuple(1 if d is None else d for d in port.type.shape or ()), port.type.element
    dtype = element_dtype(element)
    if isinstance(element, UniformType):
        return rng.integers(element.storage_min, element.storage_max + 1, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype) if dtype.kind not in "iub" else np.zeros(shape, dtype)
