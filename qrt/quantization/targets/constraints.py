"""The named constraints of targets, as functions on the types of a kernel's ports (docs/reference/targets.md).

Scales are compared exactly, without a tolerance; products of scales are rounded to float64 or are exact rationals.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.elements import broadcast_arrays
from qrt.numerics.ranges import least_scale
from qrt.quantization.targets.model import Changed, Constraint, QuantFn, Spec, TargetKernel, TargetPort
from qrt.types import FloatType, NoQuantizedType, UniformType
from qrt.types.storage import default_bounds, parse_storage

Array = npt.NDArray[Any]


class _Ports:
    """The types of a kernel's inputs and outputs, which a constraint function changes in place.

    ``operands`` and ``results`` list the ports that the constraint relates. Each entry is a triple: the list that
    contains the port's type, the index in this list, and the port.
    """

    def __init__(self, kernel: TargetKernel, inputs: list[Spec], outputs: list[Spec]) -> None:
        ports = kernel.ports(len(inputs), len(outputs)) or ((), ())
        self._inputs, self._outputs = inputs, outputs
        self.results = [(outputs, i, port) for i, port in enumerate(ports[1]) if kernel.relates(port)]
        self.operands = [(inputs, i, port) for i, port in enumerate(ports[0]) if kernel.relates(port)]
        self._before = ([*inputs], [*outputs])

    @property
    def expressed(self) -> FloatType | None:
        """The widest float type that the operands and results express; None if no type expresses a float."""
        types = (spec if isinstance(spec, FloatType) else spec.expressed_type for spec in self._inputs + self._outputs)
        return max((type_ for type_ in types if type_ is not None), key=lambda type_: type_.width, default=None)

    @property
    def changed(self) -> Changed:
        """The indices of the inputs and outputs whose types were changed after construction, as two lists."""
        before_inputs, before_outputs = self._before
        return (
            [i for i, spec in enumerate(self._inputs) if spec is not before_inputs[i]],
            [i for i, spec in enumerate(self._outputs) if spec is not before_outputs[i]],
        )


def constraint_of(kernel: TargetKernel, *, coarser_bias: bool = False) -> QuantFn:
    """Return a kernel's constraint as a function that writes derived types into its lists of input and output types.

    The function returns the indices of changed inputs and outputs. It changes nothing while too few types are known,
    and never changes operands and results that stay float (``!quant.none``, a narrower float). It raises QuantTypeError
    if no types satisfy the constraint. The scale of a bias must be ``sa * sw``, the product of the factors' scales.
    With ``coarser_bias``, a multiple by 2, 4, 8 and so on is kept, too.

    >>> pool = TargetKernel("pool", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same_scale")
    >>> inputs, outputs = [UniformType("i8", "f32", 0.5, 3)], [FloatType("f32")]
    >>> constraint_of(pool)(inputs, outputs), str(outputs[0])
    (([], [0]), '!quant.uniform<i8:f32, 5.000000e-01:3>')
    """
    functions = [_function_of(kernel, constraint, coarser_bias) for constraint in kernel.constraints]
    if len(functions) == 1:
        return functions[0]

    def derive(inputs: list[Spec], outputs: list[Spec]) -> Changed:
        changed: Changed = [], []
        for function in functions:
            returned = function(inputs, outputs)
            if not isinstance(returned, tuple) or len(returned) != 2:
                return returned  # the caller reports what the function should have returned
            changed = [*changed[0], *returned[0]], [*changed[1], *returned[1]]
        return changed

    return derive


def _function_of(kernel: TargetKernel, constraint: Constraint | QuantFn, coarser_bias: bool) -> QuantFn:
    if callable(constraint):
        return constraint

    def derive(inputs: list[Spec], outputs: list[Spec]) -> Changed:
        ports = _Ports(kernel, inputs, outputs)
        if constraint == "same_scale":
            _same_scale(ports)
        elif constraint == "fixed_scale":
            _fixed_scale(ports)
        elif constraint == "sum_scale":
            _sum(kernel, ports)
        elif constraint != "free":
            _multiplier(kernel, constraint, ports, coarser_bias)
        return ports.changed

    return derive


def _is_open(spec: Spec, expressed: FloatType) -> bool:
    """Return True if a constraint may replace ``spec``, the type of floats of type ``expressed``, by another type.

    It may not replace ``!quant.none`` or another float type, because these keep the values float.
    """
    return spec is expressed if isinstance(spec, FloatType) else not isinstance(spec, NoQuantizedType)


def _same_scale(ports: _Ports) -> None:
    """Give all operands and results the type of the first quantized result, or else of the first quantized operand."""
    places = [*ports.results, *ports.operands]
    common = next((spec for specs, i, _ in places if isinstance(spec := specs[i], UniformType)), None)
    if common is None:
        return
    for specs, i, _ in places:
        if _is_open(specs[i], common.expressed_type):
            specs[i] = common


def _fixed_scale(ports: _Ports) -> None:
    expressed = ports.expressed
    for specs, i, port in (*ports.results, *ports.operands):
        given = port.given
        if given is not None and expressed is not None and _is_open(specs[i], expressed):
            specs[i] = given if given.expressed_type is expressed else given.with_(expressed=expressed)


# -- multipliers -------------------------------------------------------------------------------------------------------


def _sum(kernel: TargetKernel, ports: _Ports) -> None:
    for operands, i, _ in ports.operands:
        term = operands[i]
        for specs, k, _ in ports.results:
            y = specs[k]
            if isinstance(term, UniformType) and isinstance(y, UniformType):
                specs[k] = _grown(kernel, [Fraction(s) for s in term.scales], y)


def _multiplier(kernel: TargetKernel, constraint: Constraint, ports: _Ports, coarser_bias: bool) -> None:
    if len(ports.operands) < 2:
        return
    (factors, i, _), (weights, j, _), *biases = ports.operands
    a, w = factors[i], weights[j]
    if not isinstance(a, UniformType) or not isinstance(w, UniformType):
        return
    if constraint == "multiplier_accumulator_scale" and biases and a.is_per_layer:
        specs, k, port = biases[0]
        if _is_open(specs[k], a.expressed_type):
            weights[j] = w = _with_products(a, w)
            scales = accumulator_scales(a, w, ports.operands[1][2].blocks)
            specs[k] = _bias(specs[k], a, w, scales, port, coarser_bias)
    if kernel.multiplier == (0, inf):
        return
    for specs, k, _ in ports.results:
        y = specs[k]
        if isinstance(y, UniformType):
            specs[k] = _grown(kernel, [Fraction(s) * Fraction(t) for s in a.scales for t in w.scales], y)


def _grown(kernel: TargetKernel, reals: Sequence[Fraction], y: UniformType) -> UniformType:
    """Return the result's type ``y`` with scales enlarged, as little as possible, to bring all multipliers into range.

    A multiplier is one of ``reals`` divided by a scale of ``y``, and ``kernel.multiplier`` is its range. If there are
    as many reals as scales, real i is divided by scale i; otherwise every real is divided by every scale. Raises
    QuantTypeError if a multiplier is then too small.
    """
    low, high = kernel.multiplier
    scales = []
    for index, scale in enumerate(y.scales):
        own = reals[index : index + 1] if len(reals) == len(y.scales) else reals
        least = scale
        if high != inf and max(own) > Fraction(scale) * Fraction(high):
            least = _at_least(max(own) / Fraction(high), y)
        if min(own) < Fraction(least) * Fraction(low):
            raise QuantTypeError(
                f"{kernel.name}: the multipliers must be from {low:g} to {high:g}, but no scale of the result from "
                f"{scale:g} up gives such multipliers for all channels"
            )
        scales.append(least)
    return y if tuple(scales) == y.scales else y.with_(scales=scales[0] if y.is_per_layer else scales)


def _at_least(number: Fraction, t: UniformType) -> float:
    """Return the least scale, at least ``number``, that the expressed type of ``t`` can represent."""
    try:
        near = float(number)
    except OverflowError:
        near = inf
    above = near if near == inf or Fraction(near) >= number else nextafter(near, inf)
    return float(least_scale(np.asarray(above), np.float64(1), t.expressed_type.name))


# -- biases ------------------------------------------------------------------------------------------------------------


def accumulator_scales(a: UniformType, w: UniformType, blocks: Mapping[int, int] | None = None) -> Array:
    """Return the scales of the accumulators of a matrix product, which are also those of its bias: ``sa * sw``.

    ``a`` is the type of the activations, which has one scale, and ``w`` is that of the weights. The products are
    rounded to float64. If the weights have one scale, there is one product. Otherwise there is one for each output
    column, from the greatest scale of the column's blocks. Columns run along the last axis of the weights, or along the
    first if the weights are transposed: their block sizes then differ from ``blocks``, those of the kernel.

    >>> w = UniformType("i4", "f32", [[0.5], [2.0]], block_sizes={0: 32, 1: 2})
    >>> accumulator_scales(UniformType("i8", "f32", 0.25), w).tolist()
    [0.5, 0.5]
    """
    scales = w.scale_array
    if w.is_sub_channel:
        sizes = dict(w.block_sizes or ())
        last = 0 if blocks is not None and sizes != dict(blocks) else scales.ndim - 1
        columns = np.moveaxis(scales, last, 0).reshape(scales.shape[last], -1)
        scales = np.repeat(columns.max(axis=1), sizes.get(last, 1))
    return a.scale * scales


def _with_products(a: UniformType, w: UniformType) -> UniformType:
    """Enlarge the scales of the weights' type ``w`` whose product with the scale of ``a`` is too small for a bias."""
    least = float(max(w.expressed_type.smallest, 5e-324))
    scales = w.scale_array
    if (a.scale * scales >= least).all():
        return w
    enough = _at_least(Fraction(least) / Fraction(a.scale), w)
    grown = np.where(a.scale * scales < least, enough, scales)
    return w.with_(scales=float(grown) if w.is_per_layer else grown, zero_points=w.zero_point_array)


def _bias(
    spec: Spec, a: UniformType, w: UniformType, scales: Array, port: TargetPort, coarser_bias: bool
) -> UniformType:
    if isinstance(spec, UniformType) and _is_bias(spec, scales, port, coarser_bias):
        return spec
    least, greatest = float(a.expressed_type.smallest), float(a.expressed_type.largest)
    if not (least <= scales.min() and scales.max() <= greatest):
        wrong = scales.max() if scales.max() > greatest else scales.min()
        raise QuantTypeError(
            f"a bias cannot have the scale {wrong:g} with the expressed type {a.expressed_type}, the "
            f"product of the scales of {a.shown()} and {w.shown()}"
        )
    storage = "i32" if port.is_wildcard else port.storage
    axis = 0 if scales.ndim else None
    scale_or_scales = scales if scales.ndim else float(scales)
    return UniformType(
        storage, a.expressed_type, scale_or_scales, axis=axis, storage_min=port.low, storage_max=port.high
    )


def _is_bias(t: UniformType, scales: Array, port: TargetPort, coarser_bias: bool) -> bool:
    own = t.scale_array
    if t.is_sub_channel or t.zero_point_array.any() or (1 not in (own.size, scales.size) and own.size != scales.size):
        return False
    if not port.is_wildcard and (t.storage, t.storage_min, t.storage_max) != (port.storage, port.low, port.high):
        return False
    if coarser_bias:
        exponents = np.frexp(own)[1] - np.frexp(scales)[1]
        scales = np.ldexp(scales, np.maximum(exponents, 0))
    return bool((own == scales).all())


def bias_fits(values: Array, scales: Array | Sequence[float] | float, storage: str = "i32") -> Array:
    """Return, for each bias value, the least k >= 0 so that a storage with the scale ``scale * 2**k`` can represent it.

    The comparison is exact. If k is not 0, a target with coarser biases multiplies the scale of the bias by 2^k. Other
    targets multiply the scale of the weights, which also multiplies the scale of the bias. Values must be finite.

    >>> bias_fits([1.0, -3e9, 3e9], 1.0).tolist()
    [0, 1, 1]
    """
    low, high = default_bounds(*parse_storage(storage))
    values, units = broadcast_arrays(np.asarray(values, np.float64), np.asarray(scales, np.float64))
    exponents = np.zeros(values.shape, np.int64)
    reach = np.where(values < 0, -low, high)
    for place in np.argwhere(np.abs(values) / 2 > units * (reach / 4)):
        index = tuple(place)
        times = abs(Fraction(float(values[index]))) / (Fraction(float(units[index])) * int(reach[index]))
        exponents[index] = max((-(-times.numerator // times.denominator) - 1).bit_length(), 0)
    return exponents
