"""lstm: a long short-term memory in integers, as LiteRT computes it (docs/numerics_functions.md).

x is [batch, steps, inputs], or [steps, batch, inputs] if ``time_major``. The gates are input, forget, cell and output.
The state consists of hidden values (8 bits) and a cell (16 bits, with a scale that is a power of two). Two operands
give the state, and the second and third result return it. A step reads hidden values in the type of the operand, and
returns them in the type of the result. With a projection these types are equal, and the cell's output before the
projection has the scale ``made_scale`` and the zero point ``made_zero_point``.

The operands after x are those that ``operand_names`` returns for the attributes: with ``cifg`` there is no input gate.
"""

from collections.abc import Sequence
from math import frexp, inf
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_lstm
from qrt.errors import QuantTypeError, shown
from qrt.numerics import GATES
from qrt.ops.accumulate import check_expressed
from qrt.ops.checks import check_shape, shape_of_rank
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
    real_number,
    static_shape,
    uniform,
)
from qrt.ops.declare import Attribute, Declaration, Operand, Result
from qrt.ops.recurrent import check, check_bias_scale, is_whole_byte
from qrt.ops.sigmoids import is_symmetric_16
from qrt.types import TensorType, UniformType

LEAST_CELL, MOST_CELL = -15, -9
"""The exponents that the scale of a cell may have."""
_SUM_SCALES = tuple(f"{gate}_scale" for gate in GATES)
_NORM_UNIT = 2.0**-numerics.NORM_BITS
"""The scale of a layer normalization's bias, as a multiple of the scale of its weights."""


def operand_names(attributes: Attributes, count: int) -> tuple[str, ...]:
    """Return the names of the ``count`` operands of an lstm with these attributes.

    With a projection, its bias is optional. Raise QuantTypeError for another number of operands.
    """
    gates = GATES[1:] if attributes["cifg"] else GATES
    names = ["x", *(f"{kind}_{gate}" for kind in "wrb" for gate in gates), "hidden", "cell"]
    if attributes["peepholes"]:
        names += [f"p_{gate}" for gate in gates if gate != "cell"]
    if attributes["layer_norm"]:
        names += [f"n_{gate}" for gate in gates]
    if attributes["projection"]:
        names += ["projection", "projection_bias"][: 1 + (count > len(names) + 1)]
    if count != len(names):
        raise QuantTypeError(f"lstm: expected {len(names)} operands ({', '.join(names)}), got {count} operands")
    return tuple(names)


