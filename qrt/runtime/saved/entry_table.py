"""The table of the `bind_*` functions that a saved program may call, with the kinds of their arguments.

Data of a file reaches a `bind_*` function only through the checks of this table."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from qrt._ext.kernels import (
    KernelCall,
    bind_avg_pool2d,
    bind_binary,
    bind_clamp,
    bind_contraction,
    bind_control,
    bind_conv2d,
    bind_copy,
    bind_dcast,
    bind_depthwise_conv2d,
    bind_dynamic_lstm,
    bind_dynamic_matmul,
    bind_extremum,
    bind_float_loops,
    bind_float_matmul,
    bind_gather,
    bind_gemm,
    bind_leaky_relu,
    bind_lookup,
    bind_lookup_interpolated,
    bind_lstm,
    bind_max_pool2d,
    bind_mean,
    bind_mixed_matmul,
    bind_pack_bits,
    bind_pair,
    bind_plain,
    bind_plain_cast,
    bind_plain_select,
    bind_qcast,
    bind_requantize,
    bind_resize_bilinear,
    bind_slice,
    bind_softmax,
    bind_svdf,
    bind_top_k,
    bind_transpose_conv2d,
    bind_unpack_bits,
)
from qrt.errors import shown
from qrt.numerics import ARITHMETICS, RequantParameters
from qrt.runtime.saved.kinds import (
    MOST,
    Check,
    Misfit,
    array,
    choice,
    dtype,
    either,
    fields,
    flag,
    integer,
    integers,
    number,
    optional,
    real_numbers,
    record_of,
    sequence,
    whole_numbers,
    word,
)

_SIZE, _SHAPE, _STEPS = integer(), integers(), integers()
_PAIR, _FOUR = integers(count=2), integers(count=4)
_STRIDES = integers(-MOST, MOST)
_MOST_LOOPS = 16
_ZERO_POINT = integer(-MOST, MOST)
_STORED_NUMBER = integer(-(1 << 31), (1 << 32) - 1)
_STORAGE = choice("i8", "u8", "i16", "u16", "i32", "u32")
_BYTES = choice("i8", "u8")
_FLOATS = choice("f16", "bf16", "f32", "f64")
_WEIGHTS = optional(array("i1", "u1", "i2", "u2", "i4", "u4"))
_BYTE_WEIGHTS = optional(array("i1", "u1"))
_BIAS = optional(either(array("i4", "i8", "f4"), choice("i32", "i64", "f32")))
_FLOAT_BIAS = optional(either(array("f4"), choice("operand")))
_ELEMENT = dtype("i1", "u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8")
_PLAIN = dtype("?", "i1", "i2", "i4", "i8")
_INDEX = dtype("i4", "i8")
_MULTIPLIER = record_of(integer(0, (1 << 31) - 1), integer(-31, 31))
_GATE = record_of(
    _MULTIPLIER, _MULTIPLIER, optional(_MULTIPLIER), optional(_MULTIPLIER), integer(1, (1 << 31) - 1)
)  # fmt: skip
_LOOPS_OPERAND = record_of(
    choice("f32", "f64", "i1", "i8", "i16", "i32", "i64"), integer(), _STRIDES, _SIZE, _SIZE, flag, optional(array())
)
_AXIS = record_of(whole_numbers, whole_numbers, real_numbers)
_PADDING = sequence(_PAIR, 2)
# Unused fields of a rule are empty arrays of f8.
_INTEGERS_OR_NONE, _FLOATS_OR_NONE = array("i4", "f8", rank=1), array("f4", "f8", rank=1)
_REQUANT_FIELDS = fields(
    {
        "rule": choice(*ARITHMETICS),
        "storage": _STORAGE,
        "storage_min": _STORED_NUMBER,
        "storage_max": _STORED_NUMBER,
        "zero_point": array("i8", rank=1),
        "multiplier": _INTEGERS_OR_NONE,
        "shift": _INTEGERS_OR_NONE,
        "scale_f32": _FLOATS_OR_NONE,
        "scale_f64": _FLOATS_OR_NONE,
        "offset_f32": _FLOATS_OR_NONE,
        "divisor_f32": _FLOATS_OR_NONE,
    }
)


def _requant(value: Any) -> RequantParameters:
    return RequantParameters(**_REQUANT_FIELDS(value))


class SavedEntry(NamedTuple):
    """A `bind_*` function that a saved program may call, with a check for each of its arguments.

    ``has_isa`` is True if the function takes an instruction set, ``is_packed`` if it takes weights that are packed
    already.
    """

    bind: Callable[..., KernelCall]
    required: Mapping[str, Check]
    defaulted: Mapping[str, Check]
    has_isa: bool
    is_packed: bool
    check: Check


def _entry(
    bind: Callable[..., KernelCall],
    required: Mapping[str, Check],
    defaulted: Mapping[str, Check] | None = None,
    *,
    has_isa: bool = True,
    is_packed: bool = False,
) -> tuple[str, SavedEntry]:
    given = defaulted or {}
    return bind.__name__, SavedEntry(bind, required, given, has_isa, is_packed, fields(required, given))


_LAYOUT = {"block": optional(integers(1)), "step": optional(_STEPS)}
_WINDOW = {"kernel": _PAIR, "strides": _PAIR, "padding": _PADDING}
_CAST = {
    "expressed": _FLOATS, "storage": _STORAGE, "shape": _SHAPE, "scales": real_numbers, "zero_points": whole_numbers
}  # fmt: skip
_PRODUCT = {"m": _SIZE, "n": _SIZE, "k": _SIZE}
_CONV = {
    "x": _STORAGE, "w": _STORAGE, "x_shape": _FOUR, "x_zero_point": _ZERO_POINT, "w_zero_points": whole_numbers,
    "requant": _requant, "strides": _PAIR,
}  # fmt: skip
_BITS = {"storage": _BYTES, "width": integer(1, 4), "rows": _SIZE, "columns": _SIZE}

ENTRIES: dict[str, SavedEntry] = dict(
    (
        _entry(
            bind_control, {"kind": choice("round", "unless", "jump")}, {"target": _SIZE, "cost": _SIZE},
            has_isa=False,
        ),
        _entry(
            bind_qcast,
            {
                **_CAST, "storage_min": _STORED_NUMBER, "storage_max": _STORED_NUMBER,
                "rounding": choice("half_even", "half_away", "toward_zero"), "zero_point": choice("before", "after"),
                "scale": choice("divide", "reciprocal"),
            },
            _LAYOUT,
        ),
        _entry(bind_dcast, _CAST, _LAYOUT),
        _entry(
            bind_requantize,
            {"storage": _STORAGE, "shape": _SHAPE, "zero_points": whole_numbers, "requant": _requant},
            _LAYOUT,
        ),
        _entry(
            bind_binary,
            {
                "kind": choice("add", "sub", "mul"), "a": _STORAGE, "b": _STORAGE, "a_shape": _SHAPE,
                "b_shape": _SHAPE, "a_zero_points": whole_numbers, "b_zero_points": whole_numbers, "requant": _requant,
            },
            {
                "a_multipliers": optional(whole_numbers), "b_multipliers": optional(whole_numbers),
                "a_shifts": optional(whole_numbers), "b_shifts": optional(whole_numbers),
                "left_shift": integer(0, 20), "rounding_block": integer(0, 1 << 20),
                "a_scales": optional(real_numbers), "b_scales": optional(real_numbers), **_LAYOUT,
            },
        ),
        _entry(
            bind_pair,
            {
                "kind": choice("maximum", "minimum", "prelu", "table"), "a": _STORAGE, "b": _STORAGE, "out": _STORAGE,
                "a_shape": _SHAPE, "b_shape": _SHAPE,
            },
            {"table": _WEIGHTS, "zero_points": integers(-MOST, MOST, 2), "requant": optional(_requant)},
        ),
        _entry(
            bind_leaky_relu,
            {"storage": _STORAGE, "size": _SIZE, "zero_point": _ZERO_POINT, "requant": _requant},
        ),
        _entry(
            bind_clamp,
            {"storage": _STORAGE, "shape": _SHAPE, "lower": whole_numbers, "upper": whole_numbers},
            _LAYOUT,
        ),
        _entry(
            bind_gemm,
            {
                "a": _STORAGE, "b": _STORAGE, **_PRODUCT, "a_zero_points": whole_numbers,
                "b_zero_points": whole_numbers, "requant": _requant,
            },
            {
                "requant_steps": integers(count=3), "a_zero_point_steps": _PAIR,
                "b_zero_point_steps": integers(count=3), "batch": _SIZE, "a_matrices": optional(_SIZE),
                "b_matrices": optional(_SIZE), "a_index": optional(whole_numbers), "b_index": optional(whole_numbers),
                "b_transposed": flag, "b_constant": _WEIGHTS, "bias": _BIAS, "bias_batch_step": _SIZE,
                "k_block": _SIZE, "block_scale": optional(real_numbers), "block_multiplier": optional(whole_numbers),
                "bias_multiplier": optional(whole_numbers), "microkernel": optional(word),
            },
            is_packed=True,
        ),
        _entry(
            bind_conv2d,
            {**_CONV, "w_shape": _FOUR, "padding": _PADDING, "dilations": _PAIR, "groups": integer(1)},
            {"w_constant": _WEIGHTS, "bias": _BIAS, "microkernel": optional(word)},
            is_packed=True,
        ),
        _entry(
            bind_depthwise_conv2d,
            {**_CONV, "w_shape": integers(count=3), "padding": _PADDING, "dilations": _PAIR},
            {"channels_first": flag, "w_constant": _WEIGHTS, "bias": _BIAS},
            is_packed=True,
        ),
        _entry(
            bind_transpose_conv2d,
            {**_CONV, "w_shape": _FOUR, "out_size": _PAIR, "padding": _PAIR},
            {"w_constant": _WEIGHTS, "bias": _BIAS},
        ),
        _entry(
            bind_float_matmul,
            _PRODUCT,
            {"w_constant": optional(array("f4")), "bias": _FLOAT_BIAS},
            is_packed=True,
        ),
        _entry(
            bind_mixed_matmul,
            {**_PRODUCT, "nibbles": flag, "w": _BYTES, "scales": real_numbers, "zero_points": whole_numbers},
            {
                "k_block": optional(integer(1)), "k_scales": optional(real_numbers),
                "k_zero_points": optional(whole_numbers), "w_constant": _BYTE_WEIGHTS, "bias": _FLOAT_BIAS,
            },
            is_packed=True,
        ),
        _entry(
            bind_contraction,
            {
                "loops": integers(0, _MOST_LOOPS, 3), "extents": _SHAPE, "strides": sequence(_STRIDES, 4),
                "offsets": _FOUR, "sizes": _FOUR, "fused": flag,
            },
            {
                "b_constant": optional(array("f4", "i4")), "init_constant": optional(array("f4", "i4")),
                "integers": flag,
            },
            is_packed=True,
        ),
        _entry(
            bind_float_loops,
            {
                "loops": integers(0, _MOST_LOOPS, 2), "extents": _SHAPE, "reads": sequence(_LOOPS_OPERAND),
                "writes": sequence(_LOOPS_OPERAND), "steps": sequence(integers(count=5)), "registers": _SIZE,
                "values": array("u4", rank=1),
            },
            {"in_place": _SIZE},
        ),
        _entry(
            bind_avg_pool2d,
            {
                "storage": _STORAGE, "x_shape": _FOUR, **_WINDOW, "zero_points": whole_numbers, "requant": _requant,
                "count_step": _SIZE,
            },
            {"channel_step": _SIZE, "order": choice("rows", "columns", "lanes")},
        ),
        _entry(bind_max_pool2d, {"storage": _STORAGE, "x_shape": _FOUR, **_WINDOW}),
        _entry(
            bind_lookup,
            {"storage": _BYTES, "width": integer(1, 8), "out": _STORAGE, "size": _SIZE},
            {"table": _WEIGHTS, "tail_table": _WEIGHTS, "block": integer(1, 1 << 20)},
        ),
        _entry(
            bind_lookup_interpolated,
            {"fraction": integer(0, 15), "size": _SIZE},
            {"name": word, "table": optional(array("i2"))},
        ),
        _entry(
            bind_mean,
            {
                "storage": _STORAGE, "x_shape": _SHAPE, "axes": _SHAPE, "zero_points": whole_numbers,
                "requant": _requant,
            },
            {"step": optional(_STEPS)},
        ),
        _entry(
            bind_softmax,
            {
                "storage": choice("i8", "u8", "i16"), "x_shape": _SHAPE, "axis": _SIZE, "out": _STORAGE,
                "storage_min": _STORED_NUMBER, "storage_max": _STORED_NUMBER, "zero_point": _ZERO_POINT,
                "scale": number,
            },
            {
                "name": choice("softmax", "log_softmax"),
                "rule": choice("table_int32", "table_float32", "table_int16", "table_shifted", "gemmlowp"),
                "table": optional(either(record_of(array("i2"), array("i2")), real_numbers)), "input_scale": number,
                "scaled": optional(whole_numbers), "multiplier": integer(0, (1 << 31) - 1), "shift": integer(-31, 31),
                "radius": integer(0, 1 << 31),
            },
        ),
        _entry(
            bind_lstm,
            {
                "steps": _SIZE, "batch": _SIZE, "inputs": _SIZE, "cells": _SIZE, "values": _SIZE, "time_major": flag,
                "points": integers(-128, 128, 4), "gates": sequence(optional(_GATE), 4), "made": _MULTIPLIER,
                "projection": optional(_MULTIPLIER), "has_projection_bias": flag, "cell_exponent": integer(-15, -9),
                "cell_clip": integer(0, 1 << 15), "projection_clip": integer(0, 128),
            },
        ),
        _entry(
            bind_svdf,
            {
                "batch": _SIZE, "inputs": _SIZE, "units": _SIZE, "rank": integer(1), "memory": integer(1),
                "has_bias": flag, "x_zero_point": integer(-128, 127), "result_zero_point": integer(-128, 127),
                "multipliers": sequence(_MULTIPLIER, 2),
            },
        ),
        _entry(
            bind_dynamic_matmul,
            {
                "rows": _SIZE, "depth": _SIZE, "columns": _SIZE, "w": _BYTES, "w_zero_points": whole_numbers,
                "w_scales": real_numbers,
            },
            {"w_constant": _BYTE_WEIGHTS},
            is_packed=True,
        ),
        _entry(
            bind_dynamic_lstm,
            {
                "steps": _SIZE, "batch": _SIZE, "inputs": _SIZE, "cells": _SIZE, "reverse": flag, "w": _BYTES,
                "w_zero_points": whole_numbers, "w_scales": real_numbers, "r": _BYTES,
                "r_zero_points": whole_numbers, "r_scales": real_numbers,
            },
            {"w_constant": _BYTE_WEIGHTS, "r_constant": _BYTE_WEIGHTS},
            is_packed=True,
        ),
        _entry(
            bind_copy,
            {
                "dtype": dtype(), "shapes": sequence(_SHAPE), "source_strides": sequence(_STRIDES),
                "target_strides": sequence(_STRIDES), "source_sizes": integers(), "target_size": _SIZE,
            },
            {
                "source_offsets": optional(integers()), "target_offsets": optional(integers()),
                "constants": optional(sequence(optional(array()))),
            },
            has_isa=False,
        ),
        _entry(
            bind_slice,
            {
                "dtype": dtype(), "x_shape": _SHAPE, "offsets": _SHAPE, "sizes": _SHAPE, "strides": _SHAPE,
                "axes": _SHAPE,
            },
            {"inserts": flag},
            has_isa=False,
        ),
        _entry(bind_pack_bits, _BITS),
        _entry(bind_unpack_bits, _BITS),
        _entry(
            bind_gather,
            {
                "dtype": dtype(), "index_dtype": _INDEX, "batches": _SIZE, "outer": _SIZE, "sizes": _SHAPE,
                "count": _SIZE, "inner": _SIZE,
            },
            {"indices": optional(array("i4", "i8"))},
            has_isa=False,
        ),
        _entry(
            bind_extremum,
            {"dtype": _ELEMENT, "x_shape": _SHAPE, "axes": _SHAPE, "least": flag},
            {"index_dtype": optional(_INDEX)},
        ),
        _entry(
            bind_resize_bilinear,
            {
                "dtype": _ELEMENT, "rule": choice("fixed11", "fixed10_away", "products_float32", "lines_float32"),
                "x_shape": _FOUR, "rows": _AXIS, "columns": _AXIS,
            },
        ),
        _entry(bind_top_k, {"dtype": _ELEMENT, "rows": _SIZE, "size": _SIZE, "k": _SIZE}),
        _entry(
            bind_plain,
            {
                "kind": choice(
                    "addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "divsi",
                    "floordivsi", "remsi", "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
                ),
                "dtype": _PLAIN, "size": _SIZE,
            },
            {"steps": optional(integers(0, 1, 2))},
        ),
        _entry(bind_plain_select, {"dtype": dtype(), "size": _SIZE}, {"steps": optional(integers(0, 1, 3))}),
        _entry(bind_plain_cast, {"dtype": _PLAIN, "out": _PLAIN, "size": _SIZE}, {"unsigned": flag}),
    )
)  # fmt: skip
"""The entries by the name of their `bind_*` function."""


def bind_call(name: str, arguments: Any, isa: str, stored: Any) -> KernelCall:
    """Call the `bind_*` function ``name`` with arguments from a file, for the instruction set ``isa``.

    ``stored`` has the packed weights from the file, or None. Raise Misfit for arguments that the function does not
    accept.
    """
    entry = ENTRIES.get(name)
    if entry is None:
        raise Misfit(f"unknown entry {shown(name)}")
    try:
        checked = entry.check(arguments)
    except Misfit as error:
        raise Misfit(f"{name}: {error}") from None
    if entry.has_isa:
        checked["isa"] = isa
    if stored is not None:
        if not entry.is_packed:
            raise Misfit(f"{name}: the entry takes no packed weights, but has some")
        checked["stored"] = stored
    return entry.bind(**checked)
