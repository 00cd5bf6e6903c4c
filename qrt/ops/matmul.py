"""matmul: ``a @ w`` with the shapes of NumPy's ``@``, an optional bias for each column, and fused requantization.

``acc[m, n] = sum_k (a[m, k] - za) * (w[k, n] - zw) + bias[n]``, then ``acc`` is requantized with the multiplier ``sa *
sw / so``. docs/numerics.md derives this from ``S_out (q_out - Z_out) = S_in S_w sum (q_in - Z_in)(q_w - Z_w) + S_b (q_b
- Z_b)``. Weights may be per axis along their columns, or sub-channel along K and the columns; ``a`` may be per axis
along its rows.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_gemm
from qrt.errors import QuantTypeError, QuantValueError
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.accumulate import (
    accumulator_bias,
    bias_operand,
    check_accumulator,
    check_bias,
    check_expressed,
    exact_result,
    with_prepared_bias,
    without_zero_point,
)
from qrt.ops.checks import (
    Dims,
    check_contracted,
    check_no_blocks,
    check_per_layer,
    shape_of_least_rank,
    spell_shape,
)
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Shape,
    Types,
    checked_result,
    container,
    declared_element,
    fail,
    parameter_index,
    parameters_of,
    quantized,
    static_shape,
    uniform,
    without_repeats,
)
from qrt.ops.declare import BIAS, Declaration, Operand, Traits, Weights
from qrt.ops.requant import REQUANT, combined_parameters, say_how_to_give_type
from qrt.ops.sub_channel import bias_in_blocks, block_parameters, column_scales, requantize_blocks
from qrt.types import TensorType, UniformType


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    a, w = quantized(types[0], "matmul", "a"), quantized(types[1], "matmul", "w")
    a_shape, w_shape = (shape_of_least_rank("matmul", types, i, name, 1) for i, name in enumerate("aw"))
    shape, depth = _result_shape(types, a_shape, w_shape)
    _check_axes(types, a, w)
    element = declared_element("matmul", result)
    columns = w_shape[-1] if len(w_shape) > 1 else 1
    bias = None
    if len(types) > 2:
        bias = check_bias("matmul", types[2], columns, a, w, len(w_shape) - 1)
    if element is None:
        if bias is not None:
            advice = say_how_to_give_type("matmul", "a, w, bias", None)
            raise QuantTypeError(f"matmul: no exact result type exists for sums with a bias: {advice}")
        element = exact_result("matmul", a, w, depth, _result_axis(types, a, w, len(shape)))
    check_expressed("matmul", a, w, bias, element)
    check_accumulator("matmul", a, w, depth, attributes["requant"], bias)
    check_no_blocks("matmul", types, "the result", element)
    if w.is_sub_channel:
        reason = "'w' has a sub-channel type"
        check_per_layer("matmul", types, "'a'", a, reason)
        if not _axis_is_last_or_none(element, shape):
            wanted = f"a type per layer, or per axis along the last axis, because {reason}"
            fail("matmul", f"the result must have {wanted}, got {element}", types)
    return checked_result("matmul", shape, element)


def _axis_is_last_or_none(element: UniformType, shape: Dims) -> bool:
    return element.is_per_layer or element.axis == len(shape) - 1


def _result_shape(types: Types, a: Dims, w: Dims) -> tuple[Dims, int | None]:
    """Return (result shape, K) for operands of these shapes, by NumPy's rules for ``@``."""
    k, depth = a[-1], w[-2] if len(w) > 1 else w[0]
    check_contracted("matmul", types, ("a", "w"), (k, depth), QuantValueError)
    batch: list[int | None] = []
    left, right = a[:-2][::-1], w[:-2][::-1]
    for i in range(max(len(left), len(right))):
        x, y = (left[i] if i < len(left) else 1), (right[i] if i < len(right) else 1)
        if x != y and 1 not in (x, y) and None not in (x, y):
            shapes = f"{spell_shape(a[:-2])} and {spell_shape(w[:-2])}"
            fail("matmul", f"'a' and 'w' must have batch shapes that broadcast, got {shapes}", types, QuantValueError)
        batch.append(y if x == 1 else x if y == 1 or x is not None else y)
    rows = a[-2:-1] if len(a) > 1 else ()
    columns = w[-1:] if len(w) > 1 else ()
    return (*batch[::-1], *rows, *columns), depth if k is None else k


def _check_axes(types: Types, a: UniformType, w: UniformType) -> None:
    """Raise QuantTypeError if scales vary along the contracted axis, except for scales of sub-channel weights."""
    assert types[0].shape is not None
    assert types[1].shape is not None
    a_rank, w_rank = len(types[0].shape), len(types[1].shape)
    check_no_blocks("matmul", types, "'a'", a)
    for what, t, contracted in (("'a'", a, a_rank - 1), ("'w'", w, max(w_rank - 2, 0))):
        if t.is_per_axis and t.axis == contracted:
            reason = f"axis {contracted}, which is contracted"
            fail(
                "matmul",
                f"{what} must not have several scales along {reason}, got {t}: requantize {what} to a per-layer type",
                types,
            )
    if w.is_sub_channel and w_rank != 2:
        fail("matmul", f"'w' must have rank 2, because its type is sub-channel, got rank {w_rank}", types)


