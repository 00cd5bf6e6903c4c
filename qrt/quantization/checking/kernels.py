"""Checks that the types of a region's operands and results are those that a signature of its kernel accepts.

The checks compare storage, bounds, the axis or blocks of scales, and the constraint between the types. All comparisons
are exact.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import numpy as np

from qrt.errors import QuantTypeError, plural
from qrt.ir.dialects.quant.region import RegionOp
from qrt.quantization.checking.regions import LINEAR, RESCALE, PortOf, ports_of, shown
from qrt.quantization.forms.elements import dense_of
from qrt.quantization.targets.model import Constraint, QuantFn, Spec, Target, TargetKernel, TargetPort
from qrt.quantization.targets.patterns import body_form
from qrt.types import FloatType, NoQuantizedType, UniformType

Pair = tuple[PortOf, TargetPort]
_NO_FLOAT = NoQuantizedType(FloatType("f32"))
"""The specification that a target's constraint function gets for a port that is not a float."""
_BIAS_BITS, _LEAST_MULTIPLIER = 62, 2.0**-32
Orders = dict[int, Sequence[int]]
"""The order of an operand's axes in the kernel, by the number of the operand, if it differs from the body's order."""


def violation(region: RegionOp, target: Target) -> str | None:
    """Return the reason why no signature of a region's kernel accepts the region's types; None if one does.

    The caller has checked that all operands and results have final types.
    """
    ports = ports_of(region)
    for port in ports:
        if (wrong := _zero_point(port)) is not None:
            return wrong
    if region.kernel == RESCALE:
        return _rescale(region)
    if region.kernel == LINEAR or all(isinstance(port.spec, NoQuantizedType) for port in ports if port.is_float):
        return None
    signatures = target.signatures(region.kernel)
    if not signatures:
        return f"has parameters, but target '{target.name}' has no kernel '{region.kernel}'"
    orders = _orders(region, target)
    nearest: tuple[int, str | None] = (-2, None)
    for signature in signatures:
        count, wrong = _count_matches(region, ports, signature, target, orders)
        if wrong is None:
            return None
        if count > nearest[0]:
            nearest = count, wrong
    return nearest[1]


def fitting_signature(region: RegionOp, target: Target) -> TargetKernel:
    """Return the first signature of the kernel that accepts a region's types. Raise QuantTypeError if there is none."""
    ports, orders = ports_of(region), _orders(region, target)
    for signature in target.signatures(region.kernel):
        if _count_matches(region, ports, signature, target, orders)[1] is None:
            return signature
    raise QuantTypeError(violation(region, target) or f"target '{target.name}' has no kernel '{region.kernel}'")


def _zero_point(port: PortOf) -> str | None:
    """Return an error message if a zero point exceeds the default bounds of its storage type, else None.

    Types allow such zero points, but integer kernels do not.
    """
    spec = port.spec
    if not isinstance(spec, UniformType):
        return None
    low, high = spec.default_bounds
    outside = next((zero for zero in spec.zero_points if not low <= zero <= high), None)
    return (
        None
        if outside is None
        else (f"{port} is {spec.shown()}, whose zero point {outside} is outside of {low} to {high}")
    )


def _rescale(region: RegionOp) -> str | None:
    if len(region.operands) != 1 or len(region.results) != 1 or len(list(region.body)) != 1:
        return "is a rescale, which must return its operand"
    return None


def _orders(region: RegionOp, target: Target) -> Orders:
    """Map the number of an operand to a permutation if the kernel has its axes in another order, as for filters."""
    if all(not isinstance(spec, UniformType) or spec.is_per_layer for spec in region.input_specs):
        return {}
    form = body_form(region.body, region.kernel, target)
    operands = () if form is None else form.operands
    return {operand.number: operand.permutation for operand in operands if operand.permutation is not None}


def _count_matches(
    region: RegionOp, ports: list[PortOf], kernel: TargetKernel, target: Target, orders: Orders
) -> tuple[int, str | None]:
    """Return the number of leading ports that a signature accepts, and an error message, or None if all is accepted.

    The message is about the first port that the signature does not accept or, if there is none, about the constraint
    between the ports. The number is -1 if the signature has another number of operands or results.
    """
    matched = kernel.ports(len(region.operands), len(region.results))
    name = f"kernel '{kernel.name}' of target '{target.name}'"
    if matched is None:
        counts = f"{plural(len(region.operands), 'operand')} and {plural(len(region.results), 'result')}"
        return -1, f"has {counts}, which {name} does not accept"
    pairs = list(zip(ports, (*matched[0], *matched[1]), strict=True))
    for count, (port, taken) in enumerate(pairs):
        if not _fits(port, taken, orders):
            return count, f"{port} ({taken.name}) is {shown(port.spec)}, but {name} requires {_described(taken)}"
    related = [(port, taken) for port, taken in pairs if kernel.relates(taken)]
    for constraint in kernel.constraints:
        if (wrong := _constraint(region, kernel, constraint, related, target, orders)) is not None:
            shown_constraint = constraint if isinstance(constraint, str) else "a function of the target's"
            return len(pairs), f"{wrong}: the constraint of {name} is {shown_constraint}"
    return len(pairs), None