def _infer(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    name = "lstm"
    names = operand_names(attributes, len(types))
    at = {operand: index for index, operand in enumerate(names)}
    elements = [quantized(t, name, operand) for t, operand in zip(types, names, strict=True)]
    check_expressed(name, *elements)
    x, hidden, cell = (elements[at[operand]] for operand in ("x", "hidden", "cell"))
    for operand in ("x", "hidden"):
        check(name, types, at[operand], operand, is_whole_byte(elements[at[operand]]), "i8 per layer")
    check(name, types, at["cell"], "cell", is_symmetric_16(cell), "i16 per layer with zero point 0")
    cell_exponent(cell.scale, types)
    _check_numbers(types, attributes)
    for operand, rank in (("x", 3), ("hidden", 2), ("cell", 2)):
        shape_of_rank(name, types, at[operand], operand, rank)
    first, second, inputs = types[0].shape or ()
    batch, steps = (second, first) if attributes["time_major"] else (first, second)
    cells = (types[at["cell"]].shape or ())[1]
    values = (types[at["hidden"]].shape or ())[1] if attributes["projection"] else cells
    _check_weights(types, elements, names, attributes, (inputs, values, cells))
    check_shape(name, types, at["hidden"], "hidden", (batch, values))
    check_shape(name, types, at["cell"], "cell", (batch, cells))
    hidden_type = quantized(results[0], name, "the result") if results[0] is not None else hidden
    if not is_whole_byte(hidden_type):
        raise QuantTypeError(
            f"lstm: the results 'y' and 'hidden_out' must have a per-layer type with storage i8, got {hidden_type}"
        )
    if attributes["projection"] and hidden_type is not hidden:
        raise QuantTypeError(
            f"lstm: the results 'y' and 'hidden_out' must have the type of the operand 'hidden', {hidden}, for a "
            f"projection, got {hidden_type}"
        )
    check_expressed(name, x, hidden_type)
    around = (steps, batch) if attributes["time_major"] else (batch, steps)
    return (
        TensorType((*around, values), hidden_type),
        TensorType((batch, values), hidden_type),
        TensorType((batch, cells), cell),
    )


def _check_weights(
    types: Types,
    elements: Sequence[UniformType],
    names: Sequence[str],
    attributes: Attributes,
    sizes: tuple[int | None, int | None, int | None],
) -> None:
    """Raise QuantTypeError unless the weights of an lstm have the right element types, scales and shapes.

    Weights are i8, peepholes and layer normalizations i16, biases i32. The scale of a bias must be the product of the
    scales of its layer normalization, or else of its weights and the operand that they multiply. ``elements`` and
    ``names`` are the element types and the names of the operands, in order. ``sizes`` has the number of inputs, of
    hidden values and of cells.
    """
    inputs, values, cells = sizes
    scales = {operand: element.scale for operand, element in zip(names, elements, strict=True) if element.is_per_layer}
    for index, (operand, t) in enumerate(zip(names, elements, strict=True)):
        kind, _, gate = operand.partition("_")
        if kind in ("w", "r") or operand == "projection":
            is_weight = container(t) == "i8" and t.is_per_layer and t.zero_point == 0
            check("lstm", types, index, operand, is_weight, "i8 per layer with zero point 0")
            shape = (values, cells) if operand == "projection" else (cells, inputs if kind == "w" else values)
            check_shape("lstm", types, index, operand, shape)
        elif kind in ("p", "n"):
            check("lstm", types, index, operand, is_symmetric_16(t), "i16 per layer with zero point 0")
            check_shape("lstm", types, index, operand, (cells,))
        elif kind == "b":
            is_normalized = attributes["layer_norm"]
            scale = scales[f"n_{gate}"] * _NORM_UNIT if is_normalized else scales["x"] * scales[f"w_{gate}"]
            check_bias_scale("lstm", types, index, operand, scale)
            check_shape("lstm", types, index, operand, (cells,))
        elif operand == "projection_bias":
            check_bias_scale("lstm", types, index, operand, float(attributes["made_scale"]) * scales["projection"])
            check_shape("lstm", types, index, operand, (values,))


def _check_numbers(types: Types, attributes: Attributes) -> None:
    """Raise QuantTypeError for a clip, scale or zero point in the attributes that is out of range."""
    for name in ("cell_clip", "projection_clip"):
        clip = real_number("lstm", name, attributes[name])
        if not 0 <= clip < inf:
            fail("lstm", f"{name!r} must be positive and finite, or 0 for no clipping, got {shown(clip)}", types)
    for name in (*_SUM_SCALES, "made_scale"):
        scale = real_number("lstm", name, attributes[name])
        if not 0 < scale < inf:
            fail("lstm", f"{name!r} must be positive and finite, got {shown(scale)}", types)
        if name != "made_scale" and scale != numerics.GATE_UNIT and not attributes["layer_norm"]:
            fail("lstm", f"{name!r} must be 2**-12 without layer normalization, got {shown(scale)}", types)
    zero = attributes["made_zero_point"]
    if isinstance(zero, bool) or not isinstance(zero, (int, np.integer)) or not -128 <= zero <= 127:
        fail("lstm", f"'made_zero_point' must be an integer from -128 to 127, got {shown(zero)}", types)


def cell_exponent(scale: float, types: Types) -> int:
    """Return e for a cell's scale ``2**e``. Raise QuantTypeError unless e is an integer from -15 to -9."""
    fraction, exponent = frexp(scale)
    if fraction != 0.5 or not LEAST_CELL <= exponent - 1 <= MOST_CELL:
        fail(
            "lstm",
            f"the scale of 'cell' must be a power of two from 2**{LEAST_CELL} to 2**{MOST_CELL}, got {scale}",
            types,
        )
    return exponent - 1


def lstm_parameters(types: Types, results: Types, attributes: Attributes) -> numerics.LstmParameters:
    """Return the constants of an lstm's arithmetic (multipliers, zero points, clips) for these types and attributes."""
    names = operand_names(attributes, len(types))
    of = {name: uniform(t) for name, t in zip(names, types, strict=True)}
    x, hidden, cell, y = of["x"], of["hidden"], of["cell"], uniform(results[0])
    cell_output = (y.scale, y.zero_point)
    if attributes["projection"]:
        cell_output = float(attributes["made_scale"]), int(attributes["made_zero_point"])

    def scale(name: str) -> float | None:
        return of[name].scale if name in of else None

    gates = [
        numerics.lstm_gate(
            x.scale,
            hidden.scale,
            cell.scale,
            of[f"w_{gate}"].scale,
            of[f"r_{gate}"].scale,
            scale(f"p_{gate}"),
            scale(f"n_{gate}"),
            float(attributes[f"{gate}_scale"]),
        )
        if f"w_{gate}" in of
        else None
        for gate in GATES
    ]
    return numerics.lstm_parameters(
        (x.scale, x.zero_point),
        (hidden.scale, hidden.zero_point),
        cell_output,
        (y.scale, y.zero_point),
        cell_exponent(cell.scale, types),
        gates,
        scale("projection"),
        float(attributes["cell_clip"]),
        float(attributes["projection_clip"]),
    )


def _reference(
    arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes
) -> tuple[Array, Array, Array]:
    p, axis = lstm_parameters(types, results, attributes), 0 if attributes["time_major"] else 1
    of = dict(zip(operand_names(attributes, len(arrays)), arrays, strict=True))
    weights = [
        numerics.GateWeights(
            of[f"w_{gate}"], of[f"r_{gate}"], of[f"b_{gate}"], of.get(f"p_{gate}"), of.get(f"n_{gate}")
        )
        if f"w_{gate}" in of
        else None
        for gate in GATES
    ]
    projection = (of["projection"], of.get("projection_bias")) if "projection" in of else None
    hidden, cell = of["hidden"].astype(np.int64), of["cell"].astype(np.int64)
    y = np.empty(static_shape(results[0], "lstm"), np.int64)
    of_step = np.moveaxis(y, axis, 0)
    for step, x in enumerate(np.moveaxis(of["x"], axis, 0)):
        hidden, cell = numerics.lstm_step(x, weights, projection, hidden, cell, p)
        of_step[step] = hidden
    return y, hidden, cell


def _bind(types: Types, results: Types, attributes: Attributes, constants: Constants) -> KernelCall | None:
    p = lstm_parameters(types, results, attributes)
    first, second, inputs = static_shape(types[0], "lstm")
    (batch, values), (_, cells) = (static_shape(t, "lstm") for t in results[1:])
    return bind_lstm(
        isa=kernels.active(),
        steps=first if attributes["time_major"] else second,
        batch=batch,
        inputs=inputs,
        cells=cells,
        values=values,
        time_major=bool(attributes["time_major"]),
        points=(p.input_zero_point, p.hidden_zero_point, p.made_zero_point, p.result_zero_point),
        gates=[
            None if gate is None else (gate.input, gate.recurrent, gate.peephole, gate.norm, gate.least_variance)
            for gate in p.gates
        ],
        made=p.cell_output,
        projection=p.projection,
        has_projection_bias="projection_bias" in operand_names(attributes, len(types)),
        cell_exponent=p.cell_exponent,
        cell_clip=p.cell_clip,
        projection_clip=p.projection_clip,
    )


_LSTM = Declaration(
    "lstm",
    operands=(
        Operand("x"),
        Operand(
            "parts",
            "weights w_, recurrent weights r_ and biases b_, each of the gates input (not with `cifg`), forget, cell "
            "and output; the hidden state and the cell state; with `peepholes` their weights p_; with `layer_norm` its "
            "weights n_; with `projection` its weights and an optional bias",
            size="*",
        ),
    ),
    attributes=(
        Attribute("time_major", "boolean", False),
        Attribute("cell_clip", "number", 0.0),
        Attribute("cifg", "boolean", False),
        Attribute("peepholes", "boolean", False),
        Attribute("layer_norm", "boolean", False),
        *(Attribute(name, "number", numerics.GATE_UNIT) for name in _SUM_SCALES),
        Attribute("projection", "boolean", False),
        Attribute("projection_clip", "number", 0.0),
        Attribute("made_scale", "number", 2.0**-7),
        Attribute("made_zero_point", "integer", 0),
    ),
    result=Result("as declared"),
    results=("y", "hidden_out", "cell_out"),
    public=False,
)

FAMILIES: tuple[Any, ...] = (OpFamily(_LSTM, infer=_infer, reference=_reference, bind=_bind),)
