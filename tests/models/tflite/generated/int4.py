"""FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D with weights of int4.

Hazards: an odd number of weights, the last of which has a byte alone; kernels that XNNPACK has for int8 only; rules of
hybrid kernels that differ between int4 and int8.
"""

from functools import partial

from tests.models.tflite.generated import hybrids, products

_INTEGERS = {
    "FULLY_CONNECTED i8 x i4": products.fully_connected,
    "FULLY_CONNECTED i8 x i4 per axis": partial(products.fully_connected, per_axis=True),
    "FULLY_CONNECTED i8 x i4, no bias": partial(products.fully_connected, has_bias=False),
    "FULLY_CONNECTED i8 x i4, keep_num_dims": partial(products.fully_connected, keeps=True),
    "CONV_2D i8 x i4 per axis": products.conv,
    "CONV_2D i8 x i4 per axis, 1x1": partial(products.conv, one_by_one=True),
    "CONV_2D i8 x i4": partial(products.conv, per_axis=False),
    "DEPTHWISE_CONV_2D i8 x i4 per axis": products.depthwise,
    "DEPTHWISE_CONV_2D i8 x i4 per axis, multiplier": partial(products.depthwise, most=8),
    "DEPTHWISE_CONV_2D i8 x i4": partial(products.depthwise, per_axis=False),
}
_FLOATS = {
    "FULLY_CONNECTED f32 x i4": partial(hybrids.fully_connected, is_asymmetric=False),
    "FULLY_CONNECTED f32 x i4, asymmetric": partial(hybrids.fully_connected, is_asymmetric=True),
    "FULLY_CONNECTED f32 x i4 per axis": partial(hybrids.fully_connected, is_asymmetric=False, per_axis=True),
    "FULLY_CONNECTED f32 x i4 per axis, asymmetric": partial(
        hybrids.fully_connected, is_asymmetric=True, per_axis=True
    ),
    "CONV_2D f32 x i4": hybrids.conv,
    "CONV_2D f32 x i4, 1x1": partial(hybrids.conv, one_by_one=True),
    "CONV_2D f32 x i4 per axis": partial(hybrids.conv, per_axis=True),
    "CONV_2D f32 x i4 per axis, 1x1": partial(hybrids.conv, per_axis=True, one_by_one=True),
}
CASES = {
    **{name: partial(form, weights="int4") for name, form in _INTEGERS.items()},
    **{name: partial(form, dtype="int4") for name, form in _FLOATS.items()},
}
