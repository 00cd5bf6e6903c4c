"""Parts that the docstrings of several functions share.

A line of a docstring that is the name of a part in braces stands for the part: ``help`` and notebooks show it whole."""

import re
from textwrap import indent

_PARTS = {
    "out": """
out : QuantTensor, optional
    A tensor of the result's type and shape, which is filled and returned.""",
    "sum": """
Parameters
----------
a, b : QuantTensor
    Of shapes that broadcast as NumPy's do; per layer or per axis.
out_type : UniformType or str, optional
    The type of the result. Without it operands of equal scales give i32 of that scale, if it holds every result of the
    types; of two elements, tensors of rank 0, if it holds theirs.
requant : SumName, default "fixed"
    The rule by which operands are scaled and their sum is rounded (docs/numerics_rules.md, "Sums"): "fixed",
    "fixed_double", "fixed_double_16", "float32_fused" or "scaled20".
{out}

Returns
-------
QuantTensor
    Of the shape that ``a`` and ``b`` broadcast to.

Raises
------
QuantTypeError
    If the shapes do not broadcast, the scales differ and ``out_type`` is missing, 64 bits cannot hold the sum, or
    ``requant`` is no rule of sums or not defined on the scales.""",
    "exact_sum": """
out_type : UniformType or str, optional
    The type of the result, to which the sum is requantized. Without it the result is i32 of the product of the scales
    and zero point 0, where that is exact for every value of the types.
requant : RequantName, default "fixed"
    The rule by which the sum is scaled and rounded to ``out_type``: "fixed", "fixed_double", "fixed_double_f32",
    "fixed_double_f32_product", "float32", "float64_away", "half_up_twice", "half_up_twice_f32_product" or "reduced16".
{out}""",
    "images": """
x : QuantTensor
    The images, of shape ``(images, height, width, channels)``; per layer.""",
    "convolution": """
strides : int or (int, int), default (1, 1)
    The steps of the window along height and width.
padding : {"VALID", "SAME"} or ((top, bottom), (left, right)), default "VALID"
    Elements of value 0 around each image: none, as many as TensorFlow takes, or as many as said.
dilations : int or (int, int), default (1, 1)
    The distances between the elements of the window along height and width.""",
    "misfits": """
QuantTypeError
    If shapes do not fit together, a window does not fit, 64 bits cannot hold every sum of these types, i32 cannot and
    ``out_type`` is missing, or an option has another value.""",
    "pooling": """
q : QuantTensor
    The images, of shape ``(images, height, width, channels)``; per layer, or per axis along the channels.
kernel : int or (int, int)
    The height and width of the window.
strides : int or (int, int), optional
    The steps of the window along height and width; those of ``kernel`` if not given.
padding : {"VALID", "SAME"} or ((top, bottom), (left, right)), default "VALID"
    Places around each image: none, as many as TensorFlow takes, or as many as said.""",
    "pooled": """
Returns
-------
QuantTensor
    Shape ``(images, height, width, channels)``, with the height and width that are left.

Raises
------
QuantTypeError
    If the rank is not 4, a window would hold no element, or an option has another value.""",
    "kept": """
{out}

Returns
-------
QuantTensor
    Of the type and shape of ``q``.""",
}
_NAME = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def with_parts(docstring: str) -> str:
    """Return a docstring with each part in the place of its name."""
    return _NAME.sub(lambda name: indent(with_parts(_PARTS[name[2]].lstrip("\n")), name[1]), docstring)
