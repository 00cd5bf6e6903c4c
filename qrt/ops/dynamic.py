"""dynamic_matmul and dynamic_lstm: float32 operations whose products are quantized at run time.

docs/numerics_functions.md has the rules, which are those of DynamicQuantizeMatMul and DynamicQuantizeLSTM of ONNX
Runtime.

``dynamic_matmul`` quantizes x [..., depth] as a whole, and multiplies it with w [depth, columns].

``dynamic_lstm`` is a long short-term memory. x [steps, batch, inputs] is quantized as a whole, the hidden values
[batch, cells] at each step. The weights w [inputs, 4 * cells] and r [cells, 4 * cells] have 8 bits, per layer or with a
scale for each column. Their columns are in the order input, output, forget and cell gate. The state consists of hidden
values and a cell. Two operands give the initial state, and two results return the final state.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_dynamic_lstm, bind_dynamic_matmul
from qrt.errors import QuantTypeError
from qrt.ops.checks import (
    check_contracted,
    check_element,
    check_float_result,
    check_shape,
    shape_of_least_rank,
    shape_of_rank,
)
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    container,
    fail,
    parameters_of,
    quantized,
    static_shape,
    uniform,
)
from qrt.ops.declare import Attribute, Declaration, Operand, Result
from qrt.types import FloatType, TensorType, UniformType

_F32 = FloatType("f32")
_W, _R = 1, 2
_WEIGHT = "a type with storage i8 or u8, expressed type f32, zero points in its range, and scales per layer or axis 1"
_OPERANDS = ("x", "w", "r", "bias", "hidden", "cell")


# -- dynamic_matmul --------------------------------------------------------------------------------------------------


def _matmul_infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    w = quantized(types[1], "dynamic_matmul", "w")
    check_element("dynamic_matmul", types, 0, "x", _F32)
    *outer, inputs = shape_of_least_rank("dynamic_matmul", types, 0, "x", 1)
    if not _is_weight(w):
        fail("dynamic_matmul", f"'w' must have {_WEIGHT}, got {w}", types)
    depth, columns = shape_of_rank("dynamic_matmul", types, 1, "w", 2)
    check_contracted("dynamic_matmul", types, ("x", "w"), (inputs, depth), QuantTypeError)
    check_float_result("dynamic_matmul", types, result, _F32)
    return TensorType((*outer, columns), _F32)


def _matmul_reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, w = arrays
    product = numerics.dynamic_product(x.reshape(prod(x.shape[:-1]), x.shape[-1]), _columns(w, types[_W]))
    return np.where(np.isnan(product), np.float32("nan"), product).reshape(static_shape(result, "dynamic_matmul"))


def _matmul_bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    *rows, depth = static_shape(types[0], "dynamic_matmul")
    zero_points, scales = column_parameters(types[_W])
    return bind_dynamic_matmul(
        isa=kernels.active(),
        rows=prod(rows),
        depth=depth,
        columns=len(scales),
        w=container(uniform(types[_W])),
        w_zero_points=zero_points,
        w_scales=scales,
        w_constant=constants.get(_W),
    )


_MATMUL = Declaration("dynamic_matmul", operands=(Operand("x"), Operand("w")), result=Result("f32"), public=False)


# -- shared by both --------------------------------------------------------------------------------------------------


def _is_weight(t: UniformType) -> bool:
    if container(t) not in ("i8", "u8") or not (t.is_per_layer or t.axis == 1) or t.expressed_type != _F32:
        return False
    return all(t.storage_min <= zero_point <= t.storage_max for zero_point in t.zero_points)


def _infer(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    for index, name in enumerate(_OPERANDS):
        if index not in (_W, _R):
            check_element("dynamic_lstm", types, index, name, _F32)
        elif not _is_weight(quantized(types[index], "dynamic_lstm", name)):
            fail("dynamic_lstm", f"{name!r} must have {_WEIGHT}, got {types[index].element}", types)
    steps, batch, inputs = shape_of_rank("dynamic_lstm", types, 0, "x", 3)
    _, cells = shape_of_rank("dynamic_lstm", types, 5, "cell", 2)
    columns = None if cells is None else 4 * cells
    state = batch, cells
    for index, wanted in enumerate(((inputs, columns), (cells, columns), (columns,), state, state), _W):
        check_shape("dynamic_lstm", types, index, _OPERANDS[index], wanted)
    state_type = TensorType(state, _F32)
    return TensorType((steps, batch, cells), _F32), state_type, state_type


def column_parameters(t: TensorType) -> tuple[Array, Array]:
    """Return (zero points as int32, scales rounded to float32), two arrays with an entry for each column of weights."""
    assert isinstance(t.element, UniformType)  # the family accepts no other
    shape = static_shape(t, "dynamic_lstm")
    scale, zero_point = parameters_of(t.element, (1, shape[1]))
    scale = numerics.round_to_format(scale, "f32").astype(np.float32)
    wide = (np.broadcast_to(values, (1, shape[1])).ravel() for values in (zero_point.astype(np.int32), scale))
    return next(wide), next(wide)


def _columns(array: Array, t: TensorType) -> numerics.DynamicColumns:
    return numerics.DynamicColumns(array, *column_parameters(t))


def _reference(
    arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
) -> tuple[Array, Array, Array]:
    x, w, r, bias, hidden, cell = arrays
    weights = _columns(w, types[_W]), _columns(r, types[_R])
    return numerics.dynamic_lstm(x, *weights, bias, hidden, cell, bool(attributes["reverse"]))


def _bind(types: Types, results: Types, attributes: Attributes, constants: Constants) -> KernelCall | None:
    steps, batch, inputs = static_shape(types[0], "dynamic_lstm")
    (w_zero_points, w_scales), (r_zero_points, r_scales) = (column_parameters(types[i]) for i in (_W, _R))
    return bind_dynamic_lstm(
        isa=kernels.active(),
        steps=steps,
        batch=batch,
        inputs=inputs,
        cells=static_shape(types[5], "dynamic_lstm")[1],
        reverse=bool(attributes["reverse"]),
        w=container(uniform(types[_W])),
        w_zero_points=w_zero_points,
        w_scales=w_scales,
        r=container(uniform(types[_R])),
        r_zero_points=r_zero_points,
        r_scales=r_scales,
        w_constant=constants.get(_W),
        r_constant=constants.get(_R),
    )


_LSTM = Declaration(
    "dynamic_lstm",
    operands=tuple(map(Operand, _OPERANDS)),
    attributes=(Attribute("reverse", "boolean", False),),
    result=Result("f32"),
    results=("y", "hidden_out", "cell_out"),
    public=False,
)

FAMILIES: tuple[Any, ...] = (
    OpFamily(_MATMUL, packs=(_W,), infer=_matmul_infer, reference=_matmul_reference, bind=_matmul_bind),
    OpFamily(_LSTM, packs=(_W, _R), infer=_infer, reference=_reference, bind=_bind),
)
