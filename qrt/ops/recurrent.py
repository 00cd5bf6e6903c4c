"""lstm and svdf: sequences that carry a state, in integers as LiteRT computes them (docs/numerics_recurrent.md).

``lstm`` runs a sequence: x [batch, steps, inputs], or [steps, batch, inputs] if ``time_major``. Its gates are input,
forget, cell and output. The state, hidden values of 8 bits and a cell of 16 whose scale is a power of two, comes as two
operands, and goes as the second and third result. A step reads hidden values in the type of the operand, and makes them
in the type of the result.

``svdf`` is a step of a rank-decomposed filter: features of x are kept for ``memory`` steps, and weighted over time. Its
state, 16 bits, is an operand and the second result.
"""

from collections.abc import Sequence
from math import frexp, inf
from typing import Any

import numpy as np

from qrt import kernels, numerics
from qrt._seam import _core
from qrt.errors import QuantTypeError, shown
from qrt.ops.accumulate import check_expressed
from qrt.ops.core import (
    Array,
    Attributes,
    BoundCall,
    Constants,
    OpFamily,
    Types,
    check_shape,
    container,
    fail,
    quantized,
    real_number,
    static_shape,
)
from qrt.ops.declare import BIAS, Attribute, Declaration, Operand, Result
from qrt.ops.sigmoids import is_symmetric_16
from qrt.types import TensorType, UniformType

_GATES = ("input", "forget", "cell", "output")
_X, _WEIGHTS, _RECURRENT, _BIASES = 0, slice(1, 5), slice(5, 9), slice(9, 13)
_HIDDEN, _CELL = 13, 14
LEAST_CELL, MOST_CELL = -15, -9
"""The exponents that the scale of a cell may have."""


def _is_whole_byte(t: UniformType) -> bool:
    return container(t) == "i8" and (t.storage_min, t.storage_max) == (-128, 127) and t.is_per_layer


def _check(name: str, types: Types, index: int, what: str, is_right: bool, wanted: str) -> None:
    if not is_right:
        fail(name, f"{what} must be {wanted}, not {types[index]}", types)


def _accumulator(name: str, types: Types, index: int, what: str, scale: float) -> None:
    """Checks a bias: i32 of the scale of the sums, to which it is added as it is."""
    t = quantized(types[index], name, what)
    fits = container(t) == "i32" and t.is_per_layer and t.zero_point == 0 and t.scale == scale
    _check(name, types, index, what, fits, f"i32 of scale {scale!r} and zero point 0")


# -- lstm ------------------------------------------------------------------------------------------------------------