def _result_axis(types: Types, a: UniformType, w: UniformType, rank: int) -> int | None:
    """Return the result's axis along which the channels of a per-axis operand are; None if both are per layer."""
    rows, columns = len(types[0].shape or ()) > 1, len(types[1].shape or ()) > 1
    batch_rank = rank - rows - columns
    for t, tensor, matrix_axis in ((w, types[1], rank - 1), (a, types[0], rank - 1 - columns)):
        if t.is_per_axis:
            assert t.axis is not None
            own_batch = len(tensor.shape or ()) - 2
            return matrix_axis if t.axis >= own_batch else batch_rank - own_batch + t.axis
    return None


def _as_matrices(types: Types) -> tuple[tuple[int, ...], tuple[int, ...]]:
    a, w = static_shape(types[0], "matmul"), static_shape(types[1], "matmul")
    return (a if len(a) > 1 else (1, *a)), (w if len(w) > 1 else (*w, 1))


def _operand_index(t: UniformType, original: int, matrix: tuple[int, ...], contracted: int) -> Array:
    """Return an operand's parameter index (see `parameter_index`) as an array that broadcasts to the result.

    ``matrix`` is the operand's shape as a batch of matrices, and ``original`` the rank of the operand itself. The array
    has size 1 along ``contracted``, the contracted axis of ``matrix``.
    """
    if t.is_per_layer or original == 1:
        return np.zeros((1,) * len(matrix), np.int64)
    reduced = tuple(1 if d == len(matrix) + contracted else size for d, size in enumerate(matrix))
    return parameter_index(t, reduced)


def _requant_index(types: Types, matrices: tuple[Shape, Shape], result: TensorType, rule: str) -> tuple[Any, Array]:
    """Return (requantization parameters, array with the position of each element's parameters among these).

    A vector counts as a matrix of one row or column: ``matrices`` are the operands' shapes as batches of matrices, and
    the array broadcasts to the shape of their product.
    """
    a, w = uniform(types[0]), uniform(types[1])
    element = uniform(result)
    a_matrix, w_matrix = matrices
    out_shape = static_shape(result, "matmul")
    out_index = parameter_index(element, out_shape)
    if len(types[0].shape or ()) == 1:
        out_index = np.expand_dims(out_index, -2 if len(types[1].shape or ()) > 1 else -1)
    if len(types[1].shape or ()) == 1:
        out_index = np.expand_dims(out_index, -1)
    factors = [
        (a, _operand_index(a, len(types[0].shape or ()), a_matrix, -1)),
        (w, _operand_index(w, len(types[1].shape or ()), w_matrix, -2)),
    ]
    return combined_parameters(rule, factors, element, out_index)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    a_type, w_type = uniform(types[0]), uniform(types[1])
    a_matrix, w_matrix = _as_matrices(types)
    a = without_zero_point(arrays[0], parameters_of(a_type, arrays[0].shape)[1]).reshape(a_matrix)
    w = without_zero_point(arrays[1], parameters_of(w_type, arrays[1].shape)[1]).reshape(w_matrix)
    bias_type = uniform(types[2]) if len(types) > 2 else None
    if w_type.is_sub_channel:
        element = uniform(result)
        bias = None if bias_type is None else (arrays[2], bias_type)
        stored = requantize_blocks(a, w, a_type, w_type, element, attributes["requant"], bias)
    else:
        acc = a @ w
        if bias_type is not None:
            acc = acc + accumulator_bias(arrays[2], bias_type, a_type, w_type)
        parameters, index = _requant_index(types, (a_matrix, w_matrix), result, attributes["requant"])
        stored = numerics.requantize(acc, parameters, index)
    return stored.reshape(static_shape(result, "matmul"))


