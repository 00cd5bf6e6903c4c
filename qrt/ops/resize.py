"""resize_bilinear and resize_nearest: resample NHWC images to another height and width. The type is unchanged.

``size`` is the height and width of the result. ``align_corners`` aligns the outermost elements of both images.
``half_pixel_centers`` places the centre of element i at i + 0.5. ``rule`` determines how ``resize_bilinear`` weights
the four neighbours; docs/numerics_operations.md has the rules.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import bind_gather, bind_resize_bilinear
from qrt.errors import shown
from qrt.numerics.resizing import RESIZE_RULES, bilinear, bilinear_positions, nearest_positions
from qrt.ops.checks import check_flag, shape_of_rank, spell_shape
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    any_element,
    checked_result,
    element_dtype,
    fail,
    static_shape,
)
from qrt.ops.declare import KEPT, REQUIRED, Attribute, Declaration, Operand, Traits
from qrt.types import FloatType, TensorType, UniformType


def new_size(op: str, types: Types, attributes: Attributes) -> tuple[int, int]:
    """Return the attribute ``size`` after checking it."""
    size = attributes["size"]
    listed = tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(listed) != 2 or not all(isinstance(n, (int, np.integer)) and 1 <= n < 1 << 24 for n in listed):
        fail(op, f"'size' must be a height and a width from 1 to 2**24 - 1, got {shown(size)}", types)
    return int(listed[0]), int(listed[1])


def _infer(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = any_element(types[0], op, "x")
    images, height, width, channels = shape_of_rank(op, types, 0, "x", 4, "NHWC")
    if height == 0 or width == 0:
        fail(op, f"'x' must have a height and a width of at least 1, got {spell_shape((height, width))}", types)
    for name in ("align_corners", "half_pixel_centers"):
        check_flag(op, types, attributes, name)
    if attributes["align_corners"] and attributes["half_pixel_centers"]:
        fail(op, "at most one of 'align_corners' and 'half_pixel_centers' must be true, got both", types)
    if isinstance(x, UniformType) and (x.is_sub_channel or x.axis in (1, 2)):
        wanted = "a type per layer, or per axis along an axis other than height and width"
        fail(op, f"'x' must have {wanted}, got {x}", types)
    if op == "resize_bilinear":
        _check_rule(types, attributes)
    return checked_result(op, (images, *new_size(op, types, attributes), channels), x)


def _check_rule(types: Types, attributes: Attributes) -> None:
    """Raise QuantTypeError unless the rule exists and supports the element type.

    Some rules have sums of only 32 bits, so that they support only narrow storage.
    """
    x, rule = types[0].element, attributes["rule"]
    if rule not in RESIZE_RULES:
        fail("resize_bilinear", f"'rule' must be one of {', '.join(RESIZE_RULES)}, got {shown(rule)}", types)
    if isinstance(x, UniformType):
        unsigned = not x.is_signed and x.storage_width <= 8
        widest = {"fixed11": 8, "fixed10_away": 16, "products_float32": 8 if unsigned else 0}.get(rule, 0)
        if x.storage_width > widest:
            fail("resize_bilinear", f"rule = '{rule}' is not defined for 'x' with storage {x.storage}", types)
    elif not isinstance(x, FloatType) or x.name != "f32" or rule.startswith("fixed"):
        fail("resize_bilinear", f"rule = '{rule}' is not defined for 'x' with elements of {x}", types)


def positions(
    types: Types, attributes: Attributes, shape: Sequence[int]
) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return the neighbours and weights for (the rows, the columns) of the result (`numerics.bilinear_positions`).

    For rows and for columns they are three arrays with an entry for each position: the first neighbour, the second
    neighbour, and the weight. ``shape`` is the shape of the input images, NHWC.
    """
    height, width = new_size("resize_bilinear", types, attributes)
    how = {name: bool(attributes[name]) for name in ("align_corners", "half_pixel_centers")}
    rule = attributes["rule"]
    return bilinear_positions(rule, shape[1], height, **how), bilinear_positions(rule, shape[2], width, **how)


def _reference_bilinear(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (x,) = arrays
    (top, bottom, down), (left, right, aside) = positions(types, attributes, x.shape)
    upper, lower = x[:, top], x[:, bottom]
    corners = upper[:, :, left], upper[:, :, right], lower[:, :, left], lower[:, :, right]
    return bilinear(attributes["rule"], corners, down[:, None, None], aside[:, None])


def _bind_bilinear(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    shape = static_shape(types[0], "resize_bilinear")
    rows, columns = positions(types, attributes, shape)
    return bind_resize_bilinear(
        isa=kernels.active(),
        dtype=element_dtype(types[0].element),
        rule=attributes["rule"],
        x_shape=shape,
        rows=rows,
        columns=columns,
    )


def nearest(types: Types, attributes: Attributes, shape: Sequence[int]) -> tuple[Array, Array]:
    """Return (the input row of each result row, the input column of each result column).

    ``shape`` is that of the input images, NHWC.
    """
    height, width = new_size("resize_nearest", types, attributes)
    how = {name: bool(attributes[name]) for name in ("align_corners", "half_pixel_centers")}
    return nearest_positions(shape[1], height, **how), nearest_positions(shape[2], width, **how)


def _reference_nearest(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    rows, columns = nearest(types, attributes, arrays[0].shape)
    taken: Array = arrays[0][:, rows][:, :, columns]
    return taken


def _bind_nearest(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    """Bind a gather with constant indices along one axis, into which height and width are merged."""
    images, height, width, channels = static_shape(types[0], "resize_nearest")
    rows, columns = nearest(types, attributes, (images, height, width, channels))
    indices = (rows[:, None] * width + columns).ravel()
    return bind_gather(
        dtype=element_dtype(types[0].element),
        index_dtype=np.dtype(np.int64),
        batches=1,
        outer=images,
        sizes=(height * width,),
        count=indices.size,
        inner=channels,
        indices=indices,
    )


_SIZE = Attribute("size", "pair", note="height and width", given=REQUIRED)
_FORM = (Attribute("align_corners", "boolean", False), Attribute("half_pixel_centers", "boolean", False))

FAMILIES = (
    OpFamily(
        Declaration(
            "resize_bilinear",
            operands=(Operand("x", note="NHWC, quantized or f32"),),
            attributes=(_SIZE, *_FORM, Attribute("rule", "choice", "fixed11", RESIZE_RULES)),
            result=KEPT,
            public=False,
        ),
        infer=partial(_infer, "resize_bilinear"),
        reference=_reference_bilinear,
        bind=_bind_bilinear,
    ),
    OpFamily(
        Declaration(
            "resize_nearest",
            operands=(Operand("x", note="NHWC, of any element type"),),
            attributes=(_SIZE, *_FORM),
            result=KEPT,
            public=False,
        ),
        infer=partial(_infer, "resize_nearest"),
        reference=_reference_nearest,
        bind=_bind_nearest,
        traits=Traits(constraint="same_scale", is_movement=True),
    ),
)