def _lstm_infer(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    name = "lstm"
    elements = [quantized(t, name, _LSTM.operands[i].name) for i, t in enumerate(types)]
    check_expressed(name, *elements)
    x, hidden, cell = elements[_X], elements[_HIDDEN], elements[_CELL]
    for index in (_X, _HIDDEN):
        _check(name, types, index, _LSTM.operands[index].name, _is_whole_byte(elements[index]), "i8 per layer")
    _check(name, types, _CELL, "cell", is_symmetric_16(cell), "i16 per layer with zero point 0")
    cell_exponent(cell.scale, types)
    clip = real_number(name, "cell_clip", attributes["cell_clip"])
    if not 0 <= clip < inf:
        fail(name, f"cell_clip must be 0, for none, or positive and finite, got {shown(clip)}", types)
    if types[_X].rank != 3 or types[_CELL].rank != 2:
        fail(name, "x must have three dimensions, hidden and cell two", types)
    first, second, inputs = types[_X].shape or ()
    batch, steps = (second, first) if attributes["time_major"] else (first, second)
    cells = (types[_CELL].shape or ())[1]
    for index in range(1, 13):
        what, on_x = _LSTM.operands[index].name, index < _RECURRENT.start
        if index < _BIASES.start:
            is_weight = _is_whole_byte(elements[index].with_(storage_min=-128)) and elements[index].zero_point == 0
            _check(name, types, index, what, is_weight, "i8 per layer with zero point 0")
            check_shape(name, types, index, what, (cells, inputs if on_x else cells))
        else:
            _accumulator(name, types, index, what, x.scale * elements[index - 8].scale)
            check_shape(name, types, index, what, (cells,))
    for index in (_HIDDEN, _CELL):
        check_shape(name, types, index, _LSTM.operands[index].name, (batch, cells))
    made = _result_element(results, hidden)
    if not _is_whole_byte(made):
        raise QuantTypeError(f"lstm: the results y and hidden must be i8 per layer, not {made}")
    check_expressed(name, x, made)
    around = (steps, batch) if attributes["time_major"] else (batch, steps)
    state = (batch, cells)
    return TensorType((*around, cells), made), TensorType(state, made), TensorType(state, cell)


def _result_element(results: Sequence[TensorType | None], hidden: UniformType) -> UniformType:
    """The type of y, as it is declared, or that of the hidden values."""
    declared = results[0]
    return quantized(declared, "lstm", "the result") if declared is not None else hidden


def cell_exponent(scale: float, types: Types) -> int:
    """The exponent of a cell's scale, which is a power of two."""
    fraction, exponent = frexp(scale)
    if fraction != 0.5 or not LEAST_CELL <= exponent - 1 <= MOST_CELL:
        fail(
            "lstm",
            f"the scale of cell must be a power of two from 2**{LEAST_CELL} to 2**{MOST_CELL}, got {scale}",
            types,
        )
    return exponent - 1


def lstm_parameters(types: Types, results: Types, attributes: Attributes) -> numerics.LstmParameters:
    """The parameters of an lstm of these types."""
    elements = [quantized(t, "lstm", "an operand") for t in types]
    y = quantized(results[0], "lstm", "y")
    x, hidden, cell = elements[_X], elements[_HIDDEN], elements[_CELL]
    return numerics.lstm_parameters(
        (x.scale, x.zero_point),
        (hidden.scale, hidden.zero_point),
        (y.scale, y.zero_point),
        cell_exponent(cell.scale, types),
        [w.scale for w in elements[_WEIGHTS]],
        [w.scale for w in elements[_RECURRENT]],
        float(attributes["cell_clip"]),
    )


def _lstm_reference(
    arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
) -> tuple[Array, Array, Array]:
    p, axis = lstm_parameters(types, results, attributes), 0 if attributes["time_major"] else 1
    hidden, cell = arrays[_HIDDEN].astype(np.int64), arrays[_CELL].astype(np.int64)
    y = np.empty(static_shape(results[0], "lstm"), np.int64)
    of_step = np.moveaxis(y, axis, 0)
    for step, x in enumerate(np.moveaxis(arrays[_X], axis, 0)):
        weights = arrays[_WEIGHTS], arrays[_RECURRENT], arrays[_BIASES]
        hidden, cell = numerics.lstm_step(x, *weights, hidden, cell, p)
        of_step[step] = hidden
    return y, hidden, cell


def _lstm_bind(types: Types, results: Types, attributes: Attributes, constants: Constants) -> BoundCall | None:
    p = lstm_parameters(types, results, attributes)
    first, second, inputs = static_shape(types[_X], "lstm")
    batch, cells = static_shape(types[_CELL], "lstm")
    return _core.bind_lstm(
        isa=kernels.active(),
        steps=first if attributes["time_major"] else second,
        batch=batch,
        inputs=inputs,
        cells=cells,
        time_major=bool(attributes["time_major"]),
        x_zero_point=p.input_zero_point,
        hidden_zero_point=p.hidden_zero_point,
        result_zero_point=p.result_zero_point,
        multipliers=[*p.input, *p.recurrent, p.result],
        cell_exponent=p.cell_exponent,
        cell_clip=p.cell_clip,
    )


_LSTM = Declaration(
    "lstm",
    operands=(
        Operand("x"),
        *(Operand(f"w_{gate}") for gate in _GATES),
        *(Operand(f"r_{gate}") for gate in _GATES),
        *(Operand(f"b_{gate}") for gate in _GATES),
        Operand("hidden"),
        Operand("cell"),
    ),
    attributes=(
        Attribute("time_major", "boolean", False),
        Attribute("cell_clip", "number", 0.0),
    ),
    result=Result("as declared"),
    results=("y", "hidden_out", "cell_out"),
    public=False,
)


# -- svdf ------------------------------------------------------------------------------------------------------------


def _svdf_infer(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    name, rank = "svdf", attributes["rank"]
    x, feature, time, state = (quantized(t, name, _SVDF.operands[i].name) for i, t in enumerate(types[:4]))
    check_expressed(name, x, feature, time, state)
    _check(name, types, 0, "x", _is_whole_byte(x), "i8 per layer")
    is_weight = container(feature) == "i8" and feature.is_per_layer and feature.zero_point == 0
    _check(name, types, 1, "feature", is_weight, "i8 per layer with zero point 0")
    for index, t in ((2, time), (3, state)):
        _check(name, types, index, _SVDF.operands[index].name, is_symmetric_16(t), "i16 per layer with zero point 0")
    if any(types[i].rank != 2 for i in range(4)):
        fail(name, "x, feature, time and state must have two dimensions", types)
    (batch, inputs), (filters, memory) = types[0].shape or (), types[2].shape or ()
    if filters is None or memory is None or memory == 0:
        fail(name, "the shape of time must be known, and its second size not 0", types)
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1 or filters % rank:
        fail(name, f"rank must divide the {filters} filters, got {shown(rank)}", types)
    rank = int(rank)
    check_shape(name, types, 1, "feature", (filters, inputs))
    check_shape(name, types, 3, "state", (batch, filters * memory))
    if len(types) == 5:
        _accumulator(name, types, 4, "bias", state.scale * time.scale)
        check_shape(name, types, 4, "bias", (filters // rank,))
    if results[0] is None:
        raise QuantTypeError(f"{name}: the result type must be given (out_type)")
    element = quantized(results[0], name, "the result")
    check_expressed(name, x, element)
    if not _is_whole_byte(element):
        raise QuantTypeError(f"{name}: the result must be i8 per layer, not {element}")
    return TensorType((batch, filters // rank), element), TensorType((batch, filters * memory), state)


def svdf_parameters(types: Types, results: Types) -> numerics.SvdfParameters:
    """The parameters of an svdf of these types."""
    x, feature, time, state = (quantized(t, "svdf", "an operand") for t in types[:4])
    y = quantized(results[0], "svdf", "the result")
    return numerics.svdf_parameters(
        (x.scale, x.zero_point), (y.scale, y.zero_point), feature.scale, time.scale, state.scale
    )


def _svdf_reference(
    arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
) -> tuple[Array, Array]:
    x, feature, time, state, *bias = arrays
    parameters = svdf_parameters(types, results)
    return numerics.svdf_step(x, feature, time, state, bias[0] if bias else None, attributes["rank"], parameters)


def _svdf_bind(types: Types, results: Types, attributes: Attributes, constants: Constants) -> BoundCall | None:
    p, rank = svdf_parameters(types, results), int(attributes["rank"])
    (batch, inputs), (filters, memory) = static_shape(types[0], "svdf"), static_shape(types[2], "svdf")
    return _core.bind_svdf(
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

FAMILIES: tuple[Any, ...] = (
    OpFamily(_LSTM, infer=_lstm_infer, reference=_lstm_reference, bind=_lstm_bind),
    OpFamily(_SVDF, infer=_svdf_infer, reference=_svdf_reference, bind=_svdf_bind),
)