def _matrix_steps(t: UniformType, rank: int, contracted: int) -> tuple[int, int] | None:
    """Return the steps of an operand's parameter index: (from matrix to matrix, from row to row or column to column).

    The operand is a batch of matrices. ``contracted`` is the contracted axis: -1 for a, whose parameters may vary from
    row to row, and -2 for w, whose parameters may vary from column to column. Return None if the parameter index does
    not have constant steps.
    """
    if t.is_per_layer or rank == 1:
        return (0, 0)
    if t.axis == rank - (1 if contracted == -2 else 2):
        return (0, 1)
    return (1, 0) if rank == 3 else None


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    a_matrix, w_matrix = _as_matrices(types)
    a, w = uniform(types[0]), uniform(types[1])
    if w.is_sub_channel:
        return _bind_sub_channel(types, result, attributes, constants)
    a_steps = _matrix_steps(a, len(types[0].shape or ()), -1)
    w_steps = _matrix_steps(w, len(types[1].shape or ()), -2)
    if a_steps is None or w_steps is None:
        return None
    rows, depth, columns = a_matrix[-2], a_matrix[-1], w_matrix[-1]
    parameters, index = _requant_index(types, (a_matrix, w_matrix), result, attributes["requant"])
    batch_shape = broadcast_shapes(a_matrix[:-2], w_matrix[:-2])
    folded = len(w_matrix) == 2 and a.is_per_layer and prod(index.shape[:-1]) == 1
    batch = prod(batch_shape)
    arguments: dict[str, Any] = {"batch": 1, "m": batch * rows}
    if not folded:
        arguments = {
            "batch": batch,
            "m": rows,
            "a_matrices": prod(a_matrix[:-2]),
            "b_matrices": prod(w_matrix[:-2]),
            "a_index": _matrix_numbers(a_matrix[:-2], batch_shape),
            "b_index": _matrix_numbers(w_matrix[:-2], batch_shape),
        }
    if index.shape[-2] > 1 and index.shape[-1] > 1:
        return None  # every element of the result has its own parameters
    flat, steps = _three_steps(index, batch_shape)
    bias, prepare = bias_operand(types, a, w, constants)
    a_zero_points, zero_points = a.zero_points, without_repeats(w.zero_points)
    call = bind_gemm(
        isa=kernels.active(),
        a=container(a),
        b=container(w),
        n=columns,
        k=depth,
        a_zero_points=a_zero_points,
        b_zero_points=zero_points,
        a_zero_point_steps=a_steps,
        b_zero_point_steps=(w_steps[0], 0, w_steps[1]) if len(zero_points) > 1 else (0, 0, 0),
        requant=parameters.take(flat),
        requant_steps=steps,
        b_constant=constants.get(1),
        bias=bias,
        **arguments,
    )
    return with_prepared_bias(call, prepare)


def _matrix_numbers(own: tuple[int, ...], batch: tuple[int, ...]) -> Array:
    """Return, for each matrix of the result, the index of the operand's matrix from which it is computed.

    ``own`` and ``batch`` are the batch dimensions of the operand and of the result.
    """
    return np.ascontiguousarray(np.broadcast_to(np.arange(prod(own)).reshape(own), batch)).ravel()


def _three_steps(index: Array, batch: tuple[int, ...]) -> tuple[Array, tuple[int, int, int]]:
    """Return a parameter index array [batch..., rows, columns] as (flat array, its steps per matrix, row and column).

    A step is 0 along a dimension of size 1. Batch dimensions are merged, and broadcast to ``batch`` unless all have
    size 1.
    """
    if prod(index.shape[:-2]) > 1:
        index = np.broadcast_to(index, (*batch, *index.shape[-2:]))
    shape = (prod(index.shape[:-2]), *index.shape[-2:])
    steps = (shape[1] * shape[2], shape[2], 1)
    return index.reshape(shape), (steps[0] * (shape[0] > 1), steps[1] * (shape[1] > 1), steps[2] * (shape[2] > 1))


def _bind_sub_channel(
    types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    a, w, element = map(uniform, (types[0], types[1], result))
    bias = uniform(types[2]) if len(types) > 2 else None
    if bias is not None and 2 not in constants:
        return None
    (*batch, rows, depth), (_, columns) = _as_matrices(types)
    p = block_parameters(a, w, element, attributes["requant"], depth, columns, bias)
    _, _, zero_points = column_scales(w, depth, columns)
    arguments: dict[str, Any] = {
        "block_multiplier": p.multiplier,
        "bias_multiplier": p.bias_multiplier if bias else None,
    }
    values = None if bias is None else bias_in_blocks(constants[2], bias)
    if attributes["requant"] == "float32":
        arguments = {"block_scale": p.scale}
        values = None if values is None else values.astype(np.float32) * p.bias_scale
    return bind_gemm(
        isa=kernels.active(),
        a=container(a),
        b=container(w),
        m=prod(batch) * rows,
        n=columns,
        k=depth,
        a_zero_points=a.zero_points,
        b_zero_points=zero_points,
        b_zero_point_steps=(0, columns, 1),
        requant=p.requant,
        requant_steps=(0, 0, 1),
        b_constant=constants.get(1),
        bias=values,
        k_block=p.k_block,
        **arguments,
    )


FAMILIES = (
    OpFamily(
        Declaration(
            "matmul", operands=(Operand("a"), Operand("w"), BIAS), attributes=(REQUANT,), article="quant.matmul"
        ),
        packs=(1, 2),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(
            constraint="multiplier_accumulator_scale",
            ends_in_clamp=True,
            is_exact=True,
            weights=Weights(inputs=-2, outputs=-1),
            of_floats="float_matmul",
        ),
    ),
)