def _described(port: TargetPort) -> str:
    if port.given is not None:
        return port.given.shown()
    bounds = "" if port.low is None else f"<{port.low}:{port.high}>"
    words = [f"{port.storage}{bounds}"]
    if port.axis is not None:
        words.append(f"axis={port.axis}")
    if port.blocks is not None:
        words.append("blocks=" + ",".join(f"{axis}:{size}" for axis, size in port.blocks.items()))
    return " ".join(words + ["symmetric"] * port.symmetric)


# -- ports -------------------------------------------------------------------------------------------------------------


def _fits(port: PortOf, taken: TargetPort, orders: Orders) -> bool:
    spec = port.spec
    if not port.is_float:
        return True
    if isinstance(spec, NoQuantizedType | FloatType):
        return taken.storage == (spec.expressed_type if isinstance(spec, NoQuantizedType) else spec).name
    assert isinstance(spec, UniformType)  # the only other decided specification
    if taken.is_float or not _has_granularity(spec, taken, orders.get(port.number, range(port.rank))):
        return False
    if taken.is_wildcard:
        return True
    assert taken.low is not None
    assert taken.high is not None
    if spec.storage != taken.storage or spec.storage_min < taken.low or spec.storage_max > taken.high:
        return False
    middle = -((-taken.low - taken.high) // 2)
    return not taken.symmetric or all(zero == middle for zero in spec.zero_points)


def _has_granularity(spec: UniformType, taken: TargetPort, order: Sequence[int]) -> bool:
    if spec.is_per_layer:
        return taken.blocks is None
    if spec.is_per_axis:
        axis = taken.axis_of(len(order))
        return axis is not None and spec.axis == order[axis]
    if taken.blocks is None or any(axis >= len(order) for axis in taken.blocks):
        return False
    return dict(spec.block_sizes or ()) == {order[axis]: size for axis, size in taken.blocks.items()}


# -- constraints -------------------------------------------------------------------------------------------------------


def _constraint(
    region: RegionOp,
    kernel: TargetKernel,
    constraint: Constraint | QuantFn,
    related: list[Pair],
    target: Target,
    orders: Orders,
) -> str | None:
    if callable(constraint):
        return _function(region, constraint)
    if constraint == "fixed_scale":
        return next(filter(None, (_fixed(port, taken) for port, taken in related)), None)
    if constraint == "free":
        return None
    quantized = [(port, port.spec) for port, _ in related if isinstance(port.spec, UniformType)]
    if constraint == "same_scale":
        other = next((port for port, spec in quantized if spec is not quantized[0][1]), None)
        return None if other is None else f"{quantized[0][0]} and {other} differ in their types"
    inputs, results = ([port for port, _ in related if port.is_input is side] for side in (True, False))
    if constraint == "sum_scale":
        terms = [port.spec.scales for port in inputs if isinstance(port.spec, UniformType)]
        messages = (_range(kernel, [*map(Fraction, scales)], result) for scales in terms for result in results)
        return next(filter(None, messages), None)
    return _multiplier(kernel, constraint, inputs, results, target, orders)


def _function(region: RegionOp, constraint: QuantFn) -> str | None:
    """Return an error message unless a target's constraint function leaves the types of a region unchanged."""
    ports = ports_of(region)
    specs = [cast(Spec, port.spec) if port.is_float else _NO_FLOAT for port in ports]
    inputs, outputs = specs[: len(region.operands)], specs[len(region.operands) :]
    try:
        constraint(inputs, outputs)
    except Exception as error:  # a user's function may raise any exception
        return f"the constraint raises {type(error).__name__}: {_text_of(error)}"
    if (len(inputs), len(outputs)) != (len(region.operands), len(region.results)):
        return "the constraint changes the number of ports"
    for port, now, before in zip(ports, (*inputs, *outputs), specs, strict=True):
        if now is not before:
            return f"{port} is {shown(port.spec)}, expected {shown(now)}"
    return None


def _text_of(error: Exception) -> str:
    try:
        return " ".join(str(error).split())[:200]
    except Exception:
        return "without a message"


def _fixed(port: PortOf, taken: TargetPort) -> str | None:
    spec, given = port.spec, taken.given
    if given is None or not isinstance(spec, UniformType):
        return None
    return None if _parts(spec) == _parts(given) else f"{port} is {spec.shown()}, expected {given.shown()}"


def _parts(t: UniformType) -> tuple[object, ...]:
    """Return all properties of a type except its expressed type, for comparison."""
    return t.storage, t.storage_min, t.storage_max, t.scales, t.zero_points, t.axis, t.block_sizes


def _multiplier(
    kernel: TargetKernel,
    constraint: Constraint,
    inputs: list[PortOf],
    results: list[PortOf],
    target: Target,
    orders: Orders,
) -> str | None:
    a, w, *rest = (port.spec for port in inputs)
    if not isinstance(a, UniformType) or not isinstance(w, UniformType):
        return None
    is_any = kernel.multiplier == (0, float("inf"))
    products = [] if is_any else [Fraction(s) * Fraction(t) for s in a.scales for t in w.scales]
    for result in results:
        if (wrong := _range(kernel, products, result)) is not None:
            return wrong
    if constraint == "multiplier_accumulator_scale" and rest and isinstance(rest[0], UniformType):
        wanted = [a.scale * scale for scale in _channels(w, orders.get(inputs[1].number))] if a.is_per_layer else []
        wrong = _bias(a, wanted, rest[0], target.coarser_bias, inputs[2])
        return wrong or (_bias_is_lost(rest[0], wanted, inputs[2], results) if target.coarser_bias else None)
    return None


def _range(kernel: TargetKernel, reals: Sequence[Fraction], result: PortOf) -> str | None:
    """Return an error message if a number in ``reals``, divided by a result's scale, is no allowed multiplier.

    The kernel's attribute ``multiplier`` is the allowed range. If there are as many numbers as scales, number i is
    divided by scale i; otherwise every number is divided by every scale.
    """
    y, (low, high) = result.spec, kernel.multiplier
    if not isinstance(y, UniformType):
        return None
    for index, scale in enumerate(y.scales):
        for real in reals[index : index + 1] if len(reals) == len(y.scales) else reals:
            ratio = real / Fraction(scale)
            if ratio < Fraction(low) or (high != float("inf") and ratio > Fraction(high)):
                return f"the multiplier {float(ratio)!r} is outside {low:g} to {high:g} at {result}"
    return None


def _bias(a: UniformType, wanted: list[float], bias: UniformType, is_coarser: bool, port: PortOf) -> str | None:
    if not a.is_per_layer:
        return f"operand 0 is {a.shown()}, but must be per layer if there is a bias"
    if any(bias.zero_points):
        return f"{port} is {bias.shown()}, but must have zero point 0"
    count = max(len(wanted), len(bias.scales))
    if not {len(wanted), len(bias.scales)} <= {1, count}:
        return f"{port} has {len(bias.scales)} scales for {len(wanted)} channels"
    for channel in range(count):
        scale, product = bias.scales[channel % len(bias.scales)], wanted[channel % len(wanted)]
        if scale != product and not (is_coarser and _is_power_of_two(Fraction(scale) / Fraction(product))):
            return (
                f"{port} has scale {scale!r} in channel {channel}, expected the product of the factors' "
                f"scales, {product!r}"
            )
    return None


def _bias_is_lost(bias: UniformType, wanted: list[float], port: PortOf, results: list[PortOf]) -> str | None:
    """Return an error message if a kernel would lose a bias whose scale is coarser than the scale of the sums.

    ``wanted`` are the scales of the sums. A kernel loses the bias if the bias needs more than 62 bits at the scale of
    the sums. It also does so if the multiplier of the result is below 2^-32, because every sum then becomes 0
    (docs/numerics.md).
    """
    dense, spec = dense_of(port.value), results[0].spec
    scales, products = bias.scale_array.reshape(-1), np.asarray(wanted)
    if dense is None or not products.size or (scales == products).all():
        return None
    values = np.asarray(dense.python, np.float64).reshape(-1)
    units = spec.scale_array.reshape(-1) if isinstance(spec, UniformType) else np.zeros(1)  # a float loses nothing
    if not {values.size, scales.size, products.size, units.size} <= {1, values.size}:
        return None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        stored = np.clip(np.rint(values / scales), bias.storage_min, bias.storage_max)
        exponents = np.where(stored, np.frexp(stored)[1] + np.frexp(scales)[1] - np.frexp(products)[1], 0)
        is_lost = (exponents > _BIAS_BITS) | ((products < units * _LEAST_MULTIPLIER) & (np.abs(values) * 2 >= units))
    if not is_lost.any():
        return None
    return (
        f"{port} is up to 2^{exponents.max()} times the scale of the sums, and is lost: the values of "
        "operand 0 are too small compared with this bias; give data of the size that the program runs on, or a wider "
        "!quant.calibrated range at operand 0"
    )


def _channels(w: UniformType, order: Sequence[int] | None) -> Sequence[float]:
    """Return one scale for each output column of the weights; for a column with several blocks, the greatest scale.

    Columns run along the last axis of the weights in the kernel's axis order. ``order`` maps this order to the axes of
    the weights in the program.
    """
    if not w.is_sub_channel:
        return w.scales
    last = len(w.scales_shape) - 1 if order is None else order[-1]
    width = dict(w.block_sizes or ()).get(last, 1)
    columns = np.moveaxis(w.scale_array, last, 0).reshape(w.scales_shape[last], -1)
    return [max(column) for column in columns.tolist() for _ in range(width)]


def _is_power_of_two(ratio: Fraction) -> bool:
    return ratio.denominator == 1 and ratio.numerator.bit_count() == 1
