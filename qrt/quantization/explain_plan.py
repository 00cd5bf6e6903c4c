"""A listing of a compiled program's steps: the kernel, the run time, and the bytes of operands and results."""

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
"""The attributes that name an operation's requantization rule; the first one present is reported."""


def explain_plan(program: Program, inputs: Mapping[str, Any] | None = None, *, repeats: int = 5) -> PlanReport:
    """Run a program and report the kernel, time and memory of each step.

    Parameters
    ----------
    program : Program
        The program.
    inputs : mapping of str to array, optional
        The inputs by name; by default random arrays, in which dynamic dimensions have size 1.
    repeats : int, default 5
        The number of runs. The time of a step is the median over the runs.

    Returns
    -------
    PlanReport

    Raises
    ------
    ModelError
        If the program does not accept the inputs.

    Examples
    --------
    >>> import qrt
    >>> text = "func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { %0 = arith.addi %x, %x : tensor<2xi32>  "
    >>> report = explain_plan(qrt.compile(text + "return %0 : tensor<2xi32> }"))
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
    coverage, op = step.coverage, getattr(step, "operation", None)
    return StepReport(
        segment,
        coverage.op,
        _rule(op),
        tuple(_list(op, "qrt.fused")),
        coverage.engine,
        coverage.detail,
        coverage.location,
        ", ".join(_list(op, "qrt.tensor")),
        seconds,
        share,
        sum(map(_bytes, (*step.operands, *step.results))),
    )


def _rule(op: Operation | None) -> str:
    """Return the name of an operation's requantization rule, from its attributes or the defaults of its op family.

    The text is empty if the operation has no such rule.
    """
    family = family_of(op)
    if op is None or family is None:
        return ""
    attributes = {**family.declaration.defaults, **{name: a.python for name, a in op.attributes.items()}}
    return next((str(attributes[name]) for name in RULES if isinstance(attributes.get(name), str)), "")


def _list(op: Operation | None, name: str) -> list[str]:
    """Return the strings in an operation's attribute ``name``, a string or an array; an empty list if it has none."""
    attribute_value = None if op is None else op.attributes.get(name)
    attributes = attribute_value.elements if isinstance(attribute_value, ArrayAttr) else [attribute_value]
    return [attribute.value for attribute in attributes if isinstance(attribute, StringAttr)]


def _bytes(place: SlotView) -> int:
    return 0 if place.type is None else prod(place.shape) * element_dtype(place.type.element).itemsize


def _drawn(port: Port) -> Array:
    """Return a random array for an input of a program, in which dynamic dimensions have size 1.

    Quantized elements are storage values over the whole storage range, floats are normally distributed, and integers
    are 0.
    """
    rng = np.random.default_rng(0)
    shape, element = tuple(1 if d is None else d for d in port.type.shape or ()), port.type.element
    dtype = element_dtype(element)
    if isinstance(element, UniformType):
        return rng.integers(element.storage_min, element.storage_max + 1, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype) if dtype.kind not in "iub" else np.zeros(shape, dtype)
