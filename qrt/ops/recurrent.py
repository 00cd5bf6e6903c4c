"""svdf: one step of a rank-decomposed filter in integers, as LiteRT computes it (docs/numerics_functions.md).

The features of x are kept for ``memory`` steps, and weighted over time. The kept features, of 16 bits, are the state:
an operand and the second result.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_svdf
from qrt.errors import QuantTypeError, shown
from qrt.ops.accumulate import check_expressed
from qrt.ops.checks import check_shape, required_element, shape_of_rank
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    container,
    fail,
    quantized,
    static_shape,
    uniform,
)
from qrt.ops.declare import BIAS, Attribute, Declaration, Operand, Result
from qrt.ops.sigmoids import is_symmetric_16
from qrt.types import TensorType, UniformType


def is_whole_byte(t: UniformType) -> bool:
    return container(t) == "i8" and (t.storage_min, t.storage_max) == (-128, 127) and t.is_per_layer


def check(name: str, types: Types, index: int, what: str, is_right: bool, wanted: str) -> None:
    if not is_right:
        fail(name, f"{what!r} must have the type {wanted}, got {types[index].element}", types)


def check_bias_scale(name: str, types: Types, index: int, what: str, scale: float) -> None:
    """Raise QuantTypeError unless a bias is i32 with this scale, the scale of the sums to which it is added.

    ``index`` is the number of the bias operand, ``what`` its name.
    """
    t = quantized(types[index], name, what)
    fits = container(t) == "i32" and t.is_per_layer and t.zero_point == 0 and t.scale == scale
    check(name, types, index, what, fits, f"i32 of scale {scale!r} and zero point 0")


def _svdf_infer(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    name, rank = "svdf", attributes["rank"]
    x, feature, time, state = (quantized(t, name, _SVDF.operands[i].name) for i, t in enumerate(types[:4]))
    check_expressed(name, x, feature, time, state)
    check(name, types, 0, "x", is_whole_byte(x), "i8 per layer")
    is_weight = container(feature) == "i8" and feature.is_per_layer and feature.zero_point == 0
    check(name, types, 1, "feature", is_weight, "i8 per layer with zero point 0")
    for index, t in ((2, time), (3, state)):
        check(name, types, index, _SVDF.operands[index].name, is_symmetric_16(t), "i16 per layer with zero point 0")
    for index in range(4):
        shape_of_rank(name, types, index, _SVDF.operands[index].name, 2)
    (batch, inputs), (filters, memory) = types[0].shape or (), types[2].shape or ()
    if filters is None or memory is None or memory == 0:
        fail(name, f"'time' must have a static shape with at least one column, got {types[2]}", types)
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1 or filters % rank:
        fail(
            name,
            f"'rank' must be a positive integer that divides the {filters} filters (rows of 'time'), got {shown(rank)}",
            types,
        )
    rank = int(rank)
    check_shape(name, types, 1, "feature", (filters, inputs))
    check_shape(name, types, 3, "state", (batch, filters * memory))
    if len(types) == 5:
        check_bias_scale(name, types, 4, "bias", state.scale * time.scale)
        check_shape(name, types, 4, "bias", (filters // rank,))
    element = required_element(name, results[0])
    check_expressed(name, x, element)
    if not is_whole_byte(element):
        raise QuantTypeError(f"{name}: the result must have a per-layer type with storage i8, got {element}")
    return TensorType((batch, filters // rank), element), TensorType((batch, filters * memory), state)


def svdf_parameters(types: Types, results: Types) -> numerics.SvdfParameters:
    """Return the constants of an svdf's arithmetic (multipliers and zero points) for these types."""
    x, feature, time, state = (uniform(t) for t in types[:4])
    y = uniform(results[0])
    return numerics.svdf_parameters(
        (x.scale, x.zero_point), (y.scale, y.zero_point), feature.scale, time.scale, state.scale
    )


def _svdf_reference(
    arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
) -> tuple[Array, Array]:
    x, feature, time, state, *bias = arrays
    parameters = svdf_parameters(types, results)
    return numerics.svdf_step(x, feature, time, state, bias[0] if bias else None, attributes["rank"], parameters)


def _svdf_bind(types: Types, results: Types, attributes: Attributes, constants: Constants) -> KernelCall | None:
    p, rank = svdf_parameters(types, results), int(attributes["rank"])
    (batch, inputs), (filters, memory) = static_shape(types[0], "svdf"), static_shape(types[2], "svdf")
    return bind_svdf(
        isa=kernels.active(),
        batch=batch,
        inputs=inputs,
        units=filters // rank,
        rank=rank,
        memory=memory,
        has_bias=len(types) == 5,
        x_zero_point=p.input_zero_point,
        result_zero_point=p.result_zero_point,
        multipliers=[p.feature, p.result],
    )


_SVDF = Declaration(
    "svdf",
    operands=(
        Operand("x"),
        Operand("feature"),
        Operand("time"),
        Operand("state"),
        BIAS,
    ),
    attributes=(Attribute("rank", "integer", 1),),
    result=Result("as declared"),
    results=("y", "state_out"),
    public=False,
)

FAMILIES: tuple[Any, ...] = (OpFamily(_SVDF, infer=_svdf_infer, reference=_svdf_reference, bind=_svdf_bind),)
